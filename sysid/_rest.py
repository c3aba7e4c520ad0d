"""Whether a point is at rest, told from the problem around it: NumPy does the algebra, and nothing is compiled."""

import jax.numpy as jnp
import numpy as np

from ._beliefs import believed, slopes
from ._normal_equations import Point
from ._problem import INITIAL_REACH, Jacobian, Problem

_UNSEEN = 1e-12
"""Eigenvalue of the normal equations [1], in units of their diagonal, below which it is rounding."""

_UNSEEN_GAIN = 1e-6
"""Share of the cost that a step may promise to be taken unseen."""

LONGEST_UNSEEN = 1e-3
"""Move of a coordinate, mostly a logarithm, in such a step."""


def cost(problem: Problem, point: Point, residuals: np.ndarray) -> float:
    """The cost of a point whose `residuals` [sigma] are known, (segment, channel, time)."""
    shares, bend = np.asarray(problem.counts)[:, None, None], _bends(problem)
    misfit = np.sum(bend**2 * (np.sqrt(1 + (residuals / bend) ** 2) - 1) * shares)
    coordinates = np.asarray(point.coordinates)[None]
    prior = believed(problem, np.arange(coordinates.shape[1])[None], coordinates)
    return float(misfit + np.sum(prior**2) / 2 + np.sum((np.asarray(point.initial) / INITIAL_REACH) ** 2) / 2)


def step_ahead(problem: Problem, point: Point, found: Jacobian, near: bool = False) -> tuple[Point, float]:
    """Where an undamped Gauss-Newton step leads, and by how much it would lower the cost were the problem linear, no
    number where the derivatives are none; `near` an optimum with the loss's own second derivative, which is Newton's
    step but for the bends of the model."""
    coordinates, pick = np.asarray(point.coordinates), np.asarray(problem.batch.pick)
    local, moves = pick.shape[-1], np.asarray(problem.moves)
    residuals, derivatives = np.asarray(found.residuals), np.asarray(found.derivatives)
    shares, spread = np.asarray(problem.counts)[:, None, None], 1 + (residuals / _bends(problem)) ** 2
    weights, curvatures = shares * spread**-0.5, shares * spread ** (-1.5 if near else -0.5)
    every = np.arange(len(coordinates))[None]
    prior, steep = (of(problem, every, coordinates[None])[0] for of in (believed, slopes))
    shared, pull, gain = np.diag(steep**2), steep * prior, 0.0
    solutions = []
    for s, row in enumerate(pick):
        columns = derivatives[s].reshape(-1, derivatives.shape[-1])
        square = (columns * curvatures[s].reshape(-1, 1)).T @ columns
        gradient = columns.T @ (weights[s] * residuals[s]).reshape(-1)
        own = square[local:, local:] + np.eye(square.shape[0] - local) / INITIAL_REACH**2
        own_pull = gradient[local:] + np.asarray(point.initial)[s] / INITIAL_REACH**2
        solved = np.linalg.solve(own, np.column_stack([square[local:, :local], own_pull]))
        np.add.at(shared, np.ix_(row, row), square[:local, :local] - square[:local, local:] @ solved[:, :-1])
        np.add.at(pull, row, gradient[:local] - square[:local, local:] @ solved[:, -1])
        gain += float(own_pull @ solved[:, -1]) / 2
        solutions.append(solved)
    shared, pull = shared * np.outer(moves, moves), pull * moves
    if not (np.isfinite(shared).all() and np.isfinite(pull).all()):
        return point, np.nan
    size = np.sqrt(np.maximum(np.diagonal(shared), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(shared / np.outer(size, size))
    along = vectors.T @ (pull / size)
    seen = values > _UNSEEN * max(float(values.max(initial=0.0)), np.finfo(float).tiny)
    along = np.where(seen, along / np.where(seen, values, 1.0), 0.0)
    step = -(vectors @ along) / size * moves
    gain -= float(step @ pull) / 2
    before = np.asarray(point.initial)
    initial = [i - s[:, -1] - s[:, :-1] @ step[row] for i, s, row in zip(before, solutions, pick, strict=True)]
    return Point(jnp.asarray(coordinates + step), jnp.asarray(np.stack(initial))), gain


def one_step_further(problem: Problem, points: Point, values: np.ndarray, found: Jacobian) -> Point:
    """The points with the best of them, around which the problem is `found`, moved by the step that is left.

    A solver rests when a step gains little, which may be the hundredth of a standard error. The step after it costs
    nothing, and is too short to need another look; where it is not, or not known, the point stays. So it does where the
    step is long and promises nothing all the same: in that direction the logs leave all open.
    """
    best = int(np.nanargmin(values))
    coordinates, initial = np.array(points.coordinates), np.array(points.initial)
    here = Point(jnp.asarray(coordinates[best]), jnp.asarray(initial[best]))
    ahead, gain = step_ahead(problem, here, found, near=True)
    short = np.max(np.abs(np.asarray(ahead.coordinates) - coordinates[best])) <= LONGEST_UNSEEN
    if short and 0 <= gain <= _UNSEEN_GAIN * values[best]:
        coordinates[best], initial[best] = ahead.coordinates, ahead.initial
    return Point(jnp.asarray(coordinates), jnp.asarray(initial))


def _bends(problem: Problem) -> np.ndarray:
    return np.array([float(problem.scales.bend[c]) for c in problem.batch.channels])[None, :, None]
