"""What a fit says of one parameter."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from ._free import FreeParameter
from ._identifiability import OPEN

_Z95 = 1.959964


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A fitted value with its honesty.

    `value`, `std_error`, `ci95` in `unit`; an undetermined error is `None`. `flag` is one of `identified`, `weak`,
    `open` (the logs do not fix it), `not excited` (it has no effect on them), `at bound`. `spread` is the standard
    deviation of the coordinate.
    """

    name: str
    value: float
    unit: str
    std_error: float | None
    ci95: tuple[float, float] | None
    flag: str
    relative: float | None

    @property
    def identifiable(self) -> bool:
        return self.flag in ("identified", "weak")

    @property
    def at_bound(self) -> bool:
        return self.flag == "at bound"

    def to_dict(self) -> dict:
        """As `fit.json` holds it."""
        return {
            "value": self.value,
            "unit": self.unit,
            "std_error": self.std_error,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "identifiable": self.identifiable,
            "at_bound": self.at_bound,
            "flag": self.flag,
        }


def stands_at_bound(parameter: FreeParameter, value: float, reference: float) -> bool:
    """Within a thousandth of the span between two bounds, or of `reference`, its start, above a single one at zero."""
    if np.isfinite(parameter.upper - parameter.lower):
        share = (value - parameter.lower) / (parameter.upper - parameter.lower)
        return bool(share < 1e-3 or share > 1 - 1e-3)
    if parameter.place.sign == "not negative" and parameter.lower == 0:
        return bool(value < 1e-3 * abs(reference))
    return False


def estimate(
    parameter: FreeParameter,
    name: str,
    coordinate: float,
    variance: float,
    sensitivity: float,
    bound: bool,
) -> Estimate:
    """One parameter from its coordinate, the variance of that, and the information that the data hold on it.

    The interval is made in the coordinate and mapped, so it stays inside the bounds.
    """
    bijector = parameter.bijector()

    def value_at(at: float) -> float:
        return float(bijector.value(jnp.asarray(at)))

    value = value_at(coordinate)
    if bound:
        return Estimate(name, value, parameter.place.unit, None, None, "at bound", None)
    if sensitivity <= 0:
        return Estimate(name, value, parameter.place.unit, None, None, "not excited", None)
    spread = float(np.sqrt(variance))
    step = 1e-6
    slope = (value_at(coordinate + step) - value_at(coordinate - step)) / (2 * step)
    error = abs(slope) * spread
    size = abs(value) if parameter.lower >= 0 else max(abs(value), parameter.scale)
    relative = error / size if size > 0 else np.inf
    if not np.isfinite(relative) or relative > 10 or spread > 1e3:
        return Estimate(name, value, parameter.place.unit, None, None, "open", None)
    low, high = value_at(coordinate - _Z95 * spread), value_at(coordinate + _Z95 * spread)
    flag = "open" if relative > OPEN else "weak" if relative > 0.1 else "identified"
    return Estimate(name, value, parameter.place.unit, error, (min(low, high), max(low, high)), flag, relative)
