"""What a log fixes and what it leaves open."""

import numpy as np
import pytest

from sysid._identifiability import OPEN, directions, in_words


def test_a_ridge_is_found_and_named():
    # A log that shows K^2 / R and J, but not K and R apart.
    slopes = np.array([[-1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    information = slopes.T @ np.diag([1e4, 1e2]) @ slopes
    # A belief so weak that it fixes nothing, yet not so weak that rounding of the open direction hides the fixed ones.
    covariance = np.linalg.inv(information + 1e-6 * np.eye(3))
    found = directions(information, covariance, np.ones(3))
    fixed = [d for d in found if d.spread <= OPEN]
    assert len(fixed) == 2
    names = ["resistance", "motor_constant", "inertia"]
    assert in_words(fixed[0], names) == "resistance^-0.5 motor_constant"
    assert in_words(fixed[1], names) == "inertia"
    assert fixed[0].spread == pytest.approx(1e-2 / np.sqrt(5), rel=1e-3)
    np.testing.assert_allclose(np.abs(found[-1].weights), [2 / np.sqrt(5), 1 / np.sqrt(5), 0], atol=1e-6)


def test_sizes_turn_coordinates_into_relative_changes():
    information = np.diag([4.0, 9.0])
    found = directions(information, np.linalg.inv(information), np.array([2.0, 3.0]))
    np.testing.assert_allclose([d.spread for d in found], [1.0, 1.0])


def test_nothing_free():
    assert directions(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0)) == []
