"""Whole fits that are stopped, or run at once into one folder, or run twice."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

_EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def _fit(out: pathlib.Path, log: str = "motor_a", seed: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sysid.cli", "fit", str(_EXAMPLES / f"{log}.csv"), "--out", str(out)]
    command += ["--starts", "1", "--seed", str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _ended(process: subprocess.Popen[str]) -> int:
    process.communicate()
    return process.returncode


def _content(folder: pathlib.Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in os.listdir(folder) if not name.endswith(".part")}


def _entry(folder: pathlib.Path) -> dict:
    entry = json.loads((folder / "fit.json").read_text())
    return {key: value for key, value in entry.items() if key != "timing"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_fit_stopped_at_any_moment_leaves_the_earlier_result(tmp_path, number):
    began = time.monotonic()
    assert _ended(_fit(tmp_path)) == 0
    usual, earlier, dice = time.monotonic() - began, _content(tmp_path), random.Random(int(number))
    for _ in range(3):
        process = _fit(tmp_path, "motor_b")
        time.sleep(dice.uniform(0.0, usual))
        process.send_signal(number)
        _, told = process.communicate()
        assert "Traceback" not in told or process.returncode < 0
        (log,) = _entry(tmp_path)["logs"]
        if log == "motor_b":  # it was faster than the clock said, and is whole
            assert "Fit of motor_b" in (tmp_path / "report.html").read_text()
            break
        assert _content(tmp_path) == earlier


def test_the_same_fit_twice_is_the_same_to_the_last_digit(tmp_path):
    for name in ("one", "two"):
        assert _ended(_fit(tmp_path / name)) == 0
    assert _entry(tmp_path / "one") == _entry(tmp_path / "two")


def test_two_fits_into_one_folder_do_not_mix(tmp_path):
    both = [_fit(tmp_path, log) for log in ("motor_a", "motor_b")]
    assert [_ended(process) for process in both] == [0, 0]
    (log,) = _entry(tmp_path)["logs"]
    assert f"Fit of {log}" in (tmp_path / "report.html").read_text()
