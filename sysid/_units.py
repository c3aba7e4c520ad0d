"""Units as bench logs write them, turned into the SI unit of each channel.

The registry is our own few lines: in it an angle is a dimension, so `Hz` is no speed and a count is no radian, and
words that mean something else in physics at large (`C`, `Nm`) mean what a motor log means by them.
"""

import functools
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError

#: Every channel a log may have, with its SI unit. The unit of `command` is whatever is commanded.
CHANNEL_UNITS: dict[str, str] = {
    "voltage": "V",
    "duty": "",
    "bus_voltage": "V",
    "command": "",
    "position": "rad",
    "velocity": "rad/s",
    "current": "A",
    "torque": "N·m",
    "temperature": "°C",
    "housing_temperature": "°C",
    "supply_current": "A",
    "torque_enabled": "",
}

_COMMAND_UNITS = ("rad", "rad/s", "V", "A", "N·m", "")

_DEFINITIONS = """
nano- = 1e-9 = n-
micro- = 1e-6 = u-
milli- = 1e-3 = m-
centi- = 1e-2 = c-
kilo- = 1e3 = k-
second = [time] = s = sec = secs = seconds
minute = 60 * second = min = minutes
hour = 60 * minute = h = hours
radian = [angle] = rad = rads = radians
degree = 0.017453292519943295 * radian = deg = degs = degrees
turn = 6.283185307179586 * radian = rev = turns = revs = revolution = revolutions
revolution_per_minute = turn / minute = rpm = RPM
revolution_per_second = turn / second = rps
degree_per_second = degree / second = dps
radian_per_second = radian / second = radps
count = [count] = counts = tick = ticks = cnt = cnts = step = steps = pulse = pulses
volt = [voltage] = V = volts = Volt = Volts
ampere = [current] = A = amp = amps = Amp = Amps = amperes
newton = [force] = N
meter = [length] = m = metre
inch = 0.0254 * meter = in
gram_force = 0.00980665 * newton = gf
pound_force = 4.4482216152605 * newton = lbf = lb
ounce_force = 0.27801385095378125 * newton = ozf = oz
newton_meter = newton * meter = Nm
newton_centimeter = 0.01 * newton * meter = Ncm
newton_millimeter = 0.001 * newton * meter = Nmm
kilogram_centimeter = 0.0980665 * newton * meter = kgcm = kgfcm
kelvin = [temperature]; offset: 0 = K = degK
degree_Celsius = kelvin; offset: 273.15 = degC = C = celsius = Celsius
degree_Fahrenheit = 0.5555555555555556 * kelvin; offset: 255.3722222222222 = degF = F = fahrenheit
percent = 0.01 = pct
permille = 0.001
one = 1 = unitless = ratio
"""

# Only plain products and quotients of words reach the parser: a header is a stranger's text.
_PLAIN = re.compile(r"1?[A-Za-z_*/^0-9. -]{0,32}")
_LONGEST = 60
_FACTOR = re.compile(r"(?P<factor>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\W\d].*|%.*|°.*)")
_MINUS_POWER = re.compile(r"([A-Za-z_]+)\s*\^?\s*-1\b")


@functools.cache
def _registry() -> Any:
    import pint

    registry = pint.UnitRegistry(None)  # pyright: ignore[reportArgumentType]
    for line in _DEFINITIONS.strip().splitlines():
        registry.define(line)
    return registry


def _spelled(unit: str) -> str:
    """The unit in the registry's spelling."""
    text = unit.strip()
    for sign, word in (("µ", "u"), ("μ", "u"), ("°C", "degC"), ("°F", "degF"), ("°", "deg"), ("%", "percent")):
        text = text.replace(sign, word)
    text = text.replace("⁻¹", "^-1")
    for sign in "·⋅×":
        text = text.replace(sign, "*")
    text = _MINUS_POWER.sub(r"/\1", text)
    text = re.sub(r"[\s.*]+/", "/", text)
    text = re.sub(r"(?<=[A-Za-z])[.-](?=[A-Za-z])", "*", text)
    text = re.sub(r"^(msec|usec|nsec)s?$", lambda found: found[1][:2], text)
    text = re.sub(r"\s+per\s+|_per_", "/", text)
    return re.sub(r"(?<=[A-Za-z])\s+(?=[A-Za-z])", "*", text)


def _scaled(unit: str) -> tuple[float, str] | None:
    """`"20 A/V"` as `(20.0, "A/V")` and `"1/255"` as `(1/255, "")`; None for a unit without a factor."""
    if len(unit) > _LONGEST:
        return None
    share = re.fullmatch(r"1/(\d+(?:\.\d*)?)", unit.strip())
    if share is not None and float(share[1]) > 0.0:
        return 1.0 / float(share[1]), ""
    found = _FACTOR.fullmatch(unit.strip())
    if found is None:
        return None
    factor = float(found["factor"])
    return (factor, found["unit"]) if 0.0 < abs(factor) < float("inf") else None


@functools.cache
def _parsed(unit: str) -> Any:
    # What is longer is no unit, and costs the patterns below the square of its length.
    text = _spelled(unit) if len(unit) <= _LONGEST else "?"
    if text in ("", "-", "1", "dimensionless"):
        return _registry().Unit("")
    if not _PLAIN.fullmatch(text) or re.search(r"\^\s*\d\d|\*\*|\^[^A-Za-z]*\^", text):
        return None
    try:
        return _registry().parse_units(text)
    except Exception:  # pint raises a dozen kinds, all of which mean the same here
        return None


def is_unit(unit: str) -> bool:
    """Whether the text is a unit that a channel or a time may have."""
    return _parsed(unit) is not None


def is_count(unit: str | None) -> bool:
    """Whether the unit is a count of encoder steps."""
    parsed = None if unit is None else _parsed(unit)
    return parsed is not None and "[count]" in parsed.dimensionality


def _dimension(unit: str) -> dict[str, float] | None:
    parsed = _parsed(unit)
    return None if parsed is None else {base: float(power) for base, power in parsed.dimensionality.items()}


def target_unit(channel: str, unit: str) -> str | None:
    """The SI unit that `unit` has in this channel, or None when the unit does not fit the channel.

    A unit may carry a factor. Of a column that a sensor writes in volts it may be its factor per volt: `"20 A/V"`.
    """
    scaled = _scaled(unit)
    if scaled is not None:
        plain = re.sub(r"\s*/\s*[vV](?:olts?)?$", "", scaled[1])
        return None if is_count(plain) else target_unit(channel, plain)
    if channel == "time":
        candidates: tuple[str, ...] = ("s",)
    elif channel == "command":
        candidates = _COMMAND_UNITS
    else:
        candidates = (CHANNEL_UNITS[channel],)
    dimension = _dimension(unit)
    if dimension is None:
        return None
    if "[count]" in dimension:
        dimension["[angle]"] = dimension.pop("[count]")
    return next((candidate for candidate in candidates if _dimension(candidate) == dimension), None)


def to_si(
    values: NDArray[np.float64], unit: str, channel: str, counts_per_turn: float | None = None
) -> NDArray[np.float64]:
    """Values in the SI unit of the channel.

    **Arguments:**

    - `values`: numbers in `unit`, any shape.
    - `unit`: the unit of the source column; counts need `counts_per_turn`.
    - `channel`: `"time"` or a channel name.

    **Raises:** `LogError` when the unit is unknown or does not fit the channel.
    """
    target = target_unit(channel, unit)
    if target is None:
        wanted = "s" if channel == "time" else CHANNEL_UNITS.get(channel) or "a ratio"
        raise LogError(
            f"unit '{unit}' does not fit {channel} ({wanted}): name it with --columns {channel}=COLUMN[unit]"
        )
    scaled = _scaled(unit)
    if scaled is not None:
        return to_si(values * scaled[0], re.sub(r"\s*/\s*[vV](?:olts?)?$", "", scaled[1]), channel)
    registry, parsed = _registry(), _parsed(unit)
    if is_count(unit):
        if counts_per_turn is None:
            raise LogError(f"{channel} is in '{unit}': give the counts of one turn with --counts-per-turn")
        per_radian = counts_per_turn / (2.0 * np.pi)
        parsed = parsed / registry.Unit("count") * registry.Unit("radian")
        values = values / per_radian
    if target == "°C":
        slope = registry.Quantity(1.0, parsed).to("kelvin").m - registry.Quantity(0.0, parsed).to("kelvin").m
        offset = registry.Quantity(0.0, parsed).to("degC").m
        return values if slope == 1.0 and offset == 0.0 else slope * values + offset
    factor = registry.Quantity(1.0, parsed).to(_parsed(target)).m
    return values if factor == 1.0 else values * float(factor)
