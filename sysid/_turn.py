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
    """Reports a velocity that runs against the voltage, or against the position.

    Nothing is turned: with gravity or a command in the log, the encoder's sign has a meaning beyond the motor.
    """
    both = channels.both("velocity", "voltage")
    if both is not None:
        alignment = _signs.alignment(channels.values["voltage"][both], channels.values["velocity"][both])
        if alignment is not None and alignment < -0.5:
            message = f"the velocity runs against the voltage (correlation {alignment:.2f}); is the encoder reversed?"
            option = "--flip velocity,position or --flip voltage,current"
            channels.tell("encoder_sign", message, "kept as it is", option)
    both = channels.both("position", "velocity")
    if both is not None:
        rows = np.flatnonzero(both[1:] & both[:-1])
        moved = np.diff(channels.values["position"])[rows]
        travelled = (channels.values["velocity"][:-1] * np.diff(channels.stamps.time))[rows]
        alignment = _signs.alignment(moved, travelled)
        if alignment is not None and alignment < -0.5:
            message = f"the velocity runs against the position (correlation {alignment:.2f})"
            channels.tell("position_sign", message, "kept as it is", "--flip position or --flip velocity")
