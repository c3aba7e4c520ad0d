"""Starts that walk in two halves, and the better half of them all that goes on: one compiled program serves both.

Short windows tell most of what a start is worth; on whole runs only promising ones are worth their time. Where the
first half ends alike on the shortest windows, the other is not needed; where the better half ends apart, scouts look
for better ones.
"""

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from ._normal_equations import Point
from ._problem import Problem
from ._solve import Solver, Stage, solve

_SCOUTS = 3
"""Scouts for each start."""

_SCOUTED = 4
"""Iterations that tell whether a scout is worth more."""

_AGREED = 0.02
"""Share of the cost within which starts end alike."""

_FEWEST_AGREED = 3

_SAME = 0.05
"""Difference of coordinates, mostly logarithms, below which two starts of one cost have come to one place."""


def side_by_side(mover: Solver, starts: int, legs: int) -> int:
    """How many starts are moved by one program on a walk of so many `legs`."""
    return -(-starts // 2) if mover.normal_equations and legs > 1 else starts


def solve_in_parts(
    mover: Solver,
    problem: Problem,
    points: Point,
    stage: Stage,
    progress: Callable[[str, int, float], None],
    lanes: int,
) -> tuple[Point, np.ndarray, list[tuple[str, int, float]]]:
    """As `solve` for one stage, `lanes` starts at a time."""
    count = points.coordinates.shape[0]
    if count == lanes:
        return solve(mover, problem, points, [stage], progress)
    parts, values, trace = [], [], []
    for first in range(0, count, lanes):
        # A part that is not full repeats its last start.
        rows = np.minimum(np.arange(first, first + lanes), count - 1)
        moved, costs, more = solve(mover, problem, _taken(points, rows), [stage], progress)
        kept = min(lanes, count - first)
        parts.append(_taken(moved, np.arange(kept)))
        values.append(costs[:kept])
        trace += more
    return _joined(parts), np.concatenate(values), trace


def better(points: Point, values: np.ndarray, lanes: int) -> Point:
    """The `lanes` starts of least cost, in their order."""
    if points.coordinates.shape[0] <= lanes:
        return points
    return _taken(points, _best(values, lanes))


def distinct(points: Point, values: np.ndarray) -> tuple[Point, np.ndarray]:
    """The starts less those that came to where a better one is."""
    at, kept = np.asarray(points.coordinates), []
    for k in np.argsort(np.where(np.isfinite(values), values, np.inf), kind="stable"):
        known = [n for n in kept if np.max(np.abs(at[k] - at[n])) <= _SAME and _alike(values[[k, n]])]
        kept += [] if known else [k]
    rows = np.sort(np.array(kept))
    return _taken(points, rows), values[rows]


def _taken(points: Point, rows: np.ndarray) -> Point:
    return jax.tree_util.tree_map(lambda x: jax.device_put(np.asarray(x)[rows]), points)


def first_leg(
    mover: Solver,
    problem: Problem,
    points: Point,
    stage: Stage,
    scouts: Callable[[int], Point],
    progress: Callable[[str, int, float], None],
    lanes: int,
) -> tuple[Point, np.ndarray, list[tuple[str, int, float]]]:
    """As `solve_in_parts`, with as many starts as it takes: the first `lanes` where they end alike, else all; where the
    better of these end apart, the best of them and of `scouts(number)`.

    A rough cost has many valleys, and which is deep shows within few iterations.
    """
    starts = points.coordinates.shape[0]
    first, values, trace = solve(mover, problem, _taken(points, np.arange(lanes)), [stage], progress)
    if starts == lanes or (lanes >= _FEWEST_AGREED and _alike(values)):
        return first, values, trace
    others, costs, more = solve_in_parts(
        mover, problem, _taken(points, np.arange(lanes, starts)), stage, progress, lanes
    )
    points, values, trace = _joined([first, others]), np.concatenate([values, costs]), trace + more
    if _alike(values[_best(values, lanes)]):
        return points, values, trace
    short = dataclasses.replace(stage, words="more starts", iterations=_SCOUTED)
    found, costs, more = solve_in_parts(mover, problem, scouts(_SCOUTS * starts), short, progress, lanes)
    costs = np.concatenate([values, costs])
    best = _best(costs, starts)
    return _taken(_joined([points, found]), best), costs[best], trace + more


def _alike(values: np.ndarray) -> bool:
    return bool(np.all(np.isfinite(values)) and np.max(values) <= np.min(values) * (1 + _AGREED))


def _joined(parts: list[Point]) -> Point:
    return jax.tree_util.tree_map(lambda *x: jax.device_put(np.concatenate([np.asarray(p) for p in x])), *parts)


def _best(values: np.ndarray, count: int) -> np.ndarray:
    costs = np.where(np.isfinite(values), values, np.inf)
    return np.sort(np.argsort(costs, kind="stable")[:count])
