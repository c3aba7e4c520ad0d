"""Wrapped angles and registers made continuous."""

import pathlib

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sysid._angle import register_period, unwrap, wraps
from sysid._read import read_log

TURN = 2.0 * np.pi


def wrapped(angle: np.ndarray) -> np.ndarray:
    return (angle + np.pi) % TURN - np.pi


def test_counts() -> None:
    assert np.diff(unwrap(np.array([4090.0, 2.0]), 4096.0)).tolist() == [8.0]
    assert np.diff(unwrap(np.array([3.0, 4093.0]), 4096.0)).tolist() == [-6.0]


@given(
    steps=st.lists(st.floats(-0.49, 0.49), min_size=2, max_size=60),
    start=st.floats(-20.0, 20.0),
    period=st.sampled_from([TURN, 1.0, 360.0, 4096.0]),
)
def test_unwrapping_undoes_wrapping(steps: list[float], start: float, period: float) -> None:
    angle = period * (start + np.concatenate([[0.0], np.cumsum(steps)]))
    back = unwrap(angle % period, period)
    np.testing.assert_allclose(np.diff(back), np.diff(angle), atol=1e-9 * period)
    assert back[0] == angle[0] % period


@pytest.mark.parametrize("rate", [-1.9, -0.4, 0.4, 1.9, 2.8])
@pytest.mark.parametrize("lost", [1, 2, 5])
def test_missing_readings_at_the_wrap(rate: float, lost: int) -> None:
    angle = rate * np.arange(80.0)
    usable = np.ones(80, dtype=bool)
    for place in (20, 41, 63):
        usable[place : place + lost] = False
    back = unwrap(np.where(usable, wrapped(angle), 0.0), usable=usable)
    np.testing.assert_allclose(back[usable], angle[usable], atol=1e-9)


def test_a_gap_of_time_is_bridged_by_the_speed_on_both_sides() -> None:
    time = np.concatenate([np.arange(40) * 0.01, 0.6 + np.arange(40) * 0.01])
    angle = 60.0 * time
    np.testing.assert_allclose(unwrap(wrapped(angle), time=time), angle, atol=1e-9)


def test_only_what_wraps_is_touched() -> None:
    assert not wraps(np.linspace(-3.0, 3.0, 50))
    assert not wraps(np.cumsum(np.full(50, 4.0)))
    assert wraps(wrapped(np.linspace(0.0, 9.0, 50)))
    assert register_period(np.array([65530.0, 65534.0, 2.0, 6.0]), 4096.0) == 65536.0
    assert register_period(np.array([4090.0, 4094.0, 2.0, 6.0]), 4096.0) == 4096.0
    assert register_period(np.array([0.0, 50000.0, 0.0]), 4096.0) is None


def write(folder: pathlib.Path, angle: np.ndarray, header: str, step: float = 0.01) -> pathlib.Path:
    path = folder / "turn.csv"
    rows = (f"{k * step:.5f},{'' if np.isnan(value) else repr(float(value))}\n" for k, value in enumerate(angle))
    path.write_text(f"t,{header}\n" + "".join(rows))
    return path


@pytest.mark.parametrize(
    ("header", "turn"),
    [("angle [rad]", TURN), ("angle [deg]", 360.0), ("angle [turn]", 1.0), ("angle [ticks]", 4096.0)],
)
@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_reading_in_any_unit(tmp_path: pathlib.Path, header: str, turn: float, direction: float) -> None:
    turns = direction * np.linspace(0.0, 1.0, 120) ** 2 * 9.0
    raw = turns % 1.0 * turn
    raw[[33, 70, 71, 100]] = np.nan
    log = read_log(write(tmp_path, raw, header), counts_per_turn=4096.0)
    mask = log.masks["position"]
    assert mask.sum() == 116
    np.testing.assert_allclose(log.channels["position"][mask], turns[mask] * TURN, atol=1e-9)
    assert "wrapped_angle" in [item.code for item in log.findings]
    kept = read_log(write(tmp_path, raw, header), counts_per_turn=4096.0, keep=("wrapped_angle",))
    assert np.ptp(kept.channels["position"]) < TURN


def test_a_16_bit_register_of_counts(tmp_path: pathlib.Path) -> None:
    counts = 64000 + 37 * np.arange(100)
    log = read_log(write(tmp_path, (counts % 65536).astype(float), "position [counts]"), counts_per_turn=4096.0)
    np.testing.assert_allclose(np.diff(log.channels["position"]), 37.0 / 4096.0 * TURN, atol=1e-9)


def test_fast_steps_are_told(tmp_path: pathlib.Path) -> None:
    # 400 rad/s at 10 ms: 4 rad per step, which the shorter way round makes -2.28 rad.
    log = read_log(write(tmp_path, wrapped(4.0 * np.arange(60.0)), "angle"))
    told = next(item for item in log.findings if item.code == "fast_angle")
    assert told.severity == "warning"
    assert told.count == 59
    assert np.diff(log.channels["position"])[0] / 0.01 == pytest.approx(-228.32, abs=0.01)
    slow = read_log(write(tmp_path, wrapped(2.0 * np.arange(60.0)), "angle"))
    assert "fast_angle" not in [item.code for item in slow.findings]


def test_gear_divides_the_motor_side(tmp_path: pathlib.Path) -> None:
    log = read_log(write(tmp_path, np.linspace(0.0, 32.0, 50), "motor angle"), gear=16.0)
    assert log.channels["position"][-1] == pytest.approx(2.0)
    assert "gear" in [item.code for item in log.findings]


def test_shared_wrapped_angle(shared: pathlib.Path) -> None:
    log = read_log(shared / "logs" / "synthetic" / "s04_wrap_pi.csv")
    assert log.channels["position"][-1] == pytest.approx(81.514, abs=0.01)
    assert np.abs(np.diff(log.channels["position"])).max() == pytest.approx(0.460, abs=0.005)
