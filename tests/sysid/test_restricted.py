"""The noise behind residuals: as much of it as there was before the fit took its part."""

import numpy as np
import pytest
from scipy.signal import lfilter

from sysid._autocorrelation import autoregression, whitened
from sysid._restricted import Stretch, processes
from sysid._uncertainty import uncertainty

ROWS, RHO, SHARED, OWN = 300, 0.9, 6, 2
WHOLE = 1 / (1 - RHO) ** 2
"""Rows times the variance of the mean of the process x[t] = RHO x[t - 1] + e[t], e of unit variance."""


def _noise(generator: np.random.Generator, channels: int = 1) -> np.ndarray:
    return np.asarray(lfilter([1.0], [1.0, -RHO], generator.standard_normal((channels, ROWS + 200)), axis=1))[:, 200:]


def _columns(channels: int) -> np.ndarray:
    """Slow shapes, of which each channel has its own mixture; (channel, row, column)."""
    time = np.linspace(0, 1, ROWS)[:, None]
    shapes = np.cos(np.pi * np.arange(SHARED + OWN) * time)
    mixtures = np.random.default_rng(0).standard_normal((channels, SHARED + OWN, SHARED + OWN))
    return shapes @ mixtures


def _fitted(columns: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least squares of all channels at once: the error of the estimate, and what is left over."""
    flat = columns.reshape(-1, columns.shape[-1])
    error = np.linalg.lstsq(flat, noise.reshape(-1))[0]
    return error, noise - columns @ error


def test_what_the_fit_took_is_given_back():
    columns = _columns(1)
    taken, restored = [], []
    for seed in range(100):
        _, left = _fitted(columns, _noise(np.random.default_rng(seed)))
        plain = autoregression([left[0]])
        (found,) = processes([Stretch([left[0]], [columns[0]], np.arange(SHARED))], np.zeros(SHARED), 1e-6)
        for process, into in ((plain, taken), (found, restored)):
            into.append(process[1] / process[0].sum() ** 2)
    assert np.median(taken) < 0.6 * WHOLE
    assert np.median(restored) == pytest.approx(WHOLE, rel=0.12)


def test_intervals_of_a_short_log_that_remembers():
    """Three hundred rows are worth sixteen: too few for counting the eight numbers fitted as none."""
    channels, total = 2, SHARED + OWN
    columns, held = _columns(channels), []
    for seed in range(300):
        error, left = _fitted(columns, _noise(np.random.default_rng(seed), channels))
        stated = uncertainty(
            left[None],
            left[None],
            columns[None],
            np.ones((1, channels, ROWS), bool),
            np.full(channels, 1e6),
            np.arange(total)[None],
            total,
            np.zeros(total),
            ["one", "other"],
        )
        held.append(np.abs(error) < 1.96 * np.sqrt(np.diagonal(stated.covariance)))
    shares = np.mean(held, axis=0)
    assert np.all((shares > 0.88) & (shares < 0.99)), shares
    assert 0.91 < np.mean(shares) < 0.98


def test_a_long_log_is_left_alone():
    generator = np.random.default_rng(1)
    residuals, slopes = generator.standard_normal(5000), generator.standard_normal((5000, 3))
    (found,) = processes([Stretch([residuals], [slopes], np.arange(3))], np.zeros(3), 1e-2)
    plain = autoregression([residuals])
    np.testing.assert_array_equal(found[0], plain[0])
    assert found[1] == plain[1]


def test_nothing_to_learn_from():
    assert processes([], np.zeros(2), 1e-2) == []
    empty = Stretch([np.zeros(0)], [np.zeros((0, 2))], np.arange(2))
    (found,) = processes([empty], np.zeros(2), 1e-2)
    assert found[1] == 0.0


def test_whitening_undoes_the_process():
    white = np.random.default_rng(2).standard_normal((50, 3))
    process = np.asarray(lfilter([2.0], [1.0, -0.5, 0.2], white, axis=0))
    np.testing.assert_allclose(whitened(process, np.array([1.0, -0.5, 0.2]), 4.0), white, atol=1e-12)


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e13, 1e70])
def test_slopes_that_explode_leave_a_process(size):
    """A chaotic run: all slopes grow alike, so that initial states take up whatever the coordinates do."""
    generator = np.random.default_rng(4)
    growth = size * np.exp(np.linspace(0, 30, ROWS))[:, None]
    slopes = growth * (1 + 1e-9 * generator.standard_normal((ROWS, SHARED + OWN)))
    left = _noise(generator)[0]
    ((coefficients, variance),) = processes([Stretch([left], [slopes], np.arange(SHARED))], np.zeros(SHARED), 0.01)
    assert np.all(np.isfinite(coefficients))
    assert np.isfinite(variance)
    assert variance > 0
