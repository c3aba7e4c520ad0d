"""The autoregression of residuals, and the spread of sums over them."""

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.signal import lfilter

from sysid._autocorrelation import autoregression, spread


def _process(coefficients, rows, seed, runs=1):
    generator = np.random.default_rng(seed)
    return [np.asarray(lfilter([1.0], coefficients, generator.standard_normal(rows + 200)))[200:] for _ in range(runs)]


def test_white_noise_has_order_zero():
    for seed in range(20):
        coefficients, variance = autoregression(_process([1.0], 2000, seed))
        assert len(coefficients) == 1
        assert variance == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("truth", [[1.0, -0.9], [1.0, -1.5, 0.7], [1.0, 0.5], [1.0, -0.4, 0.0, 0.3]])
def test_an_autoregression_is_recovered(truth):
    coefficients, variance = autoregression(_process(truth, 6000, seed=3, runs=3))
    found = np.zeros(max(len(truth), len(coefficients)))
    found[: len(coefficients)] = coefficients
    np.testing.assert_allclose(found[: len(truth)], truth, atol=0.04)
    assert np.all(np.abs(found[len(truth) :]) < 0.06)
    assert variance == pytest.approx(1.0, abs=0.05)


def test_it_is_stable_even_for_a_drift():
    coefficients, variance = autoregression([np.linspace(-1, 1, 500) ** 3])
    assert np.all(np.abs(np.roots(coefficients)) < 1)
    assert variance >= 0


@pytest.mark.parametrize("runs", [[], [np.zeros(0)], [np.zeros(50)], [np.ones(1)]])
def test_nothing_to_learn_from(runs):
    coefficients, variance = autoregression(runs)
    assert list(coefficients) == [1.0]
    assert variance == 0.0


def test_runs_may_differ_in_length_and_scale_counts():
    short, long = _process([1.0, -0.8], 40, 1)[0], _process([1.0, -0.8], 4000, 2)[0]
    coefficients, _ = autoregression([3 * short, 3 * long, np.ones(2)])
    assert coefficients[1] == pytest.approx(-0.8, abs=0.06)


def test_spread_is_the_dense_product():
    rows, rho = 300, 0.85
    columns = np.random.default_rng(0).standard_normal((rows, 3)).cumsum(axis=0)
    covariance = toeplitz(rho ** np.arange(rows)) / (1 - rho**2)
    dense = columns.T @ covariance @ columns
    # The filter starts from rest, the dense process does not: the rows at the end feel it.
    np.testing.assert_allclose(spread(columns, np.array([1.0, -rho]), 1.0), dense, rtol=0.1)
    lower = np.linalg.inv(toeplitz(np.r_[1.0, -rho, np.zeros(rows - 2)], np.r_[1.0, np.zeros(rows - 1)]))
    np.testing.assert_allclose(
        spread(columns, np.array([1.0, -rho]), 2.0), 2 * columns.T @ lower @ lower.T @ columns, rtol=1e-10
    )


def test_spread_of_white_noise_is_plain():
    columns = np.random.default_rng(1).standard_normal((50, 2))
    np.testing.assert_allclose(spread(columns, np.ones(1), 0.3), 0.3 * columns.T @ columns, rtol=1e-13)
