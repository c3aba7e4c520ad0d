import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from sysid.cli import app, main

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
MOTOR = EXAMPLES / "motor_a.csv"
HELD = EXAMPLES / "motor_b.csv"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """One fit, through the command, for all tests that need a result."""
    out = tmp_path_factory.mktemp("fitted") / "result"
    done = run("fit", MOTOR, "--hold-out", HELD, "--starts", 2, "--profile", "inertia", "--out", out, "--no-cache")
    assert done.exit_code == 0, done.output
    return out, done


@pytest.fixture
def log(tmp_path):
    """Writes a small log: a table of named columns."""

    def write(name="log.csv", rows=30, **columns):
        at = 0.01 * np.arange(rows)
        table = {"time [s]": at, "voltage [V]": np.sin(40 * at), "current [A]": np.cos(40 * at), "speed [rad/s]": at}
        lines = [",".join(table | columns)]
        for row in zip(*(table | columns).values(), strict=True):
            lines.append(",".join(cell if isinstance(cell, str) else f"{cell:.6g}" for cell in row))
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_a_fit_writes_everything_and_tells_the_truth_beside_it(fitted):
    out, done = fitted
    assert sorted(os.listdir(out)) == [
        *("fit.json", "motor_a_current.png", "motor_a_velocity.png", "motor_b_current.png", "motor_b_velocity.png"),
        "report.html",
    ]
    entry = json.loads((out / "fit.json").read_text())
    assert entry["schema"] == 1
    assert entry["status"] in ("ok", "warning")
    truth = json.loads((EXAMPLES / "truth.json").read_text())["logs"]["motor_a.csv"]
    for name, tolerance in {
        "resistance": 0.002,
        "inertia": 0.005,
        "coulomb_friction": 0.02,
        "viscous_damping": 0.05,
    }.items():
        found = entry["parameters"][name]
        assert found["value"] == pytest.approx(truth[name]["value"], rel=tolerance)
        assert found["unit"] == truth[name]["unit"]
        assert found["identifiable"]
        assert found["ci95"][0] < found["value"] < found["ci95"][1]
        assert abs(found["value"] - truth[name]["value"]) < 4 * found["std_error"]
    assert entry["metrics"]["motor_b"]["velocity"]["role"] == "hold-out"
    assert entry["columns"]["current"] == "current [mA]"
    low, high = entry["profiles"]["inertia"]["ci95"]
    assert low < truth["inertia"]["value"] < high
    assert "profile of inertia" in done.stdout
    assert "Profiles" in (out / "report.html").read_text()
    assert entry["model"]["stages"]["controller"] == "VoltageDrive"
    words = done.stdout
    assert "truth" in words
    assert "motor_constant" in words
    assert "0.042" in words
    assert "written:" in words
    assert "terminal voltage drives" in done.stderr


def test_plain_lines_where_there_is_no_terminal(fitted):
    _, done = fitted
    assert "whole runs: cost" in done.stderr
    assert "\x1b" not in done.output


def test_a_fit_is_simulated_on_another_log(fitted, tmp_path):
    out, _ = fitted
    file = tmp_path / "predicted.csv"
    done = run("simulate", out / "fit.json", HELD, "--out", file, "--no-cache")
    assert done.exit_code == 0, done.output
    table = pl.read_csv(file)
    assert len(table) == 2000
    gap = (table["velocity [rad/s]"] - table["measured velocity [rad/s]"]).to_numpy()
    metric = json.loads((out / "fit.json").read_text())["metrics"]["motor_b"]["velocity"]
    assert np.sqrt(np.mean(gap**2)) == pytest.approx(metric["rmse"], rel=0.05)
    assert "velocity: rmse" in done.stdout
    # Commands alone are enough; the shaft then begins at rest, as it does in this log.
    commands = tmp_path / "commands.csv"
    commands.write_text("\n".join(",".join(line.split(",")[:2]) for line in HELD.read_text().splitlines()) + "\n")
    alone = run("simulate", out, commands, "--out", tmp_path / "alone.csv", "--no-cache")
    assert alone.exit_code == 0, alone.output
    gap = (pl.read_csv(tmp_path / "alone.csv")["velocity [rad/s]"] - table["velocity [rad/s]"]).to_numpy()
    assert np.abs(gap[-100:]).max() < 0.05


def test_a_fit_is_exported(fitted, tmp_path):
    out, _ = fitted
    entry = json.loads((out / "fit.json").read_text())
    value = {name: item["value"] for name, item in entry["parameters"].items()}
    lab = json.loads(run("export", out, "--to", "isaaclab", "--bus-voltage", 12, "--joint", "hip").stdout)
    assert lab["joint_names_expr"] == ["hip"]
    assert lab["saturation_effort"] == pytest.approx(12 * value["motor_constant"] / value["resistance"])
    assert lab["velocity_limit"] == pytest.approx(12 / value["motor_constant"])
    assert lab["friction"] == value["coulomb_friction"]
    unknown = run("export", out, "--to", "isaaclab")
    assert json.loads(unknown.stdout)["velocity_limit"] is None
    assert "give --bus-voltage" in unknown.stderr
    newton = json.loads(run("export", out, "--to", "newton").stdout)
    assert newton["motor_dc"]["kt"] == pytest.approx(value["motor_constant"])
    plain = json.loads(run("export", out, "--to", "json").stdout)
    assert plain["parameters"]["load.inertia"] == {"value": value["inertia"], "unit": "kg m^2"}
    file = tmp_path / "motor.urdf"
    assert run("export", out, "--to", "urdf", "--bus-voltage", 12, "--out", file).exit_code == 0
    assert f'resistance="{value["resistance"]!r}"' in file.read_text()
    refused = run("export", out, "--to", "usd")
    assert refused.exit_code == 1
    assert "choose one of isaaclab, json, mjcf, newton, urdf" in refused.stderr


def test_an_exported_mjcf_replays_the_log_to_the_fit_s_own_error(fitted):
    mujoco = pytest.importorskip("mujoco")
    out, _ = fitted
    model = mujoco.MjModel.from_xml_string(run("export", out, "--to", "mjcf").stdout)
    data = mujoco.MjData(model)
    table = np.genfromtxt(HELD, delimiter=",", skip_header=1)
    speed = []
    for volt in table[:, 1]:
        data.ctrl[0] = volt
        speed.append(data.qvel[0])
        mujoco.mj_step(model, data, round(2e-3 / model.opt.timestep))
    rmse = np.sqrt(np.mean((np.array(speed) - table[:, 3] * np.pi / 30) ** 2))
    own = json.loads((out / "fit.json").read_text())["metrics"]["motor_b"]["velocity"]["rmse"]
    # The engine's first-order step of 0.5 ms adds to the noise of the sensor.
    assert rmse < 1.3 * own


def test_check_as_text_and_for_machines(log):
    path = log(**{"current [A]": ["", *["0.5"] * 29]})
    done = run("check", path, MOTOR)
    assert done.exit_code == 0
    assert "log: 30 rows" in done.stdout
    assert "current [A] from 'current [mA]'" in done.stdout
    machine = json.loads(run("check", path, "--json").stdout)
    assert machine[0]["log"] == "log"
    assert "missing" in {finding["code"] for finding in machine[0]["findings"]}


RUNS = {"runs/a.csv": "", "runs/b.csv": "", "runs/c.json": "", "runs/README.md": ""}
BAD = [
    ("no such file", ["none.csv"], {}),
    ("is empty", ["empty.csv"], {"empty.csv": ""}),
    ("time", ["log.csv"], {"log.csv": "voltage,current\n" + "1,2\n" * 20}),
    ("3 rows", ["log.csv"], {"log.csv": "time [s],voltage [V],current [A]\n0,1,2\n1,1,2\n2,1,2\n"}),
    ("unknown channel 'speeed'", ["GOOD", "--columns", "speeed=speed"], {}),
    ("no column 'nothing'", ["GOOD", "--columns", "velocity=nothing"], {}),
    ("no such parameter (meant resistance?)", ["GOOD", "--free", "resistanc"], {}),
    ("--fix resistance: write it as", ["GOOD", "--fix", "resistance"], {}),
    ("it must be positive", ["GOOD", "--fix", "resistance=-1"], {}),
    ("solver 'newton' is unknown", ["GOOD", "--solver", "newton"], {}),
    ("m.toml: unknown key 'stage'", ["GOOD", "--model", "m.toml"], {"m.toml": "[stage]\n"}),
    ("none.csv: no such file", ["GOOD", "--hold-out", "none.csv"], {}),
    ("none.toml: no such file; name a model file", ["GOOD", "--model", "none.toml"], {}),
    ("runs: is a folder: name log files in it, such as runs/*.csv (2 files) or runs/c.json", ["runs"], RUNS),
    ("No such option: --spped", ["GOOD", "--spped", "3"], {}),
    ("Missing argument", [], {}),
]


@pytest.mark.parametrize(("words", "arguments", "files"), BAD, ids=[words for words, _, _ in BAD])
def test_bad_input_is_one_line_and_leaves_nothing(words, arguments, files, log, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    log("good.csv")
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    before = sorted(os.listdir(tmp_path))
    given = ["good.csv" if argument == "GOOD" else argument for argument in arguments]
    with pytest.raises(SystemExit) as ended:
        main(["fit", *given, "--out", "result", "--no-cache"])
    heard = capsys.readouterr()
    assert ended.value.code == 1
    assert heard.out == ""
    assert heard.err.count("\n") == 1, heard.err
    assert words in heard.err
    assert sorted(os.listdir(tmp_path)) == before


def test_a_text_cell_is_named_with_its_place(log, tmp_path, capsys):
    path = log(**{"current [A]": [*["0.5"] * 12, "overload", *["0.5"] * 17]})
    with pytest.raises(SystemExit) as ended:
        main(["fit", str(path), "--out", str(tmp_path / "result"), "--no-cache"])
    heard = capsys.readouterr().err
    assert ended.value.code == 1
    assert heard.count("\n") == 1
    assert "overload" in heard
    assert "14" in heard


def test_an_unwritable_out_is_refused_before_the_log_is_even_read(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as ended:
        main(["fit", "none.csv", "--out", str(tmp_path / "file")])
    assert ended.value.code == 1
    assert "is a file: name a folder" in capsys.readouterr().err


def test_what_other_commands_refuse(tmp_path, capsys):
    (tmp_path / "fit.json").write_text('{"schema": 2, "model": {}}')
    cases = {
        "schema 2 is unknown": ["simulate", str(tmp_path), str(MOTOR), "--out", str(tmp_path / "p.csv")],
        "no such file": ["export", str(tmp_path / "none.json"), "--to", "json"],
        "is no fit.json": ["export", str(MOTOR), "--to", "json"],
        "No such command": ["fitt"],
    }
    for words, arguments in cases.items():
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        heard = capsys.readouterr()
        assert ended.value.code == 1
        assert words in heard.err
        assert heard.err.count("\n") == 1
    assert os.listdir(tmp_path) == ["fit.json"]


def program(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "sysid.cli", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent)},
        timeout=120,
    )


def test_help_names_commands_examples_and_units():
    for words in ("check", "fit", "simulate", "export", "--version"):
        assert words in run("--help").stdout
    shown = run("fit", "--help").stdout
    for words in ("--hold-out", "--columns", "--fix", "sysid fit bench.csv --out result", "V s/rad"):
        assert words in shown
    assert run("--version").stdout.startswith("sysid ")


def test_help_imports_nothing_heavy():
    """So that `sysid --help` answers within a second."""
    code = "import sys, sysid.cli; print([m for m in ('jax', 'numpy', 'polars', 'matplotlib') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent)},
        timeout=60,
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("absent", [["none.csv"], [str(MOTOR), "--model", "none.toml"]], ids=["log", "model"])
def test_an_absent_file_is_told_before_the_imports(absent, tmp_path):
    code = (
        "import sys, sysid.cli\n"
        "try: sysid.cli.main(sys.argv[1:])\n"
        "finally: print([m for m in ('jax', 'numpy', 'polars', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", *absent, "--out", str(tmp_path / "result")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent)},
        timeout=60,
    )
    assert done.stdout.strip() == "[]"
    assert "no such file" in done.stderr


def test_the_program_ends_with_the_status_and_no_traceback(tmp_path):
    done = program("fit", str(tmp_path / "none.csv"), "--out", str(tmp_path / "result"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "none.csv: no such file" in done.stderr
    assert os.listdir(tmp_path) == []


def test_the_cache_of_compiled_programs_lies_in_the_user_s_folder(monkeypatch, tmp_path):
    from sysid import _compilation_cache

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _compilation_cache.folder() == tmp_path / "jaxmotor" / "compiled"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert _compilation_cache.folder() == tmp_path / "local" / "jaxmotor" / "compiled"
