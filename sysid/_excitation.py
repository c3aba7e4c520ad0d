"""What a log excites, and what it therefore cannot tell."""

import numpy as np
from numpy.typing import NDArray

from sysid._finding import Finding
from sysid._log import Log
from sysid._resolution import resolution
from sysid._units import CHANNEL_UNITS

_DRIVES = ("voltage", "duty", "command", "torque", "current")
_REST = 0.01
_FEWEST_AT_REST = 20
_WARM = 5.0


def excitation(log: Log) -> list[Finding]:
    """Findings about experiments that are missing in the log, each with the parameters they would fix."""
    return [*_drive(log), *_speed(log), *_channels(log), *_offset(log), *_heat(log)]


def is_constant(values: NDArray[np.float64]) -> bool:
    """Whether a channel shows nothing but noise about one value.

    **Arguments:**

    - `values`: usable measurements in the order of time, shape `(rows,)`.
    """
    if len(values) < 3:
        return True
    level, spread = float(np.abs(values).max()), float(np.std(values))
    noise = float(np.std(np.diff(values))) / 2.0**0.5
    steady = spread <= max(1e-3 * level, 1.5 * noise, 2.0 * resolution(values))
    return steady and spread <= 0.1 * abs(float(np.mean(values)))


def speed(log: Log) -> NDArray[np.float64] | None:
    """The usable speeds [rad/s]; of a log with positions only, their mean slopes over 20 rows; None without motion."""
    if "velocity" in log.channels:
        return log.channels["velocity"][log.masks["velocity"]]
    if "position" not in log.channels:
        return None
    mask = log.masks["position"]
    rows = np.flatnonzero(mask)[::20]
    if len(rows) < 3:
        return None
    return np.diff(log.channels["position"][rows]) / np.diff(log.time[rows])


def _drive(log: Log) -> list[Finding]:
    present = [channel for channel in _DRIVES if channel in log.channels]
    if not present:
        message = f"nothing says what drives the motor: none of {', '.join(_DRIVES)} is in the log"
        return [Finding.of_log("no_drive", message, option="--columns voltage=COLUMN[unit]", severity="error")]
    levels = {name: log.channels[name][log.masks[name]] for name in present[:1]}
    for channel, values in levels.items():
        if len(values) and float(np.ptp(values)) <= 1e-3 * float(np.abs(values).max()):
            level = f"{values[0]:.4g} {CHANNEL_UNITS[channel]}".rstrip()
            message = f"{channel} is {level} throughout: add steps of several levels and both signs"
            return [Finding.of_log("constant_input", message, severity="warning")]
    return []


def _speed(log: Log) -> list[Finding]:
    values = speed(log)
    if values is None:
        message = "neither position nor velocity: only the resistance and the thermal numbers can be told"
        return [Finding.of_log("no_motion_channel", message, severity="warning")]
    if len(values) == 0:
        return []
    top = float(np.abs(values).max())
    found: list[Finding] = []
    if top == 0.0:
        return [
            Finding.of_log("no_motion", "the motor never moves: no friction, inertia or constant", severity="warning")
        ]
    if is_constant(values):
        message = (
            f"the speed is {np.mean(values):.4g} rad/s throughout: of R, K, J, B and friction only R·i + K·w and "
            "K·i - B·w - friction are fixed; add starts, stops and other speeds"
        )
        return [Finding.of_log("constant_speed", message, severity="warning")]
    edge = 0.05 * top
    if float(values.min()) > -edge or float(values.max()) < edge:
        message = "the motor turns one way only: an offset and dry friction look alike; add reversals"
        found.append(Finding.of_log("no_reversal", message, severity="info"))
    if float(np.mean(np.abs(values) < _REST * top)) < 0.005:
        message = "the motor never rests: the break-away friction is not seen; add standstills with a slow rise"
        found.append(Finding.of_log("no_standstill", message, severity="info"))
    return found


def _channels(log: Log) -> list[Finding]:
    found: list[Finding] = []
    # A known weight on the shaft is a torque scale of its own.
    if not {"current", "torque", "supply_current"} & log.channels.keys() and "mass" not in log.conditions:
        message = (
            "no current and no torque: R, K, J and B are not all determined, only their ratios; "
            "measure the current, or fix the torque constant"
        )
        found.append(Finding.of_log("no_current", message, option="--fix torque_constant=VALUE", severity="warning"))
    told = {"voltage", "bus_voltage"} & log.channels.keys() or "vin" in log.conditions
    if "duty" in log.channels and not told:
        message = "duty without a bus voltage: the voltage at the motor is unknown"
        found.append(
            Finding.of_log("no_bus_voltage", message, option="--columns bus_voltage=COLUMN", severity="warning")
        )
    if "torque_enabled" in log.channels and bool(np.all(log.channels["torque_enabled"] > 0.5)):
        message = "the drive is never switched off: viscous friction and back-EMF look alike; add a coast-down"
        found.append(Finding.of_log("never_off", message))
    return found


def _offset(log: Log) -> list[Finding]:
    """A current that is not zero while the motor rests without voltage."""
    drive = next((name for name in ("voltage", "duty") if name in log.channels), None)
    if drive is None or "current" not in log.channels or "velocity" not in log.channels:
        return []
    rest = log.masks["current"] & log.masks[drive]
    for channel in (drive, "velocity"):
        values = np.abs(log.channels[channel])
        rest = rest & (values <= _REST * values.max())
    current = log.channels["current"]
    values = current[rest]
    if len(values) < _FEWEST_AT_REST:
        return []
    offset, error = float(np.mean(values)), float(np.std(values)) / np.sqrt(len(values))
    if abs(offset) <= max(5.0 * error, _REST * float(np.abs(current).max()), 0.5 * resolution(values)):
        return []
    message = f"the current reads {offset:.3g} A at rest without voltage ({len(values)} rows)"
    return [Finding.of_log("current_offset", message, option="--free current_offset", severity="warning")]


def _heat(log: Log) -> list[Finding]:
    if "temperature" not in log.channels:
        return []
    values = log.channels["temperature"][log.masks["temperature"]]
    if len(values) == 0 or float(np.ptp(values)) >= _WARM:
        return []
    message = f"the temperature varies by {np.ptp(values):.3g} K only: the thermal numbers are not excited"
    return [Finding.of_log("no_heating", message)]
