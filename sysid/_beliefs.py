"""What was known of parameters before, for many logs at once."""

import jax.numpy as jnp
import numpy as np

from ._problem import Problem

_STEP = 1e-6


def believed(problem: Problem, pick: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Residuals of the priors (log, local) [1] at coordinates `local` (log, local), of which `pick` says which of the
    problem's they are; zero where nothing was known."""
    found = np.zeros_like(local)
    mean, width = (np.asarray(x)[pick] for x in (problem.prior.mean, problem.prior.width))
    for k in np.flatnonzero(np.isfinite(width[0])):
        bijector = problem.unknowns.bijectors[problem.owner[pick[0, k]]]
        found[:, k] = (np.asarray(bijector.value(jnp.asarray(local[:, k]))) - mean[:, k]) / width[:, k]
    return found


def slopes(problem: Problem, pick: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Derivative of each of these residuals in its own coordinate, (log, local)."""
    above, below = (believed(problem, pick, local + step) for step in (_STEP, -_STEP))
    return (above - below) / (2 * _STEP)
