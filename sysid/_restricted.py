"""The noise behind residuals, of which the fit has taken a part away.

What is left over is r = e - X d. The error d of the estimate follows the slow part of the noise e most of all, so r
forgets sooner than e does, and an autoregression of r makes the errors of slow parameters too small. Restricted maximum
likelihood (Patterson and Thompson 1971) counts what was taken away. It is found by expectation and maximisation (Laird,
Lange and Stram 1987): given the autoregressions of all channels, d is normal, and what is known of e = r + X d is its
mean and its covariance; to these the autoregressions are fitted anew.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from ._autocorrelation import autoregression, whitened

_ROUNDS = 8
_SETTLED = 0.02
"""Relative change of the variance of a mean from which on another round tells nothing."""

_SLIGHT = 0.01
"""Share of a channel's independent rows that the fit may use up without a trace."""

_UNSEEN = 1e-12

Process = tuple[np.ndarray, float]
"""The coefficients of an autoregression [1], and the variance of what it cannot foretell [sigma^2]."""


@dataclasses.dataclass(frozen=True, eq=False)
class Stretch:
    """Rows of one segment that were measured: per channel the `residuals` (rows,) and their `slopes` (rows, local +
    own) in the coordinates at `pick` and in the segment's own initial states."""

    residuals: Sequence[np.ndarray]
    slopes: Sequence[np.ndarray]
    pick: np.ndarray


def _mean_variance(process: Process) -> float:
    """Rows times the variance of the mean over many rows [sigma^2]."""
    return process[1] / max(float(process[0].sum()) ** 2, 1e-12)


def processes(stretches: Sequence[Stretch], prior: np.ndarray, belief: float) -> list[Process]:
    """The autoregression of each channel's noise.

    **Arguments:** `prior` (total,) the information on each coordinate, and `belief` on each initial state, beforehand.
    """
    channels = range(len(stretches[0].residuals) if stretches else 0)
    found = [autoregression([s.residuals[c] for s in stretches]) for c in channels]
    # More would tell little: the orders that what is left over calls for are those of the noise.
    orders = [max(len(coefficients), 2) for coefficients, _ in found]
    if not any(_used_up(stretches, c, found[c], len(prior)) > _SLIGHT for c in channels):
        return found
    for _ in range(_ROUNDS):
        before, noise = found, _expected(stretches, found, prior, belief)
        found = [autoregression(noise[c], orders[c]) for c in channels]
        if all(
            abs(_mean_variance(new) - _mean_variance(old)) <= _SETTLED * _mean_variance(old)
            for new, old in zip(found, before, strict=True)
        ):
            break
    return found


def _used_up(stretches: Sequence[Stretch], channel: int, process: Process, total: int) -> float:
    """How many of a channel's independent rows the fit can have taken at most, as a share [1]."""
    rows = sum(len(s.residuals[channel]) for s in stretches)
    power = sum(float(s.residuals[channel] @ s.residuals[channel]) for s in stretches)
    if rows == 0 or power == 0:
        return 0.0
    own = sum(s.slopes[channel].shape[1] - len(s.pick) for s in stretches)
    return (total + own) * max(_mean_variance(process) * rows / power, 1.0) / rows


def _expected(
    stretches: Sequence[Stretch], found: Sequence[Process], prior: np.ndarray, belief: float
) -> list[list[np.ndarray]]:
    """Per channel and stretch the noise as far as it is known: a column of its mean, and columns whose squares add up
    to its covariance."""
    information, pull = np.diag(prior), np.zeros(len(prior))
    parts = []
    for stretch in stretches:
        local = len(stretch.pick)
        joined = np.concatenate(
            [
                whitened(np.column_stack([slopes, residuals]), *process)
                for slopes, residuals, process in zip(stretch.slopes, stretch.residuals, found, strict=True)
            ]
        )
        square = joined.T @ joined
        own = slice(local, square.shape[0] - 1)
        inner = square[own, own] + belief * np.eye(own.stop - own.start)
        root = _root_of_inverse(inner)
        # What the initial states take up by themselves.
        taken = root @ (root.T @ square[own])
        index = np.ix_(stretch.pick, stretch.pick)
        np.add.at(information, index, square[:local, :local] - square[:local, own] @ taken[:, :local])
        np.add.at(pull, stretch.pick, square[:local, -1] - square[:local, own] @ taken[:, -1])
        parts.append((taken, root))
    width = _root_of_inverse(information)
    error = width @ (width.T @ pull)
    noise: list[list[np.ndarray]] = [[] for _ in found]
    for stretch, (taken, root) in zip(stretches, parts, strict=True):
        local = len(stretch.pick)
        moved, spread = error[stretch.pick], width[stretch.pick]
        for c, (slopes, residuals) in enumerate(zip(stretch.slopes, stretch.residuals, strict=True)):
            shared = slopes[:, :local] - slopes[:, local:] @ taken[:, :local]
            mean = residuals - shared @ moved - slopes[:, local:] @ taken[:, -1]
            noise[c].append(np.column_stack([mean, shared @ spread, slopes[:, local:] @ root]))
    return noise


def _root_of_inverse(matrix: np.ndarray) -> np.ndarray:
    """W with W W' the inverse of a symmetric matrix; what no row sees stays narrow in units of its diagonal."""
    diagonal = np.diagonal(matrix)
    # Where a run is chaotic, differences of huge squares leave a rounding of either sign.
    known = diagonal > max(diagonal.max(initial=0.0), 0.0) * np.finfo(float).tiny
    size = np.sqrt(np.where(known, diagonal, 1.0))
    scaled = np.where(np.outer(known, known), matrix / np.outer(size, size), 0.0)
    values, vectors = np.linalg.eigh(scaled)
    seen = values > max(values.max(initial=0.0), 1e-300) * _UNSEEN
    return (vectors * np.where(seen, 1 / np.sqrt(np.where(seen, values, 1.0)), 0.0)) / size[:, None]
