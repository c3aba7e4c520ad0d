"""What is left of a log is called by its name: one-sided, late, drifting or off; and a clean log is called nothing."""

import numpy as np
import pytest
from scipy.signal import lfilter

import sysid
from sysid._choose import choose_model

from . import motor_logs
from .motor_logs import CURRENT_NOISE, SPEED_NOISE, TRUTH, brushed, levels, log

SHAPES = {"one_sided_residuals", "lagging_residuals", "drifting_residuals", "offset_residuals"}
ROWS, STEP = 800, 2e-3


def warmed(seed: int) -> dict[str, np.ndarray]:
    """A motor whose winding warms up: 19 % more resistance at the end, each row exact at its own."""
    random, volts = np.random.default_rng(1000 + seed), levels(ROWS, seed)
    current, speed = np.zeros(ROWS), np.zeros(ROWS)
    moving = 0.0
    for n in range(ROWS):
        resistance = TRUTH["resistance"] * (1 + 0.2 * (1 - np.exp(-3 * n / ROWS)))
        numbers = {**TRUTH, "inductance": 0.0, "resistance": resistance}
        speed[n], current[n] = moving, (volts[n] - TRUTH["motor_constant"] * moving) / resistance
        _, moving, _ = motor_logs._row(moving, 0.0, volts[n], STEP, numbers)
    return {
        "time": STEP * np.arange(ROWS),
        "voltage": volts,
        "current": current + CURRENT_NOISE * random.standard_normal(ROWS),
        "velocity": speed + SPEED_NOISE * random.standard_normal(ROWS),
    }


def late(values: np.ndarray, rows: int) -> np.ndarray:
    return np.concatenate([np.full(rows, values[0]), values[:-rows]])


def spoiled(kind: str, seed: int) -> dict[str, np.ndarray]:
    made = brushed(seed=seed)
    noise = CURRENT_NOISE * np.random.default_rng(seed).standard_normal(ROWS)
    current, speed = made["current"], made["velocity"]
    decay = np.exp(-STEP / 6e-3)
    changes = {
        "clipped": {"current": np.clip(current, -3, 3)},
        "limited above": {"current": np.minimum(current, 2.5) + noise},
        "limited": {"current": np.clip(current, -3, 3) + noise},
        "late drive": {"voltage": np.concatenate([made["voltage"][3:], np.full(3, made["voltage"][-1])])},
        "late speed": {"velocity": late(speed, 2)},
        "filtered speed": {"velocity": lfilter([1 - decay], [1, -decay], speed)},
        "drifting ammeter": {"current": current + np.linspace(0, 0.2, ROWS)},
        "ammeter off": {"current": current + 0.1},
    }
    return warmed(seed) if kind == "warm" else {**made, **changes[kind]}


@pytest.fixture(scope="module")
def model():
    """The model of a log without faults, for all: a clipped current would be given an inductance."""
    return choose_model([log(brushed(seed=1))])


def shapes(result: sysid.Fit) -> dict[str, str]:
    return {caution.code: caution.message for caution in result.cautions if caution.code in SHAPES}


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_clean_log_is_called_nothing(model, seed):
    result = sysid.fit(log(brushed(seed=seed)), model=model)
    assert shapes(result) == {}
    assert result.status == "ok"
    # One log has nothing to lie apart from.
    assert result.spreads == ()


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("clipped", "one_sided_residuals", ("current", "-3 A and 3 A", "--limit current=3")),
        ("limited", "one_sided_residuals", ("current", "--limit current=3")),
        ("limited above", "one_sided_residuals", ("current", "2.5 A", "--limit current=2.5")),
        ("late drive", "lagging_residuals", ("than commanded", "--free delay")),
        ("late speed", "lagging_residuals", ("velocity", "too late")),
        ("filtered speed", "lagging_residuals", ("velocity", "too late")),
        ("warm", "drifting_residuals", ("resistance went from 1.3", "warms up")),
        ("drifting ammeter", "drifting_residuals", ("current drift", "zero moves")),
        ("ammeter off", "offset_residuals", ("current", "--free current_offset")),
    ],
)
def test_a_fault_is_called_by_its_name(model, kind, code, words, seed):
    result = sysid.fit(log(spoiled(kind, seed)), model=model)
    assert result.status == "warning"
    found = shapes(result)
    assert set(found) == {code}, found
    for word in words:
        assert word in found[code]


@pytest.mark.slow
def test_a_law_that_is_missing_is_none_of_them(model):
    result = sysid.fit(log(brushed(seed=1)), model=model, fix={"coulomb_friction": 1e-9})
    assert result.status == "warning"
    assert shapes(result) == {}
