"""Friction models ranked by what they predict of logs they have not seen."""

import dataclasses
import json
import os

import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import jaxmotor as jm
import sysid
from sysid._compare import Ranking
from sysid._folds import groups, usual_split
from sysid._friction_models import FRICTION_MODELS
from sysid._setup import setup
from sysid._with_friction import with_friction
from sysid.cli import app

STEP, ROWS, NOISE = 5e-3, 200, 1e-3


def swung(number: int, mass: float) -> sysid.Log:
    """A pendulum swung by a known torque against friction that grows with load; angle and speed with noise."""
    friction = jm.LoadDependentFriction(jm.SymmetricLoadFriction())
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.TorqueDrive(), drag=jm.ViscousDrag(), dry_friction=friction)
    params = jm.BenchParams(
        jm.ActuatorParams(
            jm.MotorParams(jm.QuasiStaticParams(1.0, 0.1, 0.1)),
            drag=jm.ViscousDragParams(0.005),
            dry_friction=jm.LoadDependentFrictionParams(0.02, jm.SymmetricLoadFrictionParams(0.2)),
        ),
        jm.UnbalancedLoadParams(inertia=0.1 * 0.1 * mass, unbalance=9.81 * 0.1 * mass),
    )
    bench = jm.Bench(actuator, jm.UnbalancedLoad())
    time = np.arange(ROWS).astype(np.float64) * np.float64(STEP)
    torque = 0.7 * np.sin((4 + number) * time + number) + 0.3 * np.sin(11 * time)
    _, out = jm.rollout(bench, bench.init(params, qpos=0.1 * number), params, jnp.asarray(torque), STEP)
    generator = np.random.default_rng(number)
    return sysid.Log(
        name=f"run{number}",
        time=time,
        channels={
            "torque": torque,
            "position": np.asarray(out.qpos) + NOISE * generator.standard_normal(ROWS),
            "velocity": np.asarray(out.qvel) + 10 * NOISE * generator.standard_normal(ROWS),
        },
        conditions={"mass": mass},
    )


@pytest.fixture(scope="module")
def logs():
    return [swung(number, 0.5) for number in range(3)]


@pytest.fixture(scope="module")
def ranking(logs):
    return sysid.compare(logs, ("M1", "M3"), by="log", starts=2, iterations=20)


def test_the_model_that_made_the_logs_is_picked(ranking, logs):
    assert ranking.picked.name == "M3"
    assert [c.name for c in ranking.contenders] == ["M3", "M1"]
    best = ranking.contenders[0]
    assert set(best.folds) == {log.name for log in logs}
    # Held out, it is not much worse than in training, although nothing but the first row tells where a run begins.
    assert best.cross_validated["position"] < 5 * NOISE
    assert best.bic < ranking.contenders[1].bic
    values = {e.name: e.value for e in best.fit.estimates}
    assert values["load_friction"] == pytest.approx(0.2, rel=0.1)


def test_what_compare_json_holds(ranking):
    found = ranking.to_dict()
    assert found["picked"] == "M3"
    assert found["units"] == {"position": "rad", "velocity": "rad/s"}
    assert found["models"]["M1"]["free"] == len(ranking.contenders[1].fit.estimates)
    assert found["models"]["M1"]["cross_validated"]["position"] > found["models"]["M3"]["cross_validated"]["position"]


def _typed(logs, folder):
    """The logs as files, and the arguments that name them."""
    for log in logs:
        columns = np.column_stack(
            [log.time, log.channels["torque"], log.channels["position"], log.channels["velocity"]]
        )
        header = "time [s],torque [N m],position [rad],velocity [rad/s]"
        np.savetxt(folder / f"{log.name}.csv", columns, delimiter=",", header=header, comments="")
    return [*(str(folder / f"{log.name}.csv") for log in logs), "--out", str(folder / "result"), "--no-cache"]


def test_the_command_tells_the_ranking_and_writes_it_as_one(ranking, logs, tmp_path, monkeypatch):
    monkeypatch.setattr("sysid._command_compare.compare", lambda *_, **__: ranking)
    arguments = ["compare", *_typed(logs, tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "picked: M3" in done.stdout
    assert "model " in done.stdout
    files = {file.name: file.read_bytes() for file in (tmp_path / "result").iterdir()}
    assert set(files) == {"compare.png", "compare.json", "fit.json"}
    assert json.loads(files["compare.json"])["picked"] == "M3"
    assert json.loads(files["fit.json"])["logs"]["run0"] == {"source": "run0.csv", "rows": ROWS}

    # The disk is full when the last of the three is written: all of the earlier result is still there.
    monkeypatch.setattr("sysid._command_compare.png", lambda _: b"another picture")
    written = []

    def full(descriptor):
        written.append(descriptor)
        if len(written) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 1
    assert "fit.json: cannot be written: No space left on device" in refused.stderr
    assert {file.name: file.read_bytes() for file in (tmp_path / "result").iterdir()} == files


def test_errors_within_two_percent_are_one_and_the_smaller_model_is_taken(ranking):
    small, large = sorted(ranking.contenders, key=lambda c: len(c.fit.estimates))
    for behind, picked in ((1.01, small), (1.03, large)):
        order = (dataclasses.replace(large, score=1.0), dataclasses.replace(small, score=behind))
        assert Ranking(order, "log", {}).picked.name == picked.name


def test_groups_by_a_condition(logs):
    mixed = [*logs[:2], logs[2].replace(conditions={"mass": 1.0})]
    assert [g.members for g in groups(mixed, "mass")] == [(0, 1), (2,)]
    assert [g.name for g in groups(mixed, "mass")] == ["mass 0.5", "mass 1"]
    with pytest.raises(sysid.ModelError, match="needs two groups"):
        groups(logs, "mass")
    with pytest.raises(sysid.ModelError, match="no such condition"):
        groups(logs, "kp")
    assert usual_split(sysid.choose_model(logs), mixed) == "log"


def test_unknown_models_are_refused_before_anything_is_fitted(logs):
    with pytest.raises(sysid.ModelError, match="choose one of M1"):
        sysid.compare(logs, ("M7",))
    with pytest.raises(sysid.ModelError, match="no friction model"):
        sysid.compare(logs, ())


@pytest.mark.parametrize("name", list(FRICTION_MODELS))
def test_another_friction_keeps_what_both_have(logs, name):
    base = sysid.choose_model(logs, values={"coulomb_friction": 0.03})
    changed = with_friction(base, name)
    assert set(FRICTION_MODELS[name].free) <= set(changed.free.names)
    back = with_friction(changed, "M1")
    assert set(back.free.names) == set(base.free.names)
    assert float(back.params.actuator.dry_friction.coulomb_friction) == pytest.approx(0.03)
    # A value that a user holds stays held.
    held = with_friction(changed, "M4").adjusted(fix={"stribeck_velocity": 0.4})
    assert "stribeck_velocity" not in with_friction(held, "M5").free.names
    assert float(with_friction(held, "M5").params.actuator.dry_friction.stribeck.stribeck_velocity) == 0.4


def test_windows_have_their_own_initial_states(logs):
    made = setup(sysid.choose_model(logs), logs, window=0.25)
    assert len(made.cut) == 12
    assert {piece.last - piece.first for piece in made.cut} == {50}
    with pytest.raises(sysid.ModelError, match=r"--window 0\.01"):
        setup(sysid.choose_model(logs), logs, window=0.01)
