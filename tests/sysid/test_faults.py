"""Faults while results are written: outputs are whole or absent, and an earlier result is never damaged."""

import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

from sysid import ModelError
from sysid._fit_file import read_fit
from sysid._write import OutputError, refuse_unwritable, write_together, write_whole

_NAMES = [*(f"picture{k}.png" for k in range(4)), "report.html", "fit.json"]
_WRITER = """
import pathlib, sys
sys.path.insert(0, sys.argv[3])
from sysid._write import write_together
names = sys.argv[4:]
for turn in range(10_000):
    mark = f"{sys.argv[2]}-{turn} ".encode()
    write_together(pathlib.Path(sys.argv[1]), {name: mark * 20_000 for name in names})
    print(turn, flush=True)
"""


def _start(folder: pathlib.Path, mark: str) -> subprocess.Popen[str]:
    root = str(pathlib.Path(__file__).parents[2])
    command = [sys.executable, "-c", _WRITER, str(folder), mark, root, *_NAMES]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _marks(folder: pathlib.Path) -> set[bytes]:
    """The marks of all files; each file holds one mark 20 000 times, or it is not whole."""
    found = set()
    for name in _NAMES:
        content = (folder / name).read_bytes()
        mark = content[: content.index(b" ") + 1]
        assert content == mark * 20_000, name
        found.add(mark)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_writer_stopped_at_any_moment_leaves_whole_files(tmp_path, number):
    dice = random.Random(int(number))
    for _ in range(3):
        process = _start(tmp_path, "a")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(dice.uniform(0.0, 0.1))
        process.send_signal(number)
        process.communicate()
        assert len(_marks(tmp_path)) <= (1 if number == signal.SIGINT else 2)
    if number == signal.SIGINT:
        assert sorted(os.listdir(tmp_path)) == sorted(_NAMES)


def test_two_writers_do_not_mix(tmp_path):
    both = [_start(tmp_path, mark) for mark in "ab"]
    for process in both:
        assert process.stdout is not None
        for _ in range(10):
            process.stdout.readline()
    for process in both:
        process.send_signal(signal.SIGINT)
    for process in both:
        process.communicate()
    assert len(_marks(tmp_path)) == 1


def test_a_full_disk_leaves_the_earlier_result(tmp_path):
    write_together(tmp_path, dict.fromkeys(_NAMES, "old"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(OutputError, match=r"report\.html: cannot be written: File too large"):
            write_together(tmp_path, {"picture0.png": b"new", "report.html": b"x" * 200_000, "fit.json": b"new"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert sorted(os.listdir(tmp_path)) == sorted(_NAMES)
    assert all((tmp_path / name).read_text() == "old" for name in _NAMES)


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="no device that is always full")
def test_a_file_that_takes_nothing(tmp_path):
    (tmp_path / "sub").write_text("a file")
    with pytest.raises(OutputError, match="fit"):
        write_whole(tmp_path / "sub" / "fit.json", "x")
    with pytest.raises(OutputError, match="name a folder"):
        refuse_unwritable(tmp_path / "sub")
    with pytest.raises(OutputError, match="cannot be written"):
        refuse_unwritable(pathlib.Path("/proc/nothing"))


def _one_line(*arguments: object) -> str:
    """Standard error of a `sysid` command that is refused."""
    done = subprocess.run(
        [sys.executable, "-m", "sysid.cli", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def test_an_unwritable_folder_is_told_before_the_fit():
    log = pathlib.Path(__file__).parents[2] / "examples" / "motor_a.csv"
    assert "--out" in _one_line("fit", log, "--out", "/proc/nothing/result")


@pytest.mark.parametrize(
    ("schema", "todo"), [("0", "fit once more"), ("2", "newer jaxmotor"), ("null", "fit once more")]
)
def test_another_schema_is_told_in_one_line(tmp_path, schema, todo):
    (tmp_path / "fit.json").write_text(f'{{"schema": {schema}, "model": {{}}}}')
    with pytest.raises(ModelError, match=todo) as caught:
        read_fit(tmp_path)
    assert "\n" not in str(caught.value)
