"""Signs that disagree with the rest of the log: turned where it is certain, reported otherwise."""

import numpy as np

from sysid import _signs
from sysid._channels import Channels


def sign_unsigned(channels: Channels, channel: str) -> None:
    """Gives a channel without a sign that of the velocity."""
    both = channels.both(channel, "velocity")
    if both is None:
        return
    values, velocity = channels.values[channel], channels.values["velocity"]
    if not _signs.is_unsigned(values[both], velocity[both]):
        return
    code = f"unsigned_{channel}"
    message = f"{channel} is never negative although the motor turns both ways"
    if channels.keeps(code):
        channels.tell(code, message, "kept as it is", f"--keep {code}")
        return
    channels.values[channel] = values * np.where(velocity < 0.0, -1.0, 1.0)
    channels.tell(code, message, "given the sign of the velocity, which is wrong while braking", f"--keep {code}")


def turn_current(channels: Channels) -> None:
    """Turns a current that the voltage shows to be reversed, unless its sign was stated."""
    both = channels.both("current", "voltage")
    if both is None or "current" in channels.options.flip:
        return
    sign = _signs.current_sign(channels.values["voltage"][both], channels.values["current"][both])
    if sign is None or not sign.suspicious:
        return
    message = f"the current disagrees with the voltage, the motor would feed its supply: {sign.power:.4g} W on average"
    option = "--flip current or --keep current_sign"
    if not sign.certain:
        message += ", or its load drives it"
    if channels.keeps("current_sign") or not sign.certain:
        channels.tell("current_sign", message, "kept as it is", option)
        return
    channels.values["current"] = -channels.values["current"]
    if "current" in channels.censored:
        channels.censored["current"] = -channels.censored["current"]
    channels.tell("current_sign", message, "its sign is turned", option)


def tell_encoder(channels: Channels) -> None:
    """Reports a velocity that runs against the voltage.

    Nothing is turned: with gravity or a command in the log, the encoder's sign has a meaning beyond the motor.
    """
    both = channels.both("velocity", "voltage")
    if both is not None:
        alignment = _signs.alignment(channels.values["voltage"][both], channels.values["velocity"][both])
        if alignment is not None and alignment < -0.5:
            message = f"the velocity runs against the voltage (correlation {alignment:.2f}); is the encoder reversed?"
            option = "--flip velocity,position or --flip voltage,current"
            channels.tell("encoder_sign", message, "kept as it is", option)


def compare_motion(channels: Channels) -> None:
    """Compares the travel of the position with that of the velocity; a position that does not follow is left out."""
    both = channels.both("position", "velocity")
    if both is None:
        return
    rows = np.flatnonzero(both)
    pieces = rows[:: max(len(rows) // 200, 1)]
    if len(pieces) < 20:
        return
    steps = np.diff(channels.stamps.time, append=channels.stamps.time[-1])
    travel = np.cumsum(channels.values["velocity"] * steps)
    expected = travel[pieces[1:] - 1] - travel[pieces[:-1] - 1] * (pieces[:-1] > 0)
    moved = np.diff(channels.values["position"][pieces])
    agreement = _signs.alignment(moved, expected)
    if agreement is None:
        return
    ratio = float(np.sqrt(np.mean(moved**2) / np.mean(expected**2)))
    if abs(agreement) < 0.5 and not channels.keeps("position_unrelated"):
        del channels.values["position"], channels.masks["position"]
        message = f"the position does not follow the velocity (correlation {agreement:.2f})"
        channels.tell("position_unrelated", message, "position is left out", "--keep position_unrelated")
    elif abs(agreement) < 0.5:
        channels.tell("position_unrelated", "the position does not follow the velocity", "kept", "")
    elif agreement < 0.0:
        message = f"the velocity runs against the position (correlation {agreement:.2f})"
        channels.tell("position_sign", message, "kept as it is", "--flip position or --flip velocity")
    elif not 0.7 < ratio < 1.4:
        message = f"the position moves {ratio:.4g} times as far as the velocity says; are both on one side of the gear?"
        channels.tell("position_scale", message, "kept as it is", "--columns channel=column[unit] or --counts-per-turn")
