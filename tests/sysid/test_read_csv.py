"""Text tables of every dialect give the same log; broken ones are refused in one line."""

import pathlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sysid._errors import LogError
from sysid._read import read_log

ROWS = 40


def columns(seed: int = 3) -> np.ndarray:
    """t, v, i, w of a made-up run; noise keeps every channel fresh."""
    rng = np.random.default_rng(seed)
    t = np.arange(ROWS) * 0.004
    v = np.repeat([3.0, -6.0, 9.0, 0.0], ROWS // 4)
    w = np.cumsum(v) * 0.7 + rng.normal(0.0, 0.05, ROWS)
    i = v / 1.7 + rng.normal(0.0, 0.02, ROWS)
    return np.round(np.stack([t, v, i, w], axis=1), 4)


def text(
    rows: np.ndarray, header: str = "t,v,i,w", delimiter: str = ",", decimal: str = ".", newline: str = "\n"
) -> str:
    lines = [header.replace(",", delimiter)]
    lines += [delimiter.join(f"{cell:.4f}".replace(".", decimal) for cell in row) for row in rows]
    return newline.join(lines) + newline


def write(folder: pathlib.Path, content: str | bytes, name: str = "run.csv") -> pathlib.Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def same(path: pathlib.Path, rows: np.ndarray, **options: object) -> None:
    log = read_log(path, **options)  # pyright: ignore[reportArgumentType]
    assert len(log) == len(rows)
    np.testing.assert_allclose(log.time, rows[:, 0] - rows[0, 0], atol=1e-12)
    for index, channel in enumerate(("voltage", "current", "velocity"), start=1):
        np.testing.assert_array_equal(log.channels[channel], rows[:, index])
        assert log.masks[channel].all()


@pytest.mark.parametrize(
    ("delimiter", "decimal", "newline"),
    [
        (",", ".", "\n"),
        (";", ".", "\r\n"),
        (";", ",", "\r\n"),
        ("\t", ",", "\n"),
        ("\t", ".", "\r\n"),
        ("|", ".", "\n"),
        (" ", ".", "\n"),
        ("; ", ",", "\n"),
        (", ", ".", "\n"),
        (",", ".", "\r"),
    ],
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_separators(tmp_path: pathlib.Path, delimiter: str, decimal: str, newline: str, mark: bytes) -> None:
    rows = columns()
    same(write(tmp_path, mark + text(rows, delimiter=delimiter, decimal=decimal, newline=newline).encode()), rows)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "cp1252"])
def test_encodings(tmp_path: pathlib.Path, encoding: str) -> None:
    rows = columns()
    path = write(tmp_path, text(rows, header="t [s],v,i,w [°/s]").encode(encoding))
    log = read_log(path)
    np.testing.assert_allclose(log.channels["velocity"], np.deg2rad(rows[:, 3]))


def test_runs_of_blanks(tmp_path: pathlib.Path) -> None:
    rows = columns()
    body = "\n".join("  ".join(f"{cell:12.4f}" for cell in row) for row in rows)
    same(write(tmp_path, "t  v   i  w\n" + body + "\n"), rows)


def test_comments_preamble_and_conditions(tmp_path: pathlib.Path) -> None:
    rows = columns()
    lines = text(rows).splitlines()
    lines.insert(10, "# a remark of the operator")
    path = write(tmp_path, "# bench 7\n# mass = 0.25\n# length=0.1\n\n" + "\n".join(lines) + "\n")
    same(path, rows)
    assert read_log(path).conditions == {"mass": 0.25, "length": 0.1}


def test_header_in_a_comment(tmp_path: pathlib.Path) -> None:
    rows = columns()
    same(write(tmp_path, "# " + text(rows)), rows)


def test_no_header_names_columns_by_number(tmp_path: pathlib.Path) -> None:
    rows = columns()
    path = write(tmp_path, text(rows).split("\n", 1)[1])
    with pytest.raises(LogError, match=r"no time column among: column1 \(0 \.\.\.\), column2"):
        read_log(path)
    same(path, rows, columns="time=column1[s],voltage=column2,current=column3,velocity=column4")


def test_unit_and_key_rows(tmp_path: pathlib.Path) -> None:
    rows = columns()
    head = "Time;motor voltage;motor current;motor speed;\nms;mV;mA;rpm;\nt;u;c;s;\n"
    body = "".join(";".join(f"{cell:.4f}" for cell in row) + ";\n" for row in rows * [1e3, 1e3, 1e3, 30.0 / np.pi])
    log = read_log(write(tmp_path, head + body))
    assert log.columns["velocity"] == "motor speed [rpm]"
    np.testing.assert_allclose(log.time, rows[:, 0], atol=1e-9)
    np.testing.assert_allclose(log.channels["velocity"], rows[:, 3], atol=1e-5)
    np.testing.assert_allclose(log.channels["current"], rows[:, 2], atol=1e-9)


def test_quoted_cells(tmp_path: pathlib.Path) -> None:
    rows = columns()
    lines = text(rows).splitlines()
    same(write(tmp_path, "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in lines) + "\n"), rows)


@pytest.mark.parametrize(
    "word", ["", "nan", "NaN", "NA", "N/A", "null", "None", "-", "--", "#N/A", "-nan(ind)", "1.#QNAN"]
)
@pytest.mark.parametrize("late", [False, True])
def test_words_for_missing(tmp_path: pathlib.Path, word: str, late: bool) -> None:
    runs = [columns(seed) + np.array([seed * ROWS * 0.004, 0.0, 0.0, 0.0]) for seed in range(8)]
    rows = np.concatenate(runs) if late else runs[0]
    lines = text(rows).splitlines()
    row = len(rows) - 3
    cells = lines[row].split(",")
    cells[2] = word
    lines[row] = ",".join(cells)
    log = read_log(write(tmp_path, "\n".join(lines) + "\n"))
    assert np.flatnonzero(~log.masks["current"]).tolist() == [row - 1]
    assert log.channels["current"][row - 1] == log.channels["current"][row - 2]
    assert next(item for item in log.findings if item.code == "missing").rows == (row,)


def test_infinity_is_missing_and_told(tmp_path: pathlib.Path) -> None:
    content = text(columns()).replace(text(columns()).splitlines()[7].split(",")[3], "inf", 1)
    log = read_log(write(tmp_path, content))
    assert not log.masks["velocity"][6]
    assert "not_finite" in [item.code for item in log.findings]


def test_text_columns_are_left_out(tmp_path: pathlib.Path) -> None:
    rows = columns()
    lines = text(rows).splitlines()
    body = [f"{line},RUN" for line in lines[1:]]
    same(write(tmp_path, "\n".join([f"{lines[0]},mode", *body]) + "\n"), rows)


def test_switch_words(tmp_path: pathlib.Path) -> None:
    lines = text(columns()).splitlines()
    body = [line + (",True" if row % 3 else ",False") for row, line in enumerate(lines[1:])]
    log = read_log(write(tmp_path, "\n".join([lines[0] + ",torque_enable", *body]) + "\n"))
    np.testing.assert_array_equal(log.channels["torque_enabled"], (np.arange(ROWS) % 3 > 0).astype(float))


@pytest.mark.parametrize("end", ["0.1", "0.1600,9.0", "0.1600,9.0000,1.2000,", "0.1600,9.0000,1.2000,3.1"])
def test_a_cut_last_row_is_dropped_and_told(tmp_path: pathlib.Path, end: str) -> None:
    rows = columns()
    log = read_log(write(tmp_path, text(rows) + end))
    told = [item for item in log.findings if item.code == "cut_last_row"]
    if end.endswith(","):  # an empty last cell may also be a missing measurement
        assert len(log) == ROWS + 1
        assert not log.masks["velocity"][-1]
    else:
        assert len(log) == ROWS
        assert len(told) == 1


def test_no_newline_at_the_end_is_no_cut(tmp_path: pathlib.Path) -> None:
    rows = columns()
    same(write(tmp_path, text(rows).rstrip("\n")), rows)


def replaced(row: int, column: int, cell: str, **dialect: str) -> str:
    lines = text(columns(), **dialect).splitlines()
    delimiter = dialect.get("delimiter", ",")
    cells = lines[row].split(delimiter)
    cells[column] = cell
    lines[row] = delimiter.join(cells)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", r"run\.csv: the file is empty"),
        ("\n\n", r"the file is empty"),
        ("t,v,i,w\n", r"no row of numbers"),
        ("a\nb\nc\n", r"no row of numbers"),
        ("t,v,i,w\n" + "0.0,1.0,2.0,3.0\n0.1,1.0,2.0,3.0\n0.2,1.0,2.0,3.0\n", r"3 rows are too few for a log"),
        (text(columns(), header="x,v,i,w"), r"no time column among: x, v, i, w; name it with --columns time="),
        (replaced(20, 2, "oops"), r"column 'i': row 20 \(line 21\) holds the text 'oops'"),
        (replaced(20, 2, "1.234,5", delimiter=";"), r"thousands mark"),
        (replaced(20, 2, "1.234,5", delimiter=";", decimal=","), r"line 21 holds '1.234,5' .*thousands mark"),
        (replaced(20, 2, "1.234", delimiter=";", decimal=","), r"line 21 holds '1.234' .*thousands mark"),
        (replaced(20, 2, '"1,234.5"'), r"thousands mark"),
        (replaced(20, 2, "1,5"), r"line 21 has 5 cells instead of 4"),
        (text(columns()).replace("0.0800,", "", 1), r"line 22 has 3 cells instead of 4"),
        (replaced(20, 2, '"1.5'), r"line 21 has a quote that is not closed"),
        (text(columns(), header="t,v"), r"the header \(line 1\) has 2 cells, the rows have 4"),
        (text(columns(), header="t,a,b,c"), r"no column is a channel"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path: pathlib.Path, content: str, match: str) -> None:
    with pytest.raises(LogError, match=match) as caught:
        read_log(write(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: pathlib.Path) -> None:
    rows = np.concatenate([columns(seed) + np.array([seed * ROWS * 0.004, 0.0, 0.0, 0.0]) for seed in range(80)])
    content = text(rows).encode()
    place = content.index(b"\n", 70_000) + 3  # beyond the head, from which the encoding is told
    line = content[:place].count(b"\n") + 1
    with pytest.raises(LogError, match=f"line {line} holds bytes that are no text"):
        read_log(write(tmp_path, content[:place] + b"\xff" + content[place:]))


def test_bad_paths(tmp_path: pathlib.Path) -> None:
    with pytest.raises(LogError, match="no such file"):
        read_log(tmp_path / "absent.csv")
    with pytest.raises(LogError, match="is a folder"):
        read_log(tmp_path)
    with pytest.raises(LogError, match="not a text table"):
        read_log(write(tmp_path, bytes(range(256)) * 10))


def test_text_in_an_unused_column_does_no_harm(tmp_path: pathlib.Path) -> None:
    rows = columns()
    lines = text(rows).splitlines()
    body = [f"{line},{'ok' if row == 5 else row}" for row, line in enumerate(lines[1:])]
    same(write(tmp_path, "\n".join([lines[0] + ",lap", *body]) + "\n"), rows)


def test_the_file_is_not_modified(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, text(columns()))
    path.chmod(0o444)
    before = path.read_bytes(), path.stat().st_mtime_ns
    read_log(path, flip=("current",))
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=12, max_size=30),
    dialect=st.sampled_from([(",", "."), (";", ","), ("\t", ","), (";", "."), ("|", ".")]),
)
def test_any_numbers_in_any_dialect(tmp_path: pathlib.Path, values: list[float], dialect: tuple[str, str]) -> None:
    delimiter, decimal = dialect
    lines = [f"t{delimiter}torque"]
    lines += [f"{k * 0.01:.2f}{delimiter}{value!r}".replace(".", decimal) for k, value in enumerate(values)]
    log = read_log(write(tmp_path, "\n".join(lines) + "\n"), keep=("held_samples",))
    np.testing.assert_array_equal(log.channels["torque"], values)


def test_names_with_commas_between(tmp_path: pathlib.Path) -> None:
    rows = columns()
    path = write(tmp_path, text(rows))
    one, two = read_log(path, flip="current,velocity"), read_log(path, flip=("current", "velocity"))
    for channel, index in (("current", 2), ("velocity", 3)):
        np.testing.assert_array_equal(one.channels[channel], -rows[:, index])
        np.testing.assert_array_equal(two.channels[channel], -rows[:, index])
