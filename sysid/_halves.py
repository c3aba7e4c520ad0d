"""Starts that walk in two halves, and the better half of them all that goes on: one compiled program serves both.

Short windows tell most of what a start is worth; on whole runs only promising ones are worth their time.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ._normal_equations import Point
from ._problem import Problem
from ._solve import Solver, Stage, solve


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
    costs = np.where(np.isfinite(values), values, np.inf)
    return _taken(points, np.sort(np.argsort(costs, kind="stable")[:lanes]))


def _taken(points: Point, rows: np.ndarray) -> Point:
    return jax.tree_util.tree_map(lambda x: jnp.asarray(np.asarray(x)[rows]), points)
