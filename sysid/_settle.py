"""Initial states of segments that were not fitted, estimated from their own rows."""

import numpy as np

from ._linearized import linearized
from ._normal_equations import Point
from ._problem import INITIAL_REACH, Problem
from ._residual import bends, soft_l1, weight

_ITERATIONS = 8


def settled(problem: Problem, point: Point) -> Point:
    """The point with the initial states under which the segments are predicted best, all parameters held.

    A window has no past that would tell its angle and speed, and one differentiated reading of them is worth little.
    Gauss-Newton for every segment by itself; a step that does not help a segment is halved.
    """
    size = problem.batch.pick.shape[-1]
    bend = bends(problem.batch, problem.scales)
    best, step = np.array(point.initial), np.zeros_like(np.asarray(point.initial))
    least = np.full(len(best), np.inf)
    for _ in range(_ITERATIONS):
        trial = best + step
        around = linearized(problem, Point(point.coordinates, point.initial * 0 + trial))
        values = np.asarray(around.residuals)
        own = np.asarray(around.derivatives)[..., size:]
        costs = np.sum(np.asarray(soft_l1(around.residuals, bend)), axis=(1, 2))
        costs = costs + np.sum((trial / INITIAL_REACH) ** 2, axis=1) / 2
        better = costs < least
        best, least = np.where(better[:, None], trial, best), np.where(better, costs, least)
        weights = np.asarray(weight(around.residuals, bend))
        matrix = np.einsum("scta,sct,sctb->sab", own, weights, own) + np.eye(own.shape[-1]) / INITIAL_REACH**2
        gradient = np.einsum("scta,sct,sct->sa", own, weights, values) + trial / INITIAL_REACH**2
        newton = -np.linalg.solve(matrix, gradient[..., None])[..., 0]
        step = np.where(better[:, None], newton, step / 2)
    return Point(point.coordinates, point.initial * 0 + best)
