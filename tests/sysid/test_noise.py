"""The noise of a channel, from the channel alone."""

import numpy as np
import pytest

from sysid._noise import sensor_noise


def _noise(values, usable=None):
    return sensor_noise(values, np.ones(len(values), bool) if usable is None else usable)


@pytest.mark.parametrize("level", [1e-4, 0.01, 0.3])
def test_noise_on_a_smooth_signal(level):
    time = np.arange(3000) * 1e-3
    signal = np.sin(9 * time) + level * np.random.default_rng(0).standard_normal(3000)
    assert _noise(signal) == pytest.approx(level, rel=0.1)


def test_steps_do_not_count_as_noise():
    values = np.repeat([0.0, 50.0, -20.0, 3.0], 300) + 0.02 * np.random.default_rng(1).standard_normal(1200)
    assert _noise(values) == pytest.approx(0.02, rel=0.15)


def test_quantised_noise_has_both_parts():
    signal = 3 * np.sin(np.arange(4000) * 2e-3)
    quantum = 0.05
    assert _noise(np.round(signal / quantum) * quantum) == pytest.approx(quantum / np.sqrt(12), rel=0.3)
    noisy = signal + 0.1 * np.random.default_rng(2).standard_normal(4000)
    expected = np.hypot(0.1, quantum / np.sqrt(12))
    assert _noise(np.round(noisy / quantum) * quantum) == pytest.approx(expected, rel=0.1)


def test_missing_samples_are_left_out():
    values = np.sin(np.arange(2000) * 1e-2) + 0.05 * np.random.default_rng(3).standard_normal(2000)
    usable = np.arange(2000) % 5 == 0
    spoiled = np.where(usable, values, 1e6)
    assert _noise(spoiled, usable) == pytest.approx(0.05, rel=0.2)


@pytest.mark.parametrize("values", [np.zeros(100), np.full(100, 7.0), np.arange(3.0), np.zeros(0)])
def test_never_zero(values):
    assert 0 < _noise(values) < 1
