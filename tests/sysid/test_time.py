"""Time stamps: units, order, repeats, gaps, counters."""

import pathlib

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sysid._errors import LogError
from sysid._log import Log
from sysid._read import read_log

STEP = 0.005


def write(
    folder: pathlib.Path, stamps: list[str] | np.ndarray, header: str = "time_s", **extra: np.ndarray
) -> pathlib.Path:
    rng = np.random.default_rng(8)
    rows = len(stamps)
    table = {"i": rng.normal(0.0, 1.0, rows), "w": np.cumsum(rng.normal(0.0, 1.0, rows)), **extra}
    lines = [",".join((header, *table))]
    for row, stamp in enumerate(stamps):
        cells = (stamp if isinstance(stamp, str) else f"{stamp:.7g}", *(f"{table[name][row]:.5f}" for name in table))
        lines.append(",".join(cells))
    path = folder / "run.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def grid(rows: int = 60, step: float = STEP) -> np.ndarray:
    return np.arange(rows) * step


def codes(log: Log) -> list[str]:
    return [item.code for item in log.findings]


def rows_of(log: Log, code: str) -> tuple[int, ...]:
    return next(item.rows for item in log.findings if item.code == code)


@pytest.mark.parametrize(
    ("header", "factor", "options"),
    [
        ("time_s", 1.0, {}),
        ("t", 1.0, {}),
        ("time_ms", 1e3, {}),
        ("time [us]", 1e6, {}),
        ("Timestamp (µs)", 1e6, {}),
        ("time", 1e3, {"time_unit": "ms"}),
        ("t", 1e6, {"time_unit": "us"}),
        ("time_s", 1e3, {"time_unit": "ms"}),
    ],
)
@pytest.mark.parametrize("offset", [0.0, 52.34])
def test_units_and_offset(
    tmp_path: pathlib.Path, header: str, factor: float, options: dict[str, str], offset: float
) -> None:
    stamps = [f"{(offset + time) * factor:.6f}" for time in grid()]
    log = read_log(write(tmp_path, stamps, header), **options)  # pyright: ignore[reportArgumentType]
    np.testing.assert_allclose(log.time, grid(), atol=1e-9)
    assert ("time_offset" in codes(log)) is (offset > 0.0)


def test_epoch_stamps_keep_their_step(tmp_path: pathlib.Path) -> None:
    stamps = [str(1_790_000_000_000_000 + 5000 * row) for row in range(60)]
    np.testing.assert_allclose(read_log(write(tmp_path, stamps, "stamp_us")).time, grid(), atol=1e-12)


@pytest.mark.parametrize(
    ("step", "whole"), [(2.0, True), (2.0, False), (1000.0, True), (1.0, True), (0.8, False), (1e-7, False)]
)
def test_a_bare_header_with_an_implausible_step_is_refused(tmp_path: pathlib.Path, step: float, whole: bool) -> None:
    stamps = [f"{52340 + step * row:.0f}" if whole else f"{step * row:.9f}" for row in range(60)]
    with pytest.raises(LogError, match=r"implausible in seconds: give --time-unit s\|ms\|us"):
        read_log(write(tmp_path, stamps, "time"))
    assert read_log(write(tmp_path, stamps, "time"), time_unit="s").dt == pytest.approx(step)


def test_slow_logs_without_motion_are_read_with_a_warning(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "heat.csv"
    path.write_text("t,i,T_winding\n" + "".join(f"{row}.0,2.0,{25 + row * 0.1:.2f}\n" for row in range(60)))
    log = read_log(path)
    assert log.dt == pytest.approx(1.0)
    assert "time_unit_assumed" in codes(log)


@pytest.mark.parametrize("unit", ["parsec", "V", "rad"])
def test_an_unknown_time_unit_is_refused(tmp_path: pathlib.Path, unit: str) -> None:
    with pytest.raises(LogError, match="time"):
        read_log(write(tmp_path, grid(), f"time [{unit}]"))
    with pytest.raises(LogError, match="is no unit of time"):
        read_log(write(tmp_path, grid()), time_unit=unit)


@pytest.mark.parametrize(
    ("first", "form"),
    [
        ("2026-03-01T23:59:59", "%Y-%m-%dT%H:%M:%S.%f"),
        ("2026-03-01 10:00:00", "%Y-%m-%d %H:%M:%S.%f"),
        ("2026-03-01T23:59:59", "%H:%M:%S.%f"),
    ],
)
def test_clock_strings(tmp_path: pathlib.Path, first: str, form: str) -> None:
    import datetime

    start = datetime.datetime.fromisoformat(first)
    stamps = [(start + datetime.timedelta(milliseconds=25 * row)).strftime(form) for row in range(100)]
    log = read_log(write(tmp_path, stamps, "clock"))
    np.testing.assert_allclose(log.time, grid(100, 0.025), atol=1e-9)
    assert ("time_rollover" in codes(log)) is (form == "%H:%M:%S.%f")


@pytest.mark.parametrize(("bits", "unit"), [(16, "ms"), (16, "us"), (32, "us"), (32, "ms"), (24, "us")])
def test_counters_that_roll_over(tmp_path: pathlib.Path, bits: int, unit: str) -> None:
    counts = (2**bits - 200 + 7 * np.arange(300, dtype=np.int64)) % 2**bits
    log = read_log(write(tmp_path, [str(count) for count in counts], f"time_{unit}"))
    np.testing.assert_allclose(log.time, grid(300, 7.0 * {"ms": 1e-3, "us": 1e-6}[unit]), rtol=1e-8, atol=1e-12)
    assert rows_of(log, "time_rollover") == (30,)
    assert len(log.breaks) == 0


def test_several_rollovers(tmp_path: pathlib.Path) -> None:
    counts = (300 * np.arange(900, dtype=np.int64)) % 2**16
    log = read_log(write(tmp_path, [str(count) for count in counts], "time_us"))
    np.testing.assert_allclose(log.time, grid(900, 3e-4), rtol=1e-9, atol=1e-12)
    assert next(item.count for item in log.findings if item.code == "time_rollover") == 4


def test_swapped_rows_are_sorted_and_told(tmp_path: pathlib.Path) -> None:
    order = np.arange(60)
    order[[20, 21, 40, 42]] = order[[21, 20, 42, 40]]
    log = read_log(write(tmp_path, grid()[order], u=np.arange(60.0)[order]))
    np.testing.assert_allclose(log.time, grid(), atol=1e-12)
    np.testing.assert_array_equal(log.channels["voltage"], np.arange(60.0))
    assert set(rows_of(log, "swapped_rows")) == {21, 22, 41, 43}


def test_duplicates_are_dropped_and_counted(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, grid())
    lines = path.read_text().splitlines()
    lines[31:31] = [lines[30]] * 2
    lines[11:11] = [lines[10]]
    path.write_text("\n".join(lines) + "\n")
    log = read_log(path)
    assert len(log) == 60
    told = next(item for item in log.findings if item.code == "duplicate_rows")
    assert told.count == 3
    assert told.rows == (11, 32, 33)


def test_conflicting_stamps_are_told_apart_from_duplicates(tmp_path: pathlib.Path) -> None:
    stamps = grid()
    stamps[25] = stamps[24]
    log = read_log(write(tmp_path, stamps))
    assert len(log) == 59
    assert rows_of(log, "conflicting_stamps") == (26,)
    assert "duplicate_rows" not in codes(log)


@pytest.mark.parametrize("per_stamp", [2, 4])
def test_stamps_coarser_than_the_rows_are_spread(tmp_path: pathlib.Path, per_stamp: int) -> None:
    stamps = [str(52 + row // per_stamp) for row in range(120)]
    log = read_log(write(tmp_path, stamps, "time_ms"))
    np.testing.assert_allclose(log.time, grid(120, 1e-3 / per_stamp), atol=1e-12)
    assert "coarse_stamps" in codes(log)


def test_several_time_columns_are_told(tmp_path: pathlib.Path) -> None:
    log = read_log(write(tmp_path, grid(), timestamp_ms=grid() * 1e3))
    assert "'time_s', not from" in next(item.message for item in log.findings if item.code == "column_chosen")


def test_missing_and_stray_stamps(tmp_path: pathlib.Path) -> None:
    stamps = [f"{time:.4f}" for time in grid()]
    stamps[10], stamps[30], stamps[45] = "", "9999.0", "0.0001"
    log = read_log(write(tmp_path, stamps))
    assert len(log) == 57
    assert rows_of(log, "missing_stamp") == (11,)
    assert rows_of(log, "stray_stamp") == (31, 46)
    assert len(log.breaks) == 0


def test_runs_behind_each_other_are_kept_apart(tmp_path: pathlib.Path) -> None:
    log = read_log(write(tmp_path, np.concatenate([grid(200), grid(150)])))
    assert len(log) == 350
    assert log.breaks.tolist() == [200]
    assert rows_of(log, "time_restart") == (201,)
    np.testing.assert_allclose(np.diff(log.time), STEP, atol=1e-9)


def test_gaps_are_breaks(tmp_path: pathlib.Path) -> None:
    kept = np.delete(np.arange(200), np.r_[30:40, 90:130])
    log = read_log(write(tmp_path, grid(200)[kept]))
    assert log.breaks.tolist() == [30, 80]
    assert rows_of(log, "gap") == (31, 81)
    assert len(read_log(write(tmp_path, grid(200)[kept]), gap=20.0).breaks) == 1


def test_jitter_and_a_change_of_rate_are_no_gaps(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(4)
    log = read_log(write(tmp_path, np.cumsum(STEP * (1.0 + rng.uniform(-0.4, 0.4, 300)))))
    assert len(log.breaks) == 0
    assert "time_jitter" in codes(log)
    log = read_log(write(tmp_path, np.concatenate([grid(200), 1.0 + 0.1 * np.arange(40)])))
    assert len(log.breaks) == 0


def test_drift_and_stated_rate(tmp_path: pathlib.Path) -> None:
    stamps = np.cumsum(np.linspace(0.002, 0.0024, 400))
    log = read_log(write(tmp_path, stamps), rate=500.0)
    assert "time_drift" in codes(log)
    told = next(item for item in log.findings if item.code == "rate_differs")
    assert "+10" in told.message
    np.testing.assert_allclose(log.time, stamps - stamps[0], atol=1e-6)


def test_a_rate_replaces_absent_stamps(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("i,w\n" + "".join(f"{row % 7}.5,{row * 1.5}\n" for row in range(40)))
    with pytest.raises(LogError, match="--rate"):
        read_log(path)
    np.testing.assert_allclose(read_log(path, rate=200.0).time, grid(40), atol=1e-12)


@given(
    steps=st.lists(st.floats(0.5, 1.5), min_size=30, max_size=60),
    offset=st.floats(-1e3, 1e5),
    unit=st.sampled_from([("s", 1.0), ("ms", 1e3), ("us", 1e6)]),
)
def test_any_stamps_come_back_in_seconds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[float], offset: float, unit: tuple[str, float]
) -> None:
    times = np.cumsum(np.array(steps) * 0.01)
    stamps = [f"{(offset + time) * unit[1]:.9f}" for time in times]
    log = read_log(write(tmp_path_factory.mktemp("time"), stamps, f"time_{unit[0]}"))
    np.testing.assert_allclose(log.time, times - times[0], atol=1e-8)
