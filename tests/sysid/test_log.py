"""A log: finite everywhere, cut and resampled without inventing measurements, the same after save and load."""

import pathlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sysid._errors import LogError
from sysid._log import Log
from sysid._read import read_log

ROWS = 50


def make(**changes: object) -> Log:
    time = np.arange(ROWS) * 0.01
    channels = {"voltage": np.repeat(np.arange(5.0), 10), "velocity": 3.0 * time, "position": 1.5 * time**2}
    return Log("made", time, channels).replace(**changes)


def masked(channel: str, *rows: int) -> dict[str, np.ndarray]:
    mask = np.ones(ROWS, dtype=bool)
    mask[list(rows)] = False
    return make().masks | {channel: mask}


def test_everything_is_filled_in() -> None:
    log = make()
    assert len(log) == ROWS
    assert log.duration == pytest.approx(0.49)
    assert log.dt == pytest.approx(0.01)
    assert log.steps.shape == (ROWS,)
    assert log.units == {"voltage": "V", "velocity": "rad/s", "position": "rad"}
    assert all(mask.all() for mask in log.masks.values())
    assert not any(held.any() for held in log.held.values())
    assert log.resets.tolist() == [True] + [False] * 49
    assert "50 rows" in repr(log)


def test_nan_becomes_a_masked_placeholder() -> None:
    current = np.arange(float(ROWS))
    current[[0, 7, 8]] = np.nan, np.inf, np.nan
    log = Log("made", np.arange(ROWS) * 0.01, {"current": current})
    assert np.flatnonzero(~log.masks["current"]).tolist() == [0, 7, 8]
    assert log.channels["current"][[0, 7, 8]].tolist() == [1.0, 6.0, 6.0]
    nothing = Log("made", np.arange(ROWS) * 0.01, {"current": np.full(ROWS, np.nan)})
    assert not nothing.masks["current"].any()
    assert not nothing.channels["current"].any()


@pytest.mark.parametrize(
    ("time", "channels", "match"),
    [
        (np.arange(3.0), {"speed": np.zeros(3)}, "unknown channel 'speed'"),
        (np.arange(3.0), {"velocity": np.zeros(4)}, "has the shape"),
        (np.array([0.0, 1.0, 1.0]), {"velocity": np.zeros(3)}, "must be finite and increase"),
        (np.array([0.0, np.nan]), {"velocity": np.zeros(2)}, "must be finite and increase"),
        (np.zeros(1), {}, "at least 2 rows"),
    ],
)
def test_bad_logs_are_refused(time: np.ndarray, channels: dict[str, np.ndarray], match: str) -> None:
    with pytest.raises(LogError, match=match):
        Log("bad", time, channels)


def test_select_keeps_breaks_and_makes_new_ones() -> None:
    log = make(breaks=np.array([20, 40]))
    part = log.select(slice(10, 45))
    assert part.time[0] == 0.0
    assert part.breaks.tolist() == [10, 30]
    holes = log.select(np.flatnonzero(np.isin(np.arange(ROWS), [4, 5, 6, 9, 10, 19, 21, 22, 23])))
    assert holes.breaks.tolist() == [3, 5, 6]
    assert log.select(np.arange(ROWS) < 20).breaks.tolist() == []
    with pytest.raises(LogError, match="1 rows selected"):
        log.select(slice(3, 4))


def test_resample_on_rows_changes_nothing() -> None:
    log = make().resample(0.01)
    for channel, values in make().channels.items():
        np.testing.assert_allclose(log.channels[channel], values, atol=1e-12)
        assert log.masks[channel].all()


def test_resample_holds_inputs_and_interpolates_measurements() -> None:
    log = make().resample(0.004)
    np.testing.assert_allclose(log.time, np.arange(123) * 0.004)
    np.testing.assert_allclose(log.channels["velocity"], 3.0 * log.time, atol=1e-12)
    np.testing.assert_array_equal(log.channels["voltage"], np.floor(log.time / 0.1 + 1e-9))
    assert log.masks["velocity"].all()


def test_resample_never_crosses_missing_rows_or_breaks() -> None:
    log = make(masks=masked("velocity", 20, 21), breaks=np.array([30])).resample(0.005)
    lost = np.flatnonzero(~log.masks["velocity"])
    assert lost.tolist() == [39, 40, 41, 42, 43, 59]
    assert log.breaks.tolist() == [60]
    assert np.flatnonzero(~log.masks["voltage"]).tolist() == [59]


def test_resample_across_a_gap() -> None:
    time = np.concatenate([np.arange(20) * 0.01, 0.5 + np.arange(20) * 0.01])
    log = Log("gap", time, {"voltage": np.arange(40.0), "velocity": time}, breaks=np.array([20])).resample(0.01)
    inside = (log.time > 0.195) & (log.time < 0.495)
    for channel in ("voltage", "velocity"):
        np.testing.assert_array_equal(log.masks[channel], ~inside)
    assert log.time[log.breaks].tolist() == pytest.approx([0.5])


def test_resample_interpolates_a_held_channel_between_fresh_rows() -> None:
    fresh = np.arange(ROWS) % 5 == 0
    held = np.where(fresh, 3.0 * np.arange(ROWS) * 0.01, 0.0)
    log = make(channels=make().channels | {"velocity": held}, masks=make().masks | {"velocity": fresh}).resample(0.01)
    inner = log.time <= 0.45 + 1e-9
    np.testing.assert_array_equal(log.masks["velocity"], inner)
    np.testing.assert_allclose(log.channels["velocity"][inner], 3.0 * log.time[inner], atol=1e-12)


@pytest.mark.parametrize("dt", [0.0, -1.0, 5.0])
def test_resample_refuses(dt: float) -> None:
    with pytest.raises(LogError, match="cannot resample"):
        make().resample(dt)


def test_save_and_load(tmp_path: pathlib.Path) -> None:
    angle = np.deg2rad(np.linspace(0.0, 380.0, ROWS))
    speed = np.gradient(angle, 0.01)
    log = make(
        channels=make().channels
        | {"velocity": speed, "position": angle, "temperature": np.full(ROWS, 31.5), "command": angle},
        masks=masked("velocity", 3, 4),
        conditions={"mass": 0.49, "length": 0.1},
    )
    log = log.replace(units=log.units | {"command": "rad"})
    log.save(tmp_path / "saved.csv")
    back = read_log(tmp_path / "saved.csv")
    assert back.channels["position"][-1] == pytest.approx(6.632, abs=5e-4)
    assert back.conditions == log.conditions
    assert back.units == log.units
    np.testing.assert_array_equal(back.time, log.time)
    for channel in log.channels:
        np.testing.assert_array_equal(back.masks[channel], log.masks[channel])
        mask = log.masks[channel]
        np.testing.assert_array_equal(back.channels[channel][mask], log.channels[channel][mask])
    assert not [item for item in back.findings if item.severity != "info"]


def test_save_where_it_cannot(tmp_path: pathlib.Path) -> None:
    with pytest.raises(LogError, match="cannot be written"):
        make().save(tmp_path / "absent" / "saved.csv")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(-1e9, 1e9), min_size=12, max_size=40), st.integers(0, 11))
def test_any_torque_survives_saving(tmp_path: pathlib.Path, values: list[float], lost: int) -> None:
    torque = np.array(values)
    torque[lost] = np.nan
    log = Log("any", np.arange(len(values)) * 1e-3, {"torque": torque})
    log.save(tmp_path / "any.csv")
    back = read_log(tmp_path / "any.csv", keep=("held_samples",))
    mask = log.masks["torque"]
    np.testing.assert_array_equal(back.masks["torque"], mask)
    np.testing.assert_array_equal(back.channels["torque"][mask], torque[mask])


def test_resample_refuses_a_grid_beyond_memory() -> None:
    log = Log("long", np.array([0.0, 1e-3, 1e9]), {"velocity": np.zeros(3)})
    with pytest.raises(LogError, match="select the rows of one run"):
        log.resample(1e-3)
