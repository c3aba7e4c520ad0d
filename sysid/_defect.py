"""The optimum of finely stepped runs, found with coarsely stepped ones.

What the step does to a prediction hardly depends on the parameters: the measurements, moved by the difference of both
predictions at one point, lead the coarse runs to where the fine ones fit (defect correction). One fine run then takes
the place of most of a fine walk.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from jaxtyping import Array

from ._conclude import chosen
from ._linearized import linearized
from ._normal_equations import Point
from ._problem import Problem
from ._solve import Solver, Stage, solve
from ._split import laid_like


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
    here, there = (linearized(problem, at, lanes=lanes).predicted for problem in (coarse, fine))
    channels = {
        name: dataclasses.replace(channel, measured=_moved(channel.measured, here[name], there[name]))
        for name, channel in coarse.batch.channels.items()
    }
    batch = dataclasses.replace(coarse.batch, channels=channels)
    return solve(mover, dataclasses.replace(coarse, batch=batch), points, [stage], progress)


def _moved(measured: Array, coarse: Array, fine: Array) -> Array:
    """Where a run is not finite nothing can be said of its steps."""
    by = np.asarray(coarse) - np.asarray(fine)
    return laid_like(measured, np.asarray(measured) + np.where(np.isfinite(by), by, 0.0))
