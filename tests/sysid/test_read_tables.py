"""Binary tables hold the same log as text: Parquet, MAT of both kinds, MCAP."""

import datetime
import pathlib

import numpy as np
import polars as pl
import pytest

from sysid._errors import LogError
from sysid._log import Log
from sysid._read import read_log

ROWS = 80


def columns() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    time = np.arange(ROWS) * 4.0
    speed = 500.0 * np.sin(np.arange(ROWS) * 0.2) + rng.normal(0.0, 0.5, ROWS)
    return {"time_ms": time, "motor_current_mA": rng.normal(0.0, 900.0, ROWS), "speed_rpm": speed}


def check(log: Log) -> None:
    table = columns()
    np.testing.assert_allclose(log.time, table["time_ms"] * 1e-3, atol=1e-9)
    np.testing.assert_allclose(log.channels["current"], table["motor_current_mA"] * 1e-3)
    np.testing.assert_allclose(log.channels["velocity"], table["speed_rpm"] * np.pi / 30.0)


@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32, pl.Int32])
def test_parquet(tmp_path: pathlib.Path, kind: type[pl.DataType]) -> None:
    path = tmp_path / "run.parquet"
    frame = pl.DataFrame(columns()).with_columns(pl.col("time_ms").cast(kind), pl.lit("RUN").alias("mode"))
    frame.write_parquet(path)
    check(read_log(path))


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_parquet_stamps_and_missing(tmp_path: pathlib.Path, unit: str) -> None:
    start = datetime.datetime(2026, 5, 4, 23, 59, 59, 900_000)
    stamps = [start + datetime.timedelta(milliseconds=4 * row) for row in range(ROWS)]
    current = [None if row == 7 else float(row % 9) for row in range(ROWS)]
    path = tmp_path / "run.parquet"
    frame = pl.DataFrame({"timestamp": stamps, "i": current})
    frame.with_columns(pl.col("timestamp").cast(pl.Datetime(unit))).write_parquet(path)  # pyright: ignore[reportArgumentType]
    log = read_log(path)
    np.testing.assert_allclose(log.time, np.arange(ROWS) * 0.004, atol=1e-9)
    assert np.flatnonzero(~log.masks["current"]).tolist() == [7]


def test_mat_v5(tmp_path: pathlib.Path) -> None:
    scipy_io = pytest.importorskip("scipy.io")
    path = tmp_path / "run.mat"
    scipy_io.savemat(path, columns() | {"mass": 0.25, "note": "bench 7", "other": np.zeros((3, 3))})
    log = read_log(path)
    check(log)
    assert log.conditions == {"mass": 0.25}
    scipy_io.savemat(path, {"data": columns()})
    check(read_log(path))


def test_mat_v73(tmp_path: pathlib.Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "run.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in columns().items():
            file.create_dataset(f"log/{name}", data=values[None, :])
        note = file.create_dataset("note", data=np.frombuffer(b"bench", dtype=np.uint8).astype(np.uint16))
        note.attrs["MATLAB_class"] = np.bytes_("char")
        file.create_dataset("mass", data=np.array([[0.25]]))
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128))
    log = read_log(path)
    check(log)
    assert log.conditions == {"mass": 0.25}


def test_mcap(tmp_path: pathlib.Path) -> None:
    writer_module = pytest.importorskip("mcap_ros2.writer")
    definition = (
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"
        + "=" * 80
        + "\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
        + "=" * 80
        + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
    )
    path = tmp_path / "run.mcap"
    with path.open("wb") as file:
        writer = writer_module.Writer(file)
        schema = writer.register_msgdef("sensor_msgs/msg/JointState", definition)
        for row in range(ROWS):
            moment = 1_790_000_000_000_000_000 + 4_000_000 * row
            names = ["hip", "knee"] if row % 2 else ["knee", "hip"]
            angle = {"hip": 0.1 * row, "knee": -0.2 * row}
            stamp = {"sec": moment // 10**9, "nanosec": moment % 10**9}
            message = {
                "header": {"stamp": stamp, "frame_id": ""},
                "name": names,
                "position": [angle[name] for name in names],
                "velocity": [25.0, -50.0][:: 1 if row % 2 else -1],
                "effort": [],
            }
            writer.write_message(
                topic="/joint_states", schema=schema, message=message, log_time=moment, publish_time=moment
            )
        writer.finish()
    log = read_log(path, joint="knee")
    np.testing.assert_allclose(log.time, np.arange(ROWS) * 0.004, atol=1e-9)
    np.testing.assert_allclose(log.channels["position"], -0.2 * np.arange(ROWS))
    assert set(log.channels) == {"position", "velocity"}
    with pytest.raises(LogError, match=r"choose one with --joint \(0 knee, 1 hip\)"):
        read_log(path)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("run.parquet", b"PAR1 and then nothing", "not readable as Parquet"),
        ("run.mat", b"MATLAB 5.0 MAT-file".ljust(200), "holds no vectors|not readable as a MAT file"),
        (
            "run.mat",
            b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(64),
            "not readable as a MAT file|needs h5py",
        ),
        ("run.mcap", b"\x89MCAP0\r\n" + bytes(30), "MCAP"),
    ],
)
def test_broken_files_are_refused(tmp_path: pathlib.Path, name: str, content: bytes, match: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(LogError, match=match):
        read_log(path)
