"""Error bars that hold for residuals which are neither white nor Gaussian.

The estimate solves sum_t psi(z_t) J_t = 0, so its covariance is H^-1 M H^-1 with H = J' psi'(z) J and M the variance of
that sum. M uses an autoregression of psi(z) per channel, with what the fit took of the noise given back: residuals of
real logs are correlated over many rows, and counting them as independent makes errors several times too small.
"""

import dataclasses

import numpy as np

from ._autocorrelation import spread
from ._problem import INITIAL_REACH
from ._restricted import Stretch, processes

_BELIEF = INITIAL_REACH**-2
"""Information on an initial state, in units of its width, before any row is seen."""

_UNSEEN = 1e-12
"""Eigenvalue of the information [1], in units of its diagonal, below which it is rounding."""


@dataclasses.dataclass(frozen=True)
class Uncertainty:
    """`covariance` of the coordinates [coordinate^2] and `information` H, both (n, n); per channel the lag-one
    `correlation` of the residuals [1], the `inflation` [1] of the variance of their mean over that of white ones, and
    the mean square `misfit` in units of sigma; `step_shift` (n,): how far the coordinates would move if every step of
    the integration were halved."""

    covariance: np.ndarray
    information: np.ndarray
    correlation: dict[str, float]
    inflation: dict[str, float]
    misfit: dict[str, float]
    step_shift: np.ndarray


def _without_initial(derivatives: np.ndarray, weights: np.ndarray, shared: int, belief: float) -> np.ndarray:
    """The columns of shared coordinates, less what the segment's own initial state takes up; (rows, shared)."""
    own = derivatives[:, shared:]
    weighted = own * weights[:, None]
    matrix = weighted.T @ own + belief * np.eye(own.shape[1])
    return derivatives[:, :shared] - own @ np.linalg.solve(matrix, weighted.T @ derivatives[:, :shared])


def _gentle(residuals: np.ndarray, usable: np.ndarray, bends: np.ndarray) -> np.ndarray:
    """From where on residuals are bent to tell their memory, (channel,): twice their own spread, or as in the fit.

    Where a fit counts nearly all residuals linearly, psi is close to their sign, which is no autoregression: one of low
    order forgets too soon. Outliers alone are kept from ruling.
    """
    own = [residuals[:, c][usable[:, c]] for c in range(len(bends))]
    spread = [1.4826 * float(np.median(np.abs(r))) if len(r) else 0.0 for r in own]
    return np.maximum(bends, 2 * np.array(spread))


def uncertainty(
    residuals: np.ndarray,
    halved: np.ndarray,
    derivatives: np.ndarray,
    usable: np.ndarray,
    bends: np.ndarray,
    pick: np.ndarray,
    total: int,
    prior: np.ndarray,
    names: list[str],
) -> Uncertainty:
    """Covariance of the coordinates.

    **Arguments:** `residuals` (segment, channel, time) in sigmas, `halved` the same at half the step; `derivatives`
    (segment, channel, time, local + initial); `usable` like `residuals`; `bends` (channel,); `pick` (segment, local);
    `prior` (total,) the information of priors; `names` of the channels.
    """
    segments, channels, length = residuals.shape
    local = pick.shape[1]
    information, scatter = np.diag(prior).astype(float), np.diag(prior).astype(float)
    squares = (residuals / bends[None, :, None]) ** 2
    influence = residuals / np.sqrt(1 + squares)
    moved = halved / np.sqrt(1 + (halved / bends[None, :, None]) ** 2) - influence
    gradient = np.zeros(total)
    slopes = (1 + squares) ** -1.5
    columns: list[np.ndarray] = []
    for s in range(segments):
        flat = derivatives[s].reshape(channels * length, derivatives.shape[-1])
        weights = (slopes[s] * usable[s]).reshape(-1)
        columns.append(_without_initial(flat, weights, local, _BELIEF).reshape(channels, length, local))
    gently = _gentle(residuals, usable, bends)
    eased = residuals / np.sqrt(1 + (residuals / gently[None, :, None]) ** 2)
    steep = (1 + (residuals / gently[None, :, None]) ** 2) ** -1.5
    found = processes(
        [
            Stretch(
                [eased[s, c][usable[s, c]] for c in range(channels)],
                [(derivatives[s, c] * steep[s, c][:, None])[usable[s, c]] for c in range(channels)],
                pick[s],
            )
            for s in range(segments)
        ],
        prior,
        _BELIEF,
    )
    correlation, inflation, misfit = {}, {}, {}
    for c, (coefficients, variance) in enumerate(found):
        runs = [influence[s, c][usable[s, c]] for s in range(segments)]
        rows = sum(len(r) for r in runs)
        if rows == 0:
            continue
        gentle_power = float(np.sum(eased[:, c][usable[:, c]] ** 2))
        variance *= sum(float(r @ r) for r in runs) / max(gentle_power, 1e-300)
        for s in range(segments):
            kept = usable[s, c]
            part = columns[s][c][kept]
            block = part.T @ (part * slopes[s, c][kept][:, None])
            wide = spread(part, coefficients, variance)
            index = np.ix_(pick[s], pick[s])
            np.add.at(information, index, block)
            np.add.at(scatter, index, wide)
            np.add.at(gradient, pick[s], part.T @ moved[s, c][kept])
        joined = [r for r in runs if len(r) > 2]
        top = sum(float(r[1:] @ r[:-1]) for r in joined)
        power = max(sum(float(r @ r) for r in joined), 1e-300)
        correlation[names[c]] = top / power
        inflation[names[c]] = variance / max(coefficients.sum() ** 2, 1e-12) / (power / rows)
        misfit[names[c]] = float(np.mean(np.concatenate([residuals[s, c][usable[s, c]] for s in range(segments)]) ** 2))
    inverse, unseen = _inverse(information)
    return Uncertainty(
        _sandwich(inverse, scatter) + unseen, information, correlation, inflation, misfit, -inverse @ gradient
    )


def _sandwich(inverse: np.ndarray, scatter: np.ndarray) -> np.ndarray:
    """H^-1 M H^-1 as a square, so that no variance comes out negative where H is nearly singular."""
    size = np.sqrt(np.maximum(np.diagonal(scatter), 1e-300))
    values, vectors = np.linalg.eigh(scatter / np.outer(size, size))
    root = inverse @ (size[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))
    return root @ root.T


def _inverse(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverse of a symmetric matrix in units of its diagonal, and the part of it in directions that no data see.

    The latter is huge and finite: rounding is all that a sandwich would find there.
    """
    size = np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    floor = max(values.max(initial=0.0), 1e-300) * _UNSEEN
    unseen = np.where(values < floor, 1 / floor, 0.0)
    scale = np.outer(size, size)
    return (vectors / np.maximum(values, floor)) @ vectors.T / scale, (vectors * unseen) @ vectors.T / scale
