"""The optimum of finely stepped runs, found with coarsely stepped ones.

What the step does to a prediction hardly depends on the parameters: the measurements, moved by the difference of both
predictions at one point, lead the coarse runs to where the fine ones fit (defect correction). One fine run then takes
the place of most of a fine walk.
"""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ._batch import Channel
from ._conclude import chosen
from ._linearized import seen
from ._normal_equations import Point
from ._problem import Problem, Seen
from ._rest import cost
from ._solve import Solver, Stage, solve
from ._split import laid_like

_NEAR = 1e-3
"""Share of the cost below which coarse derivatives are not asked for more."""

_ON_THE_WAY = 1e-3
"""Share of the cost that an iteration must gain before the measurements are moved anew."""

_PASSES = 8


def moved_to_finer(
    coarse: Problem,
    fine: Problem,
    points: Point,
    values: np.ndarray,
    mover: Solver,
    stage: Stage,
    progress: Callable[[str, int, float], None],
) -> tuple[Point, np.ndarray, list[tuple[str, int, float]]]:
    """The ends of a walk of the `coarse` problem moved towards those of the `fine` one, with their costs as the coarse
    runs see them."""
    lanes, at = points.coordinates.shape[0], chosen(points, values)
    here, there = (seen(problem, at, lanes=lanes).predicted for problem in (coarse, fine))
    batch = dataclasses.replace(coarse.batch, channels=_channels(coarse, here, there))
    return solve(mover, dataclasses.replace(coarse, batch=batch), points, [stage], progress)


def met_by_coarse(
    coarse: Problem,
    fine: Problem,
    point: Point,
    balanced: Callable[[Seen], Problem],
    mover: Solver,
    stage: Stage,
    progress: Callable[[str, int, float], None],
) -> tuple[Point, Seen, list[tuple[str, int, float]]]:
    """One point moved to where the `fine` problem is met best, by derivatives of the `coarse` one alone: the
    measurements are moved anew at every end until the fine cost no longer falls. Where the coarse derivatives J stand
    for the fine ones F, that is a point at which J' r = 0, not F' r = 0: as far from the optimum as (F - J)' r.

    **Arguments:** `balanced(seen)`: the fine problem with the scales that what is seen at a point calls for.

    **Returns:** the point, what is seen there, and the trace.
    """
    there, trace = seen(fine, point), []
    for _ in range(_PASSES):
        problem = balanced(there)
        value = cost_in(problem, fine, point, there)
        moving = eqx.tree_at(
            lambda p: (p.batch.channels, p.scales),
            coarse,
            (_channels(coarse, seen(coarse, point).predicted, there.predicted), problem.scales),
        )
        alone = Point(*(jnp.asarray(np.asarray(x)[None]) for x in (point.coordinates, point.initial)))
        ends, costs, more = solve(mover, moving, alone, [dataclasses.replace(stage, gain=_ON_THE_WAY)], progress)
        ahead = chosen(ends, costs)
        beyond = seen(fine, ahead)
        gained = value - cost_in(problem, fine, ahead, beyond)
        trace += more
        if not gained > 0:
            break
        point, there = ahead, beyond
        if np.isfinite(value) and gained <= _NEAR * value:
            break
    return point, there, trace


def cost_in(problem: Problem, seen_by: Problem, point: Point, there: Seen) -> float:
    """The cost in the scales of `problem` of what was seen in those of another; infinite where a run is not finite."""
    ratio = [float(seen_by.scales.sigma[c] / problem.scales.sigma[c]) for c in problem.batch.channels]
    value = cost(problem, point, np.asarray(there.residuals) * np.array(ratio)[None, :, None])
    return value if np.isfinite(value) else np.inf


def _channels(coarse: Problem, here: dict[str, Array], there: dict[str, Array]) -> dict[str, Channel]:
    """The measurements less what the coarser steps do to the predictions."""
    return {
        name: dataclasses.replace(channel, measured=_moved(channel.measured, here[name], there[name]))
        for name, channel in coarse.batch.channels.items()
    }


def _moved(measured: Array, coarse: Array, fine: Array) -> Array:
    """Where a run is not finite nothing can be said of its steps."""
    by = np.asarray(coarse) - np.asarray(fine)
    return laid_like(measured, np.asarray(measured) + np.where(np.isfinite(by), by, 0.0))
