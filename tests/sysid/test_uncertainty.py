"""Error bars: in closed form where there is one, and by counting how often they hold the truth."""

import dataclasses

import numpy as np
import pytest
from scipy.signal import lfilter

from sysid._choose import choose_model
from sysid._fleet import fit_fleet
from sysid._free import Free
from sysid._uncertainty import uncertainty

from .intervals import shares_held
from .motor_logs import CURRENT_NOISE, SPEED_NOISE, TRUTH, brushed, levels, log

FAR = np.array([1e6])


def _stated(columns, residuals, *, own=0, prior=None, bends=FAR, usable=None, halved=None):
    """The uncertainty of a linear problem of one channel and one segment."""
    rows, total = columns.shape[0], columns.shape[1] - own
    residuals = residuals.reshape(1, 1, rows)
    return uncertainty(
        residuals,
        residuals if halved is None else halved.reshape(1, 1, rows),
        columns.reshape(1, 1, rows, -1),
        np.ones((1, 1, rows), bool) if usable is None else usable.reshape(1, 1, rows),
        bends,
        np.arange(total)[None],
        total,
        np.zeros(total) if prior is None else prior,
        ["speed"],
    )


def _linear(rows=4000, seed=0, columns=3):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((rows, columns)) * [1.0, 50.0, 1e-3][:columns], generator


def test_white_residuals_give_the_textbook_covariance():
    columns, generator = _linear()
    found = _stated(columns, 0.3 * generator.standard_normal(4000))
    np.testing.assert_allclose(found.information, columns.T @ columns, rtol=1e-9)
    expected = 0.09 * np.linalg.inv(columns.T @ columns)
    np.testing.assert_allclose(np.diagonal(found.covariance), np.diagonal(expected), rtol=0.06)
    assert abs(found.correlation["speed"]) < 0.05
    assert found.inflation["speed"] == pytest.approx(1.0, abs=0.3)
    assert found.misfit["speed"] == pytest.approx(0.09, rel=0.06)


def test_residuals_with_memory_widen_slow_parameters_and_narrow_quick_ones():
    rows, rho = 8000, 0.9
    columns = np.stack([np.ones(rows), (-1.0) ** np.arange(rows)], 1)
    noise = np.asarray(lfilter([1.0], [1.0, -rho], np.random.default_rng(1).standard_normal(rows)))
    found = np.sqrt(np.diagonal(_stated(columns, noise).covariance) * rows)
    np.testing.assert_allclose(found, [1 / (1 - rho), 1 / (1 + rho)], rtol=0.15)


def test_initial_states_are_paid_for():
    rows = 300
    generator = np.random.default_rng(2)
    columns = np.stack([np.linspace(0, 1, rows) + 0.5, np.exp(-np.arange(rows) / 40)], 1)
    noise = generator.standard_normal(rows)
    found = _stated(columns, noise, own=1)
    # The initial state is known beforehand to ten widths.
    full = np.linalg.inv(columns.T @ columns + np.diag([0.0, 0.01]))
    assert found.covariance[0, 0] == pytest.approx(full[0, 0] * np.var(noise), rel=0.1)


def test_a_prior_counts_as_information():
    columns, generator = _linear(columns=1)
    found = _stated(1e-6 * columns, generator.standard_normal(4000), prior=np.array([25.0]))
    assert found.covariance[0, 0] == pytest.approx(1 / 25, rel=1e-3)


def test_outliers_do_not_rule():
    columns, generator = _linear(columns=1)
    noise = generator.standard_normal(4000)
    noise[::50] += 300
    robust = _stated(columns, noise, bends=np.array([2.0])).covariance[0, 0]
    assert robust < 3 / float((columns.T @ columns)[0, 0])


def test_rows_without_measurement_count_nothing():
    columns, generator = _linear(columns=2)
    noise, usable = generator.standard_normal(4000), np.arange(4000) < 1000
    first = _stated(columns, noise, usable=usable)
    second = _stated(columns[:1000], noise[:1000])
    np.testing.assert_allclose(first.covariance, second.covariance, rtol=1e-9)


def test_a_direction_without_data_has_a_huge_finite_variance():
    columns, generator = _linear(columns=1)
    twice = np.concatenate([columns, columns], 1)
    found = _stated(twice, generator.standard_normal(4000))
    diagonal = np.diagonal(found.covariance)
    assert np.all(np.isfinite(found.covariance))
    assert np.all(diagonal > 1e4 / float((columns.T @ columns)[0, 0]))


def test_nothing_that_moves_has_no_uncertainty():
    found = _stated(np.ones((50, 0)), np.ones(50))
    assert found.covariance.shape == (0, 0)
    assert found.misfit["speed"] == 1.0


def test_the_shift_of_a_halved_step():
    columns, generator = _linear(columns=2)
    noise = 1e-3 * generator.standard_normal(4000)
    found = _stated(columns, noise, halved=noise + columns @ [0.02, -3e-4])
    np.testing.assert_allclose(found.step_shift, [-0.02, 3e-4], rtol=1e-3)


ROWS, STEP = 256, 4e-3


def _noises(kind: str, rows: int, generator: np.random.Generator) -> np.ndarray:
    white = generator.standard_normal(rows + 100)
    if kind == "memory":
        return np.asarray(lfilter([np.sqrt(1 - 0.81)], [1.0, -0.9], white))[100:]
    return white[100:]


def _covered(kind: str, runs: int) -> dict[str, float]:
    """Share of runs whose 95 % interval holds the truth, per parameter.

    All runs are one fleet, which gives what single fits give (`test_fleet`) in a fraction of their time.
    """
    clean = brushed(seed=11, rows=ROWS, step=STEP, noise=0.0, voltage=levels(ROWS, 11, hold=16))
    model = choose_model([log(clean)])
    at_truth = tuple(dataclasses.replace(p, start=TRUTH[p.name]) for p in model.free.parameters)
    model = dataclasses.replace(model, free=Free(at_truth))
    logs = []
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        noisy = dict(clean)
        for channel, size, quantum in (("current", CURRENT_NOISE, 0.02), ("velocity", SPEED_NOISE, 0.1)):
            noisy[channel] = clean[channel] + size * _noises(kind, ROWS, generator)
            if kind == "quantised":
                noisy[channel] = np.round(noisy[channel] / quantum) * quantum
        logs.append(log(noisy, name=f"{kind}{seed}"))
    return shares_held(fit_fleet(logs, model=model, starts=1, substeps=1), TRUTH)


@pytest.mark.parametrize("kind", ["white", "quantised", "memory"])
def test_intervals_hold_the_truth(kind):
    shares = _covered(kind, 200)
    low, high = (0.88, 0.995) if kind == "memory" else (0.90, 0.99)
    assert all(low <= share <= high for share in shares.values()), shares


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["white", "quantised", "memory"])
def test_intervals_hold_the_truth_in_a_thousand_runs(kind):
    shares = _covered(kind, 1000)
    low, high = (0.88, 0.99) if kind == "memory" else (0.92, 0.98)
    assert all(low <= share <= high for share in shares.values()), shares
    assert 0.92 <= np.mean(list(shares.values())) <= 0.98
