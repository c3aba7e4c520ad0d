"""The reference logs come out as their truth says."""

import json
import pathlib

import numpy as np
import pytest

from sysid._errors import LogError
from sysid._log import Log
from sysid._read import read_log


@pytest.mark.parametrize(
    "name", ["s01_ms_timestamps", "s06_rpm", "s09_header_units", "s10_semicolon_decimal_comma", "s13_inductance"]
)
def test_shared_logs(shared: pathlib.Path, name: str) -> None:
    log = read_log(shared / "logs" / "synthetic" / f"{name}.csv")
    assert len(log) == (1400 if "s13" in name else 800)
    assert log.dt == pytest.approx(0.00025 if "s13" in name else 0.002, rel=1e-6)
    assert set(log.channels) == {"voltage", "current", "velocity"}
    assert log.time[0] == 0.0
    if "s13" not in name:  # without inductance the voltage is R i + K w at every row
        truth = json.loads((shared / "logs" / "synthetic" / f"{name}.json").read_text())["truth"]
        regressors = np.stack([log.channels["current"], log.channels["velocity"]], axis=1)
        fitted = np.linalg.lstsq(regressors, log.channels["voltage"])[0]
        np.testing.assert_allclose(fitted, [truth["R"], truth["K"]], rtol=0.01)


def test_shared_decimal_commas_equal_dots(shared: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = shared / "logs" / "synthetic" / "s10_semicolon_decimal_comma.csv"
    dots = tmp_path / "dots.csv"
    dots.write_bytes(source.read_bytes()[3:].replace(b",", b".").replace(b";", b","))
    log, copy = read_log(source), read_log(dots)
    assert len(log) == 800
    for channel in log.channels:
        np.testing.assert_array_equal(log.channels[channel], copy.channels[channel])


def test_shared_robotino(shared: pathlib.Path) -> None:
    path = shared / "logs" / "real" / "robotino_dc" / "data_for_identification_with_integral.csv"
    with pytest.raises(LogError, match=r"choose with --joint 1\|2\|3"):
        read_log(path)
    log = read_log(path, joint=3)
    assert log.columns["velocity"] == "3rd motor velocity [rad/s]"
    assert log.units["command"] == "rad/s"
    assert log.dt == pytest.approx(0.0306, abs=2e-4)
    assert log.channels["current"].min() < 0.0
    assert {"unsigned_current", "unit_unknown"} <= {item.code for item in log.findings}
    named = read_log(path, columns="time=Time,velocity=m3vel,current=m3cur")
    np.testing.assert_array_equal(named.channels["velocity"], log.channels["velocity"])


def test_shared_pendulum(shared: pathlib.Path) -> None:
    log = read_log(shared / "logs" / "real" / "ak80_dfki_pendulum" / "sysid_data_measured.csv")
    assert set(log.channels) == {"position", "velocity", "torque"}
    assert len(log) == 1170
    assert all(mask.all() for mask in log.masks.values())


def shared_log(shared: pathlib.Path, name: str, **options: object) -> Log:
    return read_log(next((shared / "logs" / "synthetic").glob(f"{name}_*.csv")), **options)  # pyright: ignore[reportArgumentType]


def test_shared_milliseconds(shared: pathlib.Path, tmp_path: pathlib.Path) -> None:
    log = shared_log(shared, "s01")
    np.testing.assert_allclose(np.diff(log.time), 0.002, atol=1e-12)
    assert log.time[0] == 0.0
    bare = tmp_path / "bare.csv"
    bare.write_text((shared / "logs" / "synthetic" / "s01_ms_timestamps.csv").read_text().replace("time_ms", "time"))
    with pytest.raises(LogError, match="--time-unit"):
        read_log(bare)


def test_shared_jitter_duplicates_drift_and_gaps(shared: pathlib.Path) -> None:
    jitter = shared_log(shared, "s02")
    assert len(jitter) == 900
    assert len(jitter.breaks) == 0
    doubled = shared_log(shared, "s03")
    assert len(doubled) == 800
    assert next(item.count for item in doubled.findings if item.code == "duplicate_rows") == 70
    drift = shared_log(shared, "s07", rate=500.0)
    assert {"time_drift", "rate_differs"} <= ({item.code for item in drift.findings})
    gaps = shared_log(shared, "s08")
    ends = [0.252, 0.362, 0.642, 0.866, 1.124, 1.234]
    np.testing.assert_allclose(gaps.time[gaps.breaks], ends, atol=0.0021)
