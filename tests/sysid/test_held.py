"""Held samples are found; quantised and constant channels are not mistaken for them."""

import pathlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sysid._held import held_rows
from sysid._read import read_log


def speed(rows: int, seed: int, noise: float = 0.05) -> np.ndarray:
    rng = np.random.default_rng(seed)
    levels = np.repeat(rng.uniform(-200.0, 200.0, rows // 60 + 1), 60)[:rows]
    smooth = np.convolve(levels, np.exp(-np.arange(80) / 20.0) / 20.0)[:rows]
    return smooth + rng.normal(0.0, noise, rows)


def hold(values: np.ndarray, frame: float, phase: float = 0.0) -> np.ndarray:
    """What a logger sees of a sensor that is new every `frame` rows."""
    taken = np.floor((np.arange(len(values)) + phase) / frame) * frame - phase
    return values[np.clip(np.ceil(taken).astype(int), 0, None)]


@pytest.mark.parametrize("frame", [2.0, 2.5, 3.0, 5.0, 7.3, 20.0])
@pytest.mark.parametrize("decimals", [4, 2])
def test_held_samples_are_found(frame: float, decimals: int) -> None:
    values = np.round(hold(speed(1200, 1), frame), decimals)
    held = held_rows(values)
    assert held.mean() == pytest.approx(1.0 - 1.0 / frame, abs=0.03)
    changes = np.flatnonzero(np.diff(values) != 0.0) + 1
    assert not held[changes].any()


def test_a_frame_of_less_than_two_rows() -> None:
    held = held_rows(np.round(hold(speed(1200, 2), 1.3), 4))
    assert held.mean() == pytest.approx(1.0 - 1.0 / 1.3, abs=0.03)


@pytest.mark.parametrize("quantum", [0.1, 0.5, 2.0])
def test_held_and_quantised(quantum: float) -> None:
    held = held_rows(np.round(hold(speed(1500, 7), 5.0) / quantum) * quantum)
    assert held.mean() == pytest.approx(0.8, abs=0.03)


def test_at_rest_every_frame_counts() -> None:
    values = hold(speed(1000, 3), 5.0)
    values[400:700] = 0.0
    fresh = ~held_rows(values)
    assert fresh[400:700].sum() == pytest.approx(60, abs=3)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([0.02398, 0.5, 2.827, 10.0]))
def test_quantised_speed_is_kept(seed: int, quantum: float) -> None:
    values = np.round(speed(800, seed) / quantum) * quantum
    assert not held_rows(values).any()


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.floats(0.02, 3.0))
def test_quantised_angle_is_kept(seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    angle = np.cumsum(np.full(800, rate) + rng.normal(0.0, 0.01, 800))
    assert not held_rows(np.round(angle)).any()


@pytest.mark.parametrize(
    "values",
    [
        np.full(500, 137.0),
        np.repeat([0.0, 100.0, -50.0, 0.0], 125),
        np.concatenate([np.zeros(300), np.linspace(0.0, 50.0, 200)]),
        np.where(np.arange(400) % 2 == 0, 1.0, -1.0),
        np.arange(6.0),
        np.zeros(0),
    ],
)
def test_constant_and_stepped_channels_are_kept(values: np.ndarray) -> None:
    assert not held_rows(values).any()


def test_fresh_noise_is_kept() -> None:
    assert not held_rows(speed(2000, 5)).any()
    assert not held_rows(np.round(speed(2000, 5), 1)).any()


def test_masks_and_option(tmp_path: pathlib.Path) -> None:
    values = np.round(hold(speed(600, 6), 4.0), 4)
    drive = np.repeat(np.random.default_rng(6).uniform(-9.0, 9.0, 60), 10)
    path = tmp_path / "held.csv"
    rows = (f"{k * 0.002:.3f},{drive[k]:.3f},{values[k]}\n" for k in range(600))
    path.write_text("t,u,w\n" + "".join(rows))
    log = read_log(path)
    assert log.masks["velocity"].mean() == pytest.approx(0.25, abs=0.01)
    np.testing.assert_array_equal(log.held["velocity"], ~log.masks["velocity"])
    np.testing.assert_array_equal(log.channels["velocity"], values)
    # A stepped input repeats by nature.
    assert log.masks["voltage"].all()
    told = next(item for item in log.findings if item.code == "held_samples")
    assert "75%" in told.message
    assert told.option == "--keep held_samples"
    assert read_log(path, keep=("held_samples",)).masks["velocity"].all()


def test_shared_held_speed(shared: pathlib.Path) -> None:
    log = read_log(shared / "logs" / "synthetic" / "s16_held_speed_samples.csv")
    assert log.masks["velocity"].mean() == pytest.approx(0.2, abs=0.005)
    assert log.masks["current"].all()
    assert "80%" in next(item for item in log.findings if item.code == "held_samples").message
    mask = log.masks["velocity"]
    regressors = np.stack([log.channels["current"], log.channels["velocity"]], axis=1)[mask]
    resistance, constant = np.linalg.lstsq(regressors, log.channels["voltage"][mask])[0]
    assert resistance == pytest.approx(1.4, rel=0.01)
    assert constant == pytest.approx(0.038, rel=0.01)


def test_real_logs_hold_nothing(shared: pathlib.Path) -> None:
    for path in sorted((shared / "logs" / "real" / "xl330_bam_kp100_400").glob("*.json")):
        assert not any(held.any() for held in read_log(path).held.values())
