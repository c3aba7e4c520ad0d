"""Quantities as a model file writes them: a number with its unit."""

import functools
import re
from typing import Any

from ._errors import ModelError

_ALIASES = {"Ω": "ohm", "·": "*", "²": "^2", "³": "^3", "°C": "degC", "µ": "u", "%": "percent"}
_WORDS = (("mNm", "mN*m"), ("kNm", "kN*m"), ("Nms", "N*m*s"), ("Nm", "N*m"), ("Vs", "V*s"))
_LONGEST = 60
_TOWER = re.compile(
    r"(?:\*\*|\^)\s*\(?\s*\d[^A-Za-z]*(?:\*\*|\^)|(?:\*\*|\^)\s*\(?\s*-?\s*\d\d|\d\s*(?:\*\*|\^)\s*\(?\s*\d"
)
_SPLIT = re.compile(r"^\s*(?P<number>[-+]?(?:inf|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?))\s*(?P<unit>.*?)\s*$")


@functools.cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()


def _spelled(unit: str) -> str:
    for sign, word in _ALIASES.items():
        unit = unit.replace(sign, word)
    for joined, apart in _WORDS:
        unit = re.sub(rf"(?<![A-Za-z]){joined}(?![A-Za-z])", apart, unit)
    return unit.strip() or "dimensionless"


def _real(number: int | float, where: str) -> float:
    try:
        return float(number)
    except OverflowError:
        raise ModelError(f"{where}: the number is larger than any that can be used") from None


def in_unit(text: Any, unit: str, where: str) -> float:
    """`"45 mN m/A"` as a number in `unit`; a bare number only where the unit is 1.

    **Raises:** `ModelError` that starts with `where` and shows how to write the value.
    """
    # What a drive is commanded in is known to its log alone, so such numbers have no unit that could be checked.
    unit = "1" if "command" in unit else unit
    example = f'write it like "1.5 {unit}"' if unit != "1" else "write a number"
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        raise ModelError(f"{where}: {text!r} is no quantity; {example}")
    if isinstance(text, (int, float)):
        if unit != "1":
            raise ModelError(f"{where}: {text!r} has no unit; {example}")
        return _real(text, where)
    found = _SPLIT.match(text)
    if found is None:
        raise ModelError(f"{where}: {text!r} is no quantity; {example}")
    number = float(found["number"])
    if not found["unit"] and unit != "1":
        raise ModelError(f"{where}: {text!r} has no unit; {example}")
    # Powers of powers would be worked out to the last digit.
    if len(found["unit"]) > _LONGEST or _TOWER.search(found["unit"]):
        raise ModelError(f"{where}: unknown unit '{found['unit'][:_LONGEST]}'; {example}")
    import pint

    registry = _registry()
    try:
        quantity = registry.Quantity(number, registry.parse_units(_spelled(found["unit"])))
        return float(quantity.to(_spelled(unit if unit != "1" else "")).magnitude)
    except pint.DimensionalityError:
        raise ModelError(f"{where}: unit '{found['unit']}' does not fit {unit}; {example}") from None
    except Exception:  # pint raises a dozen kinds for a word it does not know, all of which mean the same here
        raise ModelError(f"{where}: unknown unit '{found['unit']}'; {example}") from None
