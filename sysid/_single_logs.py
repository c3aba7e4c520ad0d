"""Every log fitted by itself: how far apart logs of one motor put its parameters.

Error bars tell how far noise moves an estimate. What the model leaves out moves it too, from log to log, and on real
robots by several times as much: only the spread of single-log fits shows that.
"""

import dataclasses
from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from scipy.special import chdtrc

from ._identifiability import OPEN
from ._known import Known, relative_sizes, spreads_of
from ._log_by_log import LogByLog, ends
from ._normal_equations import Point
from ._problem import Problem
from ._rounding import rounded, short
from ._setup import Setup, usable_rows
from ._verdict import Caution

_CHANCE = 1e-3
"""Probability [1] below which logs that differ are not taken to differ by chance."""

_APART = 2.0

_SETTLED = 0.01
"""Share [1] of what noise alone makes of a cost below which a gain moves no estimate by much of its error."""

_LEAST_GAIN = 1e-3


@dataclasses.dataclass(frozen=True, eq=False)
class Spread:
    """One parameter in fits of single logs: `values` [`unit`] by log, `None` where that log leaves it open;
    `deviation` [`unit`], their standard deviation; `expected` [`unit`], what their own error bars would let it be;
    `chance` [1], the probability of so large a spread if noise were all."""

    name: str
    unit: str
    values: dict[str, float | None]
    deviation: float | None
    expected: float | None
    chance: float | None

    @property
    def ratio(self) -> float | None:
        """How many times as far apart as expected [1]."""
        return None if self.deviation is None or not self.expected else self.deviation / self.expected

    @property
    def disagrees(self) -> bool:
        """Whether noise cannot be all that sets the logs apart."""
        return self.chance is not None and self.chance < _CHANCE and (self.ratio or 0.0) > _APART

    def to_dict(self) -> dict:
        """As `fit.json` holds it."""
        names = ("unit", "values", "deviation", "expected", "ratio", "chance")
        return {name: getattr(self, name) for name in names}


def single_logs(
    made: Setup, problem: Problem, point: Point, here: Known, lanes: int, progress: Callable[[str, int, float], None]
) -> list[Spread]:
    """The spread of every parameter that all logs share; empty for a single log.

    Each log is fitted on from the joint fit by its program, compiled for so many `lanes`.
    """
    if len(made.logs) < 2:
        return []
    each = LogByLog(problem, lanes)
    # Noise alone moves a sum of squares by about its mean square times its memory.
    memory = max([1.0, *here.uncertainty.inflation.values()])
    rows = np.array([max(usable_rows(problem)[_segments(made, n)].sum(), 1) for n in range(len(made.logs))])
    there = ends(each, point, np.minimum(_SETTLED * 2 * memory / rows, _LEAST_GAIN), progress)
    points = [each.point(point, there.unknowns, n) for n in range(len(made.logs))]
    found = []
    owners = {k: owner for k, owner in enumerate(problem.owner) if made.names[k] in made.model.free.names}
    sizes = relative_sizes(made, point)
    # At its own end: where it stands in the joint fit, what sets the logs apart would pass for noise.
    errors = [
        spreads_of(problem, own, there.residuals, there.derivatives, here.covered, _segments(made, n))
        if np.isfinite(there.cost[n])
        else {}
        for n, own in enumerate(points)
    ]
    for k, owner in owners.items():
        bijector = problem.unknowns.bijectors[owner]
        at = np.array([float(own.coordinates[k]) for own in points])
        width = np.array([error.get(k, np.inf) for error in errors])
        seen = np.isfinite(at) & np.isfinite(width)
        seen[seen] = width[seen] * abs(sizes[k]) < OPEN
        values = [float(bijector.value(jnp.asarray(a))) if ok else None for a, ok in zip(at, seen, strict=True)]
        told = dict(zip((log.name for log in made.logs), values, strict=True))
        unit = made.model.free.parameters[owner].place.unit
        if seen.sum() < 2 or here.bound[k]:
            found.append(Spread(made.names[k], unit, told, None, None, None))
            continue
        weights = 1 / width[seen] ** 2
        middle = np.sum(weights * at[seen]) / np.sum(weights)
        chance = float(chdtrc(seen.sum() - 1, np.sum(weights * (at[seen] - middle) ** 2)))
        known = np.array([v for v in values if v is not None])
        parameter = made.model.free.parameters[owner]
        size = abs(here.value[k]) if parameter.lower >= 0 else max(abs(here.value[k]), parameter.scale)
        expected = float(abs(sizes[k]) * size * np.sqrt(np.mean(width[seen] ** 2)))
        found.append(Spread(made.names[k], unit, told, float(np.std(known, ddof=1)), expected, chance))
    return found


def _segments(made: Setup, number: int) -> np.ndarray:
    return np.array([s for s, piece in enumerate(made.cut) if piece.log == number], dtype=int)


def in_words(spread: Spread) -> str:
    """One line: between which values the logs lie, and how that compares with their error bars."""
    known = [value for value in spread.values.values() if value is not None]
    if spread.deviation is None or spread.expected is None:
        return f"{spread.name}: fixed by {len(known)} of {len(spread.values)} logs, too few to compare"
    low, high = rounded(min(known), spread.expected)[0], rounded(max(known), spread.expected)[0]
    return (
        f"{spread.name}: {low} to {high} {spread.unit} in {len(known)} of {len(spread.values)} logs, standard deviation"
        f" {short(spread.deviation, 2)} where their error bars say {short(spread.expected, 2)}"
    )


def spread_cautions(spreads: Sequence[Spread]) -> list[Caution]:
    """What single logs say against the joint error bars."""
    apart = [s for s in spreads if s.disagrees]
    if not apart:
        return []
    words = ", ".join(f"{s.name} x{s.ratio:.2g}" for s in apart)
    return [
        Caution(
            "logs_disagree",
            f"fits of single logs lie further apart than their error bars allow ({words}): the model, or a motor that"
            " changes between logs, limits these numbers, not the noise",
            tuple(s.name for s in apart),
        )
    ]
