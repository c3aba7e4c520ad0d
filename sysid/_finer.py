"""The last leg with finer steps, for which derivatives by coarse ones do nearly all."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ._channel_scales import balanced, misfit_of
from ._conclude import chosen
from ._cores import each
from ._defect import cost_in, met_by_coarse
from ._halves import distinct
from ._linearized import linearized, seen
from ._normal_equations import Point
from ._problem import Jacobian, Problem, Seen
from ._rest import cost, step_ahead
from ._setup import Setup
from ._solve import Solver, Stage, solve

_FAR = 0.2
"""Share by which the cost of a start may exceed the least for finer steps to make it the best or its equal."""

_AT_REST = 1e-5
"""Share of the cost that the last step may gain."""

_SAME_SLOPES = 3e-4
"""Share of the cost that steps may gain along derivatives which were computed once."""

_STEPS = 8


def _unseen(words: str, iteration: int, cost: float) -> None:
    del words, iteration, cost


def refined(
    made: Setup,
    coarse: Problem,
    fine: Problem,
    points: Point,
    values: np.ndarray,
    mover: Solver,
    last: Stage,
    progress: Callable[[str, int, float], None],
) -> tuple[Point, np.ndarray, Problem, dict[str, float], Jacobian, list[tuple[str, int, float]]]:
    """As `_balanced`, of the `fine` problem from the ends of the `coarse` one: every start is moved by the coarse runs,
    and only where they leave the best of them short of rest do fine ones go on."""

    def one(k: int) -> tuple[Point, Seen, list[tuple[str, int, float]]]:
        start = Point(*(jnp.asarray(np.asarray(x)[k]) for x in (points.coordinates, points.initial)))
        return met_by_coarse(coarse, fine, start, lambda there: balanced(made, fine, there), mover, last, _unseen)

    points, values = distinct(points, values)
    near = values <= (1 + _FAR) * np.nanmin(values)
    found, values = each(one, np.flatnonzero(near).tolist()), values[near]
    ends, trace = [end for end, _, _ in found], [step for _, _, more in found for step in more]
    for step in trace:
        progress(*step)
    # In the scales that the best of the coarse ends calls for.
    problem = balanced(made, fine, found[int(np.nanargmin(values))][1])
    values = np.array([cost_in(problem, fine, end, there) for end, there, _ in found])
    best = int(np.nanargmin(values))
    end, values[best], ended = brought_to_rest(problem, ends[best], values[best])
    if ended is None:
        moved, value, more = solve(mover, problem, _together([end]), [last], progress)
        end, values[best], trace = chosen(moved, value), value[0], trace + more
        ended = linearized(problem, end)
    ends[best] = end
    return _together(ends), values, problem, misfit_of(made, problem, ended), ended, trace


def _together(points: Sequence[Point]) -> Point:
    return jax.tree_util.tree_map(lambda *x: jax.device_put(np.stack([np.asarray(part) for part in x])), *points)


def brought_to_rest(problem: Problem, point: Point, value: float) -> tuple[Point, float, Jacobian | None]:
    """A point next to the optimum brought there by undamped steps, its cost, and the problem around it; none of the
    latter where such steps do not lead there.

    Within a few standard errors the derivatives stay what they are: they are computed anew only beyond.
    """
    found, gained = linearized(problem, point), 0.0
    for _ in range(_STEPS):
        ahead, gain = step_ahead(problem, point, found)
        there = seen(problem, ahead)
        lower = cost(problem, ahead, np.asarray(there.residuals))
        if not lower <= value:
            return point, value, found if gain <= _AT_REST * value else None
        point, value, gained = ahead, lower, gained + gain
        if gained > _SAME_SLOPES * value:
            found, gained = linearized(problem, point), 0.0
            continue
        found = Jacobian(there.predicted, there.residuals, found.derivatives)
        if gain <= _AT_REST * value:
            return point, value, found
    return point, value, None
