"""The shipped logs are what the script beside them makes, by a simulator that is not ours."""

import importlib
import importlib.util
import json
import pathlib
import re

import equinox
import jax
import jax.numpy
import numpy as np
import pytest

import jaxmotor
from sysid._model_file import read_model
from sysid._read import read_log
from sysid._rounding import interval, told

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def script():
    pytest.importorskip("mujoco")
    spec = importlib.util.spec_from_file_location("make_logs", FOLDER / "make_logs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["make_logs"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["make_logs"]


@pytest.mark.slow
def test_the_script_makes_the_shipped_logs(script, tmp_path):
    """To the last digit on the machine that made them; another build of the engine may round a reading otherwise."""
    script.main(tmp_path)
    for name in ("motor_a.csv", "motor_b.csv", "motor_hot.csv"):
        made, shipped = (np.genfromtxt(folder / name, delimiter=",", skip_header=1) for folder in (tmp_path, FOLDER))
        quantum = np.array([0.0, 0.0, 5.0, 1.0, 0.1][: shipped.shape[1]])
        assert np.all(np.abs(made - shipped) <= 1.01 * quantum)
        assert np.mean(made == shipped) > 0.99


def test_the_engine_obeys_the_stated_motor(script):
    """Steady speed, hold below break-away and winding law in closed form, so that the stated truth is the truth."""
    motor = {name: value for name, (value, _) in script.MOTOR.items()}
    volts = np.concatenate([np.full(60, 0.25), np.full(400, 6.0), np.zeros(200)])
    run = script.drive(script.QUICK, volts)
    k, r = motor["torque_constant"], motor["resistance"]
    assert np.all(np.abs(run["velocity"][:60]) < 1e-3)
    steady = (k * 6.0 / r - motor["coulomb_friction"]) / (k * k / r + motor["viscous_damping"])
    assert run["velocity"][459] == pytest.approx(steady, rel=1e-4)
    assert abs(run["velocity"][-1]) < 1e-3
    np.testing.assert_allclose(r * run["current"] + k * run["velocity"], volts, atol=1e-9)
    # J from the first, friction-free-known acceleration: J dw/dt = K i - B w - Tc over one row, by the exact decay.
    tau = motor["inertia"] / (k * k / r + motor["viscous_damping"])
    expected = steady * (1 - np.exp(-np.arange(1, 5) * script.QUICK.period / tau))
    np.testing.assert_allclose(run["velocity"][61:65], expected, rtol=2e-3)


@pytest.mark.parametrize("name", ["motor_a", "motor_b", "motor_hot"])
def test_the_logs_can_be_read_and_are_small(name):
    path = FOLDER / f"{name}.csv"
    assert path.stat().st_size < 300_000
    log = read_log(path)
    assert {"voltage", "current", "velocity"} <= set(log.channels)
    assert np.abs(log.channels["velocity"]).max() < 500
    assert ("temperature" in log.channels) == (name == "motor_hot")
    both_ways = log.channels["velocity"][log.masks["velocity"]]
    assert both_ways.min() < -50 < 50 < both_ways.max()


def test_the_truth_names_every_log_and_says_that_nothing_was_measured():
    truth = json.loads((FOLDER / "truth.json").read_text())
    assert set(truth["logs"]) == {path.name for path in FOLDER.glob("*.csv")}
    assert "simulated" in truth["kind"]


def test_the_code_of_the_readme_runs(monkeypatch):
    """Block after block in one namespace, as a reader would type them; the shell's blocks are the newcomer's test."""
    text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert len(blocks) >= 3
    monkeypatch.chdir(FOLDER.parent)
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["fit"].status in ("ok", "warning")
    # The table of the Quickstart is what the same fit says.
    for estimate in names["fit"].estimates:
        value, error = told(estimate.value, estimate.std_error, estimate.flag)
        ends = interval(estimate.ci95, estimate.std_error)
        row = next(line for line in text.splitlines() if line.startswith(f"{estimate.name} "))
        assert [value, error, ends] == [cell for cell in re.split(r"  +", row) if cell in (value, error, ends)]
        assert estimate.flag in row
    assert names["run"].qvel[-1] > 100
    assert names["out"].joint_torque > 0


def test_the_readme_has_two_commands_of_one_line_each():
    text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^## Quickstart\s*$(.*?)(?=^## |\Z)", text, re.S | re.M)
    assert found is not None
    blocks = re.findall(r"^```bash\n(.*?)^```", found[1], re.S | re.M)
    assert [len(block.splitlines()) for block in blocks] == [1, 1]


def test_the_model_file_of_the_readme_is_one(tmp_path):
    text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```toml\n(.*?)^```", text, re.S | re.M)
    (tmp_path / "motor.toml").write_text(block)
    model = read_model(tmp_path / "motor.toml")
    assert {"resistance", "motor_constant", "inertia", "coulomb_friction", "viscous_damping"} == set(model.free.names)


def test_the_stage_of_the_contributing_page_is_one():
    text = (FOLDER.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    names = {"eqx": equinox, "jnp": jax.numpy, "AbstractDryFriction": jaxmotor.AbstractDryFriction}
    names |= vars(importlib.import_module("jaxmotor._parameter"))
    exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    params = names["StribeckFrictionParams"](coulomb_friction=0.01, stiction_torque=0.02, stribeck_velocity=1.0)
    budget = names["StribeckFriction"]().budget(params, jax.numpy.asarray(0.0), None, None)
    assert float(budget) == pytest.approx(0.02)
    assert float(names["StribeckFriction"]().budget(params, jax.numpy.asarray(50.0), None, None)) == pytest.approx(0.01)
