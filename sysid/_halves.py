"""Starts that walk in two halves, and the better half of them all that goes on: one compiled program serves both.

Short windows tell most of what a start is worth; on whole runs only promising ones are worth their time. Where the
starts end apart on the shortest windows, scouts look there for better ones.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ._normal_equations import Point
from ._problem import Problem
from ._solve import Solver, Stage, solve

_SCOUTS = 3
"""Scouts for each start."""

_SCOUTED = 4
"""Iterations that tell whether a scout is worth more."""

_AGREED = 0.02
"""Share of the cost within which the better half of the starts ends alike."""


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
    joined = jax.tree_util.tree_map(lambda *x: jnp.asarray(np.concatenate([np.asarray(p) for p in x])), *parts)
    return joined, np.concatenate(values), trace


def better(points: Point, values: np.ndarray, lanes: int) -> Point:
    """The `lanes` starts of least cost, in their order."""
    if points.coordinates.shape[0] <= lanes:
        return points
    return _taken(points, _best(values, lanes))


def _taken(points: Point, rows: np.ndarray) -> Point:
    return jax.tree_util.tree_map(lambda x: jnp.asarray(np.asarray(x)[rows]), points)


def reinforced(
    mover: Solver,
    problem: Problem,
    points: Point,
    values: np.ndarray,
    stage: Stage,
    scouts: Callable[[int], Point],
    progress: Callable[[str, int, float], None],
    lanes: int,
) -> tuple[Point, np.ndarray, list[tuple[str, int, float]]]:
    """As many points as before, the best of them and of `scouts(number)` where the better half of them ends apart.

    A rough cost has many valleys, and which is deep shows within few iterations.
    """
    starts = points.coordinates.shape[0]
    ends = np.sort(np.where(np.isfinite(values), values, np.inf))[:lanes]
    if lanes == starts or ends[-1] <= ends[0] * (1 + _AGREED):
        return points, values, []
    short = dataclasses.replace(stage, words="more starts", iterations=_SCOUTED)
    found, costs, trace = solve_in_parts(mover, problem, scouts(_SCOUTS * starts), short, progress, lanes)
    together = jax.tree_util.tree_map(
        lambda a, b: jnp.asarray(np.concatenate([np.asarray(a), np.asarray(b)])), points, found
    )
    costs = np.concatenate([values, costs])
    best = _best(costs, starts)
    return _taken(together, best), costs[best], trace


def _best(values: np.ndarray, count: int) -> np.ndarray:
    costs = np.where(np.isfinite(values), values, np.inf)
    return np.sort(np.argsort(costs, kind="stable")[:count])
