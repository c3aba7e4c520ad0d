"""Which channel the words of a column header mean."""

import dataclasses
import re

from sysid._table import Column
from sysid._units import is_unit, target_unit

_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+", re.UNICODE)

_TIME = {"t", "time", "timestamp", "timestamps", "stamp", "clock", "elapsed", "zeit", "date", "datetime"}
_TIME_UNITS = {"millis": "ms", "micros": "us", "nanos": "ns"}
_VELOCITY = {
    "speed",
    "velocity",
    "velocities",
    "vel",
    "omega",
    "w",
    "ω",
    "qd",
    "dq",
    "qvel",
    "qdot",
    "rpm",
    "dtheta",
    "drehzahl",
}
_POSITION = {
    *("position", "positions", "pos", "angle", "theta", "θ", "q", "qpos", "phi", "φ", "encoder", "enc"),
    *("counts", "count", "ticks", "winkel"),
}
_COUNTER = {"encoder", "enc", "counts", "count", "ticks"}
_CURRENT = {"current", "currents", "cur", "curr", "amps", "ampere", "i", "iq", "im", "strom"}
_VOLTAGE = {"voltage", "voltages", "volt", "volts", "u", "v", "vm", "um", "vmotor", "umotor", "spannung"}
_TORQUE = {"torque", "torques", "tau", "τ", "trq", "effort", "drehmoment"}
_TEMPERATURE = {"temperature", "temperatures", "temp", "temps", "winding", "thermistor", "ntc"}
_DUTY = {"duty", "dutycycle", "pwm"}
_COMMAND = {
    *("command", "cmd", "commanded", "goal", "target", "setpoint", "set", "reference", "ref", "desired", "des"),
    *("demand", "setvel", "setpos"),
}
_ENABLED = {"enable", "enabled", "enabling"}
_SUPPLY = {
    "supply",
    "bus",
    "vbus",
    "battery",
    "bat",
    "batt",
    "vbat",
    "psu",
    "dclink",
    "rail",
    "input",
    "vin",
    "ibus",
    "ibat",
    "source",
}
_SETTING = {"set", "setting", "setpoint", "nominal", "psu"} | _COMMAND
_MOTOR = {"motor", "mot", "terminal", "terminals", "armature", "winding", "measured", "meas", "actual"}
_HOUSING = {"housing", "case", "casing", "shell"}
_ELSEWHERE = {
    "ambient",
    "room",
    "mosfet",
    "fet",
    "board",
    "driver",
    "mcu",
    "controller",
    "esc",
    "limit",
    "max",
    "min",
    "error",
    "std",
}
_UNIT_ENDINGS = {
    **{"rad_s": "rad/s", "rad_per_s": "rad/s", "rad_sec": "rad/s", "rads": "rad/s", "radps": "rad/s", "deg_s": "deg/s"},
    **{"deg_per_s": "deg/s", "dps": "deg/s", "rev_s": "rev/s", "rps": "rev/s", "rpm": "rpm", "RPM": "rpm", "N_m": "Nm"},
    **{
        "s": "s",
        "sec": "s",
        "seconds": "s",
        "ms": "ms",
        "msec": "ms",
        "us": "us",
        "µs": "us",
        "usec": "us",
        "ns": "ns",
    },
    **{"V": "V", "mV": "mV", "A": "A", "mA": "mA", "rad": "rad", "deg": "deg", "rev": "rev", "turns": "turn"},
    **{
        "Nm": "Nm",
        "mNm": "mNm",
        "Ncm": "Ncm",
        "C": "degC",
        "degC": "degC",
        "celsius": "degC",
        "K": "K",
        "degF": "degF",
    },
    **{
        "pct": "percent",
        "percent": "percent",
        "counts": "counts",
        "count": "counts",
        "ticks": "ticks",
        "cnt": "counts",
    },
    **{"volts": "V", "volt": "V", "amps": "A", "mv": "mV", "ma": "mA"},
}


_BY_UNIT = ("voltage", "current", "velocity", "torque", "temperature")


@dataclasses.dataclass(frozen=True)
class Meaning:
    """What a header says: the channel (or `"time"`), how good a source of it the column is (0 is best), the unit."""

    channel: str
    rank: int
    unit: str | None
    number: str | None


def pieces(name: str) -> list[str]:
    """The words of a header: `"motorSpeed_2"` as `["motor", "Speed", "2"]`."""
    return _PIECES.findall(name)


def _quantity(words: set[str], first: str) -> str | None:
    """The measured quantity that the words name."""
    if words & _DUTY:
        return "duty"
    if words & _TEMPERATURE or first == "T":
        return "temperature"
    for channel, names in (
        ("torque", _TORQUE),
        ("velocity", _VELOCITY),
        ("current", _CURRENT),
        ("position", _POSITION),
    ):
        if words & names:
            return channel
    return "voltage" if words & _VOLTAGE or words & {"vbus", "vbat", "vin"} else None


def _channel(name: str, unit: str | None) -> tuple[str, int] | None:
    parts = pieces(name)
    words = {part.lower() for part in parts if not part.isdigit()}
    if not words or words & _ELSEWHERE:
        return None
    if words & _TIME_UNITS.keys() and len(parts) == 1:
        return "time", 0
    if words & _ENABLED:
        return "torque_enabled", 0
    first = parts[0] if len(parts) > 1 else ""
    quantity = _quantity(words, first)
    if quantity is None and unit is not None and words & (_MOTOR | _SUPPLY):
        # `supply_set_V`: the unit says what the words do not.
        quantity = next((channel for channel in _BY_UNIT if target_unit(channel, unit) is not None), None)
    if quantity is None and words & {"ibus", "ibat"}:
        return "supply_current", 0
    if quantity in (None, "position") and words & _TIME and not words & _COMMAND:
        return "time", 0 if words & {"time", "timestamp", "t"} else 1
    if quantity == "voltage":
        if words & _SETTING:
            return "voltage", 3
        if words & _SUPPLY:
            return "bus_voltage", 0
        return "voltage", 0 if words & _MOTOR else 1
    if words & _COMMAND and quantity not in ("duty", "temperature"):
        return "command", 0 if words & {"goal", "command", "cmd", "setpoint", "target"} else 1
    if quantity == "current" and words & _SUPPLY:
        return "supply_current", 0
    if quantity == "temperature" and words & _HOUSING:
        return "housing_temperature", 0
    return None if quantity is None else (quantity, 0 if words & _MOTOR else 1)


def command_unit(name: str) -> str | None:
    """The SI unit of a command column whose words name a quantity: `goal_position` is in rad."""
    words = {part.lower() for part in pieces(name)}
    quantity = "velocity" if "setvel" in words else "position" if "setpos" in words else _quantity(words, "")
    return {"position": "rad", "velocity": "rad/s", "current": "A", "torque": "N·m"}.get(quantity or "")


def _ending(name: str) -> tuple[str, str | None]:
    """`"speed_rad_s"` as `("speed", "rad/s")`."""
    for ending in sorted(_UNIT_ENDINGS, key=len, reverse=True):
        if len(name) > len(ending) + 1 and name.endswith(ending) and name[-len(ending) - 1] in "_ ./-":
            return name[: -len(ending) - 1], _UNIT_ENDINGS[ending]
    return name, None


def meaning(column: Column) -> Meaning | None:
    """What the column's header says, or None when its words name no channel."""
    for name in (column.name, column.alias):
        if not name:
            continue
        stem, ending = _ending(name)
        known = _channel(stem, ending or column.unit) or _channel(name, column.unit)
        if known is None:
            continue
        channel, rank = known
        said = {part.lower() for part in pieces(name)}
        unit = (
            column.unit
            or ("rpm" if channel == "velocity" and "rpm" in said else None)
            or _TIME_UNITS.get(name.strip().lower())
        )
        if unit is None and ending is not None and target_unit(channel, ending) is not None:
            unit = ending
        elif unit is None and ending is not None and ending != "s":
            continue  # a tachometer's `speed_V` is no speed yet
        elif (
            unit is None
            and channel == "position"
            and column.whole
            and _COUNTER & {part.lower() for part in pieces(name)}
        ):
            unit = "counts"
        digits = [part for part in pieces(name) if part.isdigit()]
        return Meaning(channel, rank, unit, digits[0] if digits else None)
    return None


def looks_like_unit(cell: str) -> bool:
    """Whether a header cell is nothing but a unit, in brackets or not."""
    text = cell.strip().strip("[](){}").strip()
    return bool(text) and is_unit(text)
