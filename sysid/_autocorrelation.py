"""Residuals that remember: the autoregression that whitens them."""

import numpy as np
from scipy.linalg import solve_banded

HIGHEST_ORDER = 24
_SMOOTHEST = 1e-6
"""Share of the variance below which the unpredictable part is rounding: a smooth misfit is no random process."""


def autoregression(series: list[np.ndarray], highest: int = HIGHEST_ORDER) -> tuple[np.ndarray, float]:
    """Coefficients a of e[t] = sum_k a[k] x[t - k] (a[0] = 1) and the variance of e, for several runs of one process.

    Pooled Burg recursion, which is stable by construction; the order is the one of least BIC up to `highest`, so white
    residuals get order zero. Columns of a run of shape (rows, k) add their power to that of one series.
    """
    runs = [np.asarray(s, float) for s in series if len(s) > 1]
    count = sum(len(r) for r in runs)
    if not runs or count == 0:
        return np.ones(1), 0.0
    variance = sum(float(np.vdot(r, r)) for r in runs) / count
    coefficients = np.ones(1)
    if variance == 0:
        return coefficients, 0.0
    least = _SMOOTHEST * variance
    forward, backward = [r.copy() for r in runs], [r.copy() for r in runs]
    best = (count * np.log(variance), coefficients, variance)
    for order in range(1, min(highest, count // 20) + 1):
        ahead = [f[1:] for f in forward]
        behind = [b[:-1] for b in backward]
        top = sum(float(np.vdot(f, b)) for f, b in zip(ahead, behind, strict=True))
        bottom = sum(float(np.vdot(f, f) + np.vdot(b, b)) for f, b in zip(ahead, behind, strict=True))
        if bottom == 0:
            break
        reflection = -2 * top / bottom
        forward = [f + reflection * b for f, b in zip(ahead, behind, strict=True)]
        backward = [b + reflection * f for f, b in zip(ahead, behind, strict=True)]
        padded = np.append(coefficients, 0.0)
        coefficients = padded + reflection * padded[::-1]
        variance *= 1 - reflection**2
        if variance <= least:
            break
        score = count * np.log(variance) + order * np.log(count)
        if score < best[0]:
            best = (score, coefficients, variance)
    return best[1], best[2]


def whitened(columns: np.ndarray, coefficients: np.ndarray, variance: float) -> np.ndarray:
    """A (rows, k) as unit white noise where it is the process; what came before the first row counts as zero."""
    found = columns.copy()
    for lag, coefficient in enumerate(coefficients[1 : len(columns)], start=1):
        found[lag:] += coefficient * columns[:-lag]
    return found / np.sqrt(max(variance, 1e-300))


def spread(columns: np.ndarray, coefficients: np.ndarray, variance: float) -> np.ndarray:
    """X' G X for the covariance G of the process, X of shape (rows, k).

    G = variance (A'A)^-1 with the whitening filter A, so X' G X = variance |A^-T X|^2: the columns filtered backwards.
    """
    # A is a band below the diagonal. (SciPy's own filter lives in a package that takes half a second to import.)
    rows = len(columns)
    band = np.repeat(coefficients[: max(rows, 1), None], rows, axis=1)
    filtered = np.asarray(solve_banded((len(band) - 1, 0), band, columns[::-1]))
    return variance * filtered.T @ filtered
