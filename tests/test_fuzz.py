"""A short run of the fuzzer, and attacks that chance would not find."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import pickle
import struct
import time
import warnings
import zlib

import numpy as np
import polars as pl
import pytest

from jaxmotor import urdf
from sysid import LogError, ModelError, read_log, read_model
from sysid._fit_file import read_fit
from sysid._quantity import in_unit

_HERE = pathlib.Path(__file__).parent


def _fuzzer():
    spec = importlib.util.spec_from_file_location("fuzz_readers", _HERE / "fuzz_readers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def fuzzer():
    return _fuzzer()


@pytest.mark.parametrize(
    "name", ["csv", "bam", "sage", "mat", "parquet", "mcap", "toml", "urdf", "mjcf", "fit"], ids=lambda name: name
)
def test_spoiled_inputs_are_read_or_refused(fuzzer, name, tmp_path):
    reader = fuzzer.READERS[name]
    (tmp_path / "a_control.csv").write_text(fuzzer.inputs.SAGE_PARTNER)
    sound, path = reader.sound() or pytest.skip("its package is not installed"), tmp_path / reader.file
    for number in range(40):
        path.write_bytes(fuzzer.spoiled(name, sound, 1, number))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert fuzzer.attempt(reader, path) is None, f"{name} {number}"


@pytest.mark.parametrize("name", ["csv", "bam", "sage", "mat", "parquet", "mcap", "toml", "urdf", "mjcf", "fit"])
def test_sound_inputs_are_sound(fuzzer, name, tmp_path, monkeypatch):
    def refuse(error):
        raise error

    monkeypatch.setattr(fuzzer, "_one_line", refuse)
    monkeypatch.setattr(fuzzer, "_worded", refuse)
    reader = fuzzer.READERS[name]
    (tmp_path / "a_control.csv").write_text(fuzzer.inputs.SAGE_PARTNER)
    path = tmp_path / reader.file
    for content in reader.sound():
        path.write_bytes(content)
        problem = fuzzer.attempt(reader, path)
        # A few need an option, which their message names.
        assert problem is None or "--c" in problem or "--time-unit" in problem or "actuator file" in problem, problem


def _refused(path: pathlib.Path, match: str) -> None:
    with pytest.raises(LogError, match=match) as caught:
        read_log(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"entries":' * 10_000, '{"a": [' + "9" * 5000 + "]}"],
    ids=["nested", "objects", "digits"],
)
def test_json_that_is_too_deep_or_too_long(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_text(text)
    _refused(path, "JSON")
    path.with_name("fit.json").write_text(text)
    with pytest.raises(ModelError, match=r"fit\.json"):
        read_fit(path.with_name("fit.json"))


def test_integers_beyond_every_float_are_no_measurement(tmp_path):
    rows = {"time [s]": list(range(20)), "voltage": [1] * 20, "speed": [2] * 19 + [10**400], "mass": 10**400}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(rows))
    assert not read_log(path).masks["velocity"][-1]


def test_pickles_are_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return pathlib.Path.touch, (tmp_path / "sprung",)

    np.save(tmp_path / "run.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    (tmp_path / "run.mat").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "run.parquet").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "run.csv").write_bytes(pickle.dumps(Trap()))
    for file in ("run.npy", "run.mat", "run.parquet", "run.csv"):
        _refused(tmp_path / file, file)
    assert not (tmp_path / "sprung").exists()


def test_parquet_that_unpacks_out_of_all_proportion(tmp_path):
    path = tmp_path / "run.parquet"
    zeros = pl.LazyFrame({"t": [0.0]}).select(pl.repeat(0.0, 80_000_000).alias("t"))
    zeros.sink_parquet(path, compression="zstd", row_group_size=4_000_000)
    _refused(path, "out of all proportion")


def _mat(*elements: tuple[int, bytes]) -> bytes:
    head = b"MATLAB 5.0".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    return head + b"".join(struct.pack("<II", kind, len(content)) + content for kind, content in elements)


def _array(rows: int, content: bytes) -> bytes:
    flags = struct.pack("<IIII", 6, 8, 6, 0)
    shape = struct.pack("<IIii", 5, 8, rows, 1)
    return flags + shape + struct.pack("<II", 1, 8) + b"speed\0\0\0" + struct.pack("<II", 9, len(content)) + content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (_mat((14, _array(2_000_000_000, bytes(80)))), "states 2000000000 numbers and holds 10"),
        (_mat((14, _array(-1, bytes(80)))), "damaged"),
        (_mat((15, zlib.compress(bytes(513 << 20), 9))), "out of all proportion"),
        (_mat((15, b"no stream")), "damaged"),
        (_mat((14, _array(10, bytes(80))))[:-8], "cut short"),
        (b"x" * 300, "no MAT file"),
    ],
    ids=["huge shape", "negative shape", "bomb", "no stream", "cut", "nothing"],
)
def test_mat_that_states_what_it_does_not_hold(tmp_path, content, reason):
    path = tmp_path / "run.mat"
    path.write_bytes(content)
    _refused(path, reason)


def test_mat_data_in_another_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "secret").write_bytes(bytes(800))
    with h5py.File(tmp_path / "run.mat", "w") as file:
        file.create_dataset("t", (1, 100), "f8", external=[(str(tmp_path / "secret"), 0, 800)])
    _refused(tmp_path / "run.mat", "lies in another file")
    with h5py.File(tmp_path / "run.mat", "w") as file:
        file.create_dataset("t", (1 << 20, 1 << 20), "f8", chunks=(1, 1024))
    _refused(tmp_path / "run.mat", "out of all proportion")


def test_pipes_devices_and_loops_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    for file, reason in (
        (tmp_path / "pipe.csv", "ordinary"),
        (tmp_path / "loop.csv", "read"),
        ("/dev/zero", "ordinary"),
    ):
        with pytest.raises(LogError, match=reason):
            read_log(file)
        for read in (read_model, read_fit):
            with pytest.raises(ModelError, match=reason):
                read(pathlib.Path(file))
        with pytest.raises((ValueError, OSError)):
            urdf.describe(file)


@pytest.mark.parametrize("text", ["a = " + "[" * 30_000, "a" + ".a" * 40_000 + " = 1", "x = 1\n" * 10_000])
def test_model_files_that_are_too_deep_or_too_long(tmp_path, text):
    path = tmp_path / "motor.toml"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"motor\.toml"):
        read_model(path)


_ROBOT = '<robot name="a"><joint name="hip" type="revolute"/><actuator joint="hip" file="{}"/></robot>'


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;&b;&b;">]><robot name="&c;"/>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="a">&x;</robot>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><robot name="a"/>',
        _ROBOT.format("../../../etc/passwd"),
        _ROBOT.format("/etc/passwd"),
        _ROBOT.format("file:///etc/passwd"),
        _ROBOT.format("sub\\..\\..\\x"),
        "<robot>" + "<joint>" * 10_000,
    ],
    ids=["bomb", "entity", "network", "up", "absolute", "address", "windows", "depth"],
)
def test_robot_files_reach_nothing_else(tmp_path, text):
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"robot\.urdf") as caught:
        urdf.describe(path)
    assert "root:" not in str(caught.value)


def test_links_of_robot_files_do_not_lead_out(tmp_path):
    (tmp_path / "robots" / "actuators").mkdir(parents=True)
    (tmp_path / "robots" / "actuators" / "out.xml").symlink_to("/etc/passwd")
    (tmp_path / "robots" / "actuators" / "loop.xml").symlink_to("loop.xml")
    for file in ("out.xml", "loop.xml", "actuators/out.xml"):
        (tmp_path / "robots" / "robot.urdf").write_text(_ROBOT.format(file))
        with pytest.raises(ValueError, match=r"robot\.urdf"):
            urdf.describe(tmp_path / "robots" / "robot.urdf")


@pytest.mark.parametrize(
    "line",
    [
        "9" * 50_000,
        " " * 50_000 + "x",
        "a " * 4_000,
        "[" * 50_000,
        "a[" * 25_000,
        "a^" * 25_000,
        "1." * 25_000,
        "-1" * 25_000,
    ],
    ids=["digits", "blanks", "words", "brackets", "indices", "powers", "dots", "signs"],
)
def test_long_cells_cost_no_more_than_their_length(tmp_path, line):
    rows = "".join(f"{0.01 * k:.2f} 1.0 2.0\n" for k in range(40))
    for text in (
        f"{line}\n{rows}",
        f"time {line} speed\n{rows}",
        f"time u [{line}]\n{rows}",
        f"t u w\n{rows}{line}\n{rows}",
    ):
        for cells in (text, text.replace(" ", ","), text.replace(" ", "\t")):
            path = tmp_path / "run.csv"
            path.write_text(cells)
            began = time.process_time()
            with contextlib.suppress(LogError):
                read_log(path)
            assert time.process_time() - began < 3.0


def test_text_that_names_nothing_and_everything(tmp_path):
    buffer = io.StringIO()
    buffer.write(",".join(f"speed{k}" for k in range(20_000)) + "\n")
    for _ in range(12):
        buffer.write(",".join(["1"] * 20_000) + "\n")
    path = tmp_path / "wide.csv"
    path.write_text(buffer.getvalue())
    with pytest.raises(LogError) as caught:
        read_log(path)
    assert len(str(caught.value)) < 3000


@pytest.mark.parametrize(
    "unit", ["ohm^9^9^9^9", "ohm**9**9**9**9", "ohm^(9^9^9)", "9^9^9^9 ohm", "ohm*" * 5000 + "ohm", "("]
)
def test_units_are_not_worked_out_to_the_last_digit(tmp_path, unit):
    began = time.process_time()
    with pytest.raises(ModelError, match="unit"):
        in_unit(f"1 {unit}", "ohm", "motor.toml")
    path = tmp_path / "run.csv"
    path.write_text(f"time,w [{unit.replace('ohm', 's')}]\n" + "".join(f"{0.01 * k:.2f},2.0\n" for k in range(40)))
    with contextlib.suppress(LogError):
        read_log(path)
    assert time.process_time() - began < 3.0
