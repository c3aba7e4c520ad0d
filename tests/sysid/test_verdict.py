"""What a fit says against itself, from estimates and correlations made by hand."""

import numpy as np
import pytest

from sysid._estimate import Estimate
from sysid._verdict import confounded

NAMES = ("resistance", "motor_constant", "inertia", "current_limit", "stribeck_velocity")


def told(flags: tuple[str, ...], pairs: dict[tuple[int, int], float]) -> list[tuple[str, tuple[str, ...]]]:
    """Message and names of the caution about five parameters with these flags, entangled by pairs."""
    estimates = [Estimate(name, 1.0, "", None, None, flag, None) for name, flag in zip(NAMES, flags, strict=True)]
    correlation = np.eye(5)
    for (row, column), size in pairs.items():
        correlation[row, column] = correlation[column, row] = size
    return [(caution.message, caution.parameters) for caution in confounded(estimates, NAMES, correlation)]


KNOWN, WEAK, OPEN, BOUND = "identified", "weak", "open", "at bound"


def test_a_pair_is_named_with_its_correlation():
    ((message, concerned),) = told((WEAK, WEAK, KNOWN, KNOWN, KNOWN), {(0, 1): -0.991})
    assert "resistance and motor_constant (correlation 0.99)" in message
    assert concerned == ("resistance", "motor_constant")


def test_what_hangs_together_is_one_group():
    pairs = {(0, 1): 0.98, (1, 3): 0.992, (2, 4): 0.975}
    ((message, concerned),) = told((OPEN, WEAK, WEAK, OPEN, OPEN), pairs)
    assert "resistance, motor_constant and current_limit (correlations 0.98 to 0.99); inertia and" in message
    assert concerned == ("resistance", "motor_constant", "current_limit", "inertia", "stribeck_velocity")


def test_one_at_its_bound_counts_as_if_it_stood_off_it():
    ((message, _),) = told((BOUND, WEAK, KNOWN, KNOWN, KNOWN), {(0, 1): 0.99})
    assert "resistance and motor_constant" in message


@pytest.mark.parametrize(
    ("flags", "pairs"),
    [
        ((KNOWN,) * 5, {(0, 1): 0.999}),
        ((WEAK,) * 5, {(0, 1): 0.96}),
        ((BOUND,) * 5, {(0, 1): 1.0}),
    ],
    ids=["both known all the same", "hardly entangled", "both at bounds"],
)
def test_nothing_is_said_without_need(flags, pairs):
    assert told(flags, pairs) == []
