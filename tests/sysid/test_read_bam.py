"""BAM recordings, and JSON objects of columns."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from sysid._errors import LogError
from sysid._read import read_log
from sysid._read_json import signed16

ROWS = 60


def recording(**changes: Any) -> dict[str, Any]:
    entries = []
    for row in range(ROWS):
        position = 0.4 * np.sin(0.1 * row)
        entries.append(
            {
                "timestamp": 0.002 + 0.0051 * row,
                "position": position,
                "speed": 0.4 * 0.1 / 0.0051 * np.cos(0.1 * row),
                "load": round(300.0 * np.cos(0.1 * row)) % 65536,
                "input_volts": 7.4 - 0.1 * (row % 3),
                "temp": 30 + row // 30,
                "goal_position": position + 0.1,
                "torque_enable": row < 40,
            }
        )
    return {
        "mass": 0.3,
        "length": 0.12,
        "arm-mass": 0.02,
        "kp": 200,
        "vin": 7.4,
        "motor": "xl330",
        "entries": entries,
    } | changes


def write(folder: pathlib.Path, record: object) -> pathlib.Path:
    path = folder / "run.json"
    path.write_text(record if isinstance(record, str) else json.dumps(record))
    return path


def test_recording(tmp_path: pathlib.Path) -> None:
    log = read_log(write(tmp_path, recording()))
    assert log.conditions == {"mass": 0.3, "length": 0.12, "arm_mass": 0.02, "kp": 200.0, "vin": 7.4}
    assert log.units["command"] == "rad"
    assert log.columns["duty"] == "load [1]"
    np.testing.assert_allclose(log.time, 0.0051 * np.arange(ROWS), atol=1e-12)
    np.testing.assert_allclose(log.channels["duty"], np.round(300.0 * np.cos(0.1 * np.arange(ROWS))) / 885.0)
    np.testing.assert_array_equal(log.channels["torque_enabled"], np.arange(ROWS) < 40)
    assert log.channels["temperature"][-1] == 31.0
    assert "unsigned_register" in [item.code for item in log.findings]


def test_register() -> None:
    np.testing.assert_array_equal(
        signed16(np.array([0.0, 885.0, 32767.0, 32768.0, 65527.0])), [0, 885, 32767, -32768, -9]
    )


def test_missing_members_are_masked(tmp_path: pathlib.Path) -> None:
    record = recording()
    record["entries"][7]["speed"] = None
    del record["entries"][9]["speed"]
    log = read_log(write(tmp_path, record))
    assert np.flatnonzero(~log.masks["velocity"]).tolist() == [7, 9]


def test_an_unknown_motor_has_no_duty(tmp_path: pathlib.Path) -> None:
    log = read_log(write(tmp_path, recording(motor="mx99")))
    assert "duty" not in log.channels
    assert "register_unknown" in [item.code for item in log.findings]


def test_an_object_of_columns(tmp_path: pathlib.Path) -> None:
    time = np.arange(30) * 2.0
    log = read_log(write(tmp_path, {"time_ms": time.tolist(), "speed [rpm]": (10.0 * time).tolist(), "mass": 0.2}))
    assert log.dt == pytest.approx(0.002)
    assert log.conditions == {"mass": 0.2}
    assert log.channels["velocity"][1] == pytest.approx(20.0 * np.pi / 30.0)


@pytest.mark.parametrize(
    ("record", "match"),
    [
        ('{"mass": 0.3, "entries": [{"timest', r"not valid JSON \(line 1\)"),
        (recording(entries=[]), "hold no rows"),
        (recording(entries=recording()["entries"][:3]), "3 rows are too few"),
        ([1, 2, 3], "neither a BAM recording nor"),
        ({"t": [1.0, 2.0], "i": [1.0]}, "neither a BAM recording"),
        (recording(entries=[entry | {"speed": "fast"} for entry in recording()["entries"]]), "entry 1: 'speed' holds"),
    ],
)
def test_bad_files_are_refused(tmp_path: pathlib.Path, record: object, match: str) -> None:
    with pytest.raises(LogError, match=match) as caught:
        read_log(write(tmp_path, record))
    assert "\n" not in str(caught.value)


def test_shared_recordings(shared: pathlib.Path) -> None:
    paths = sorted((shared / "logs" / "real" / "xl330_bam_kp100_400").glob("*.json"))
    assert len(paths) == 8
    for path in paths:
        log = read_log(path)
        assert log.conditions["mass"] == 0.49
        assert log.conditions["kp"] in (100.0, 400.0)
        assert len(log.breaks) == 0
        # The firmware's own law: counts = error · 4096 / 2π · kp / 256, clipped to 885. The position loop runs between
        # the readings, so single rows differ.
        error = log.channels["command"] - log.channels["position"]
        expected = np.clip(error * 4096.0 / (2.0 * np.pi) * log.conditions["kp"] / 256.0 / 885.0, -1.0, 1.0)
        on = log.channels["torque_enabled"] > 0.5
        assert np.median(np.abs(expected - log.channels["duty"])[on]) < 0.03
        assert np.abs(log.channels["duty"]).max() <= 1.0
        grid = log.resample(0.005)
        assert len(grid) == pytest.approx(1200, abs=3)
        assert all(mask.all() for mask in grid.masks.values())
