"""What a residual of each channel counts: in units of its sensor's noise, or of how well the model can follow it."""

import equinox as eqx
import numpy as np

from ._problem import Jacobian, Problem, Seen
from ._setup import BEND, Setup, usable_rows
from ._windows import scales

LEAST_BEND = 0.1
NOISE_LIKE = 1.3
"""Residuals within this of the sensor's noise are noise [1]."""


def off(problem: Problem, values: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
    """Per channel: mean square residual in sensor noise, and its robust standard deviation, at least one."""
    usable = usable_rows(problem)
    misfit, spread = {}, {}
    for k, channel in enumerate(problem.batch.channels):
        seen = values[:, k][usable[:, k]]
        seen = seen[np.isfinite(seen)]
        misfit[channel] = float(np.mean(seen**2)) if len(seen) else 0.0
        spread[channel] = max(1.0, float(1.4826 * np.median(np.abs(seen)))) if len(seen) else 1.0
    return misfit, spread


def balanced(made: Setup, problem: Problem, there: Seen) -> Problem:
    """The problem with each channel counted by what is `seen` there in sensor noise."""
    _, spread = off(problem, np.asarray(there.residuals))
    spread = {c: s if max(spread.values()) > NOISE_LIKE else 1.0 for c, s in spread.items()}
    sigma = {c: made.noise[c] * spread[c] for c in made.noise}
    bend = {c: max(LEAST_BEND, BEND / spread[c]) for c in made.noise}
    return eqx.tree_at(lambda p: p.scales, problem, scales(sigma, bend))


def misfit_of(made: Setup, problem: Problem, ended: Jacobian) -> dict[str, float]:
    """Mean square residuals in sensor noise, of which the scales of the problem are multiples."""
    share = np.array([float(problem.scales.sigma[c]) / made.noise[c] for c in problem.batch.channels])
    return off(problem, np.asarray(ended.residuals) * share[None, :, None])[0]
