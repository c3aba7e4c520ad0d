"""Recorded geared servos: friction models that predict gains, runs and rows which the fit has not seen."""

import pathlib
import resource
import subprocess
import sys

import numpy as np
import pytest

import sysid
from sysid._choose import choose_model
from sysid._with_friction import with_friction

MODELS = pathlib.Path(__file__).parents[1] / "examples" / "models"
pytestmark = pytest.mark.slow


def xl330(shared) -> list[sysid.Log]:
    return [sysid.read_log(p) for p in sorted((shared / "logs/real/xl330_bam_kp100_400").glob("*.json"))]


def of_gain(logs: list[sysid.Log], gain: float) -> list[sysid.Log]:
    return [log for log in logs if log.conditions["kp"] == gain]


def mean_error(result: sysid.Fit, role: str) -> float:
    """Mean absolute error of the position over all rows [rad]."""
    scored = [c.metric() for c in result.comparisons if c.channel == "position" and c.role == role]
    return sum(m["mae"] * m["rows"] for m in scored) / sum(m["rows"] for m in scored)


@pytest.mark.parametrize(("friction", "most"), [("M1", 0.0450), ("M3", 0.0253), ("M4", 0.0246)])
def test_xl330_jointly_under_the_law_of_bam(shared, friction, most):
    result = sysid.fit(xl330(shared), friction=friction, substeps=1)
    assert mean_error(result, "train") <= most


@pytest.mark.parametrize(("trained", "asked", "most"), [(400, 100, 0.040), (100, 400, 0.066)])
def test_the_shipped_xl330_model_predicts_the_other_gain(shared, trained, asked, most):
    logs = xl330(shared)
    model = sysid.read_model(MODELS / "xl330.toml")
    result = sysid.fit(
        of_gain(logs, trained), hold_out=of_gain(logs, asked), model=model, starts=4, iterations=40, substeps=1
    )
    assert mean_error(result, "hold-out") <= most


def test_cross_validation_picks_a_model_that_predicts_both_gains(shared):
    model = sysid.read_model(MODELS / "xl330.toml")
    ranking = sysid.compare(xl330(shared), ("M1", "M3", "M4"), by="kp", model=model)
    folds = ranking.picked.folds
    assert ranking.picked.name != "M1"
    assert folds["kp 100"]["position"] <= 0.040
    assert folds["kp 400"]["position"] <= 0.066
    assert ranking.picked.train["position"] <= 0.0246


def test_xl330_open_loop_in_windows_of_half_a_second(shared):
    model = sysid.read_model(MODELS / "xl330_open_loop.toml")
    result = sysid.fit(xl330(shared), model=model, window=0.5, starts=4, substeps=1)
    assert mean_error(result, "train") <= 0.016
    assert "undetermined" in {caution.code for caution in result.cautions}


@pytest.mark.parametrize(("window", "most"), [(0.375, 0.015), (1.3, 0.060)])
@pytest.mark.parametrize("trained", ["sysid", "direct_collocation"])
def test_one_run_of_the_ak80_predicts_the_other(shared, trained, window, most):
    folder = shared / "logs/real/ak80_dfki_pendulum"
    logs = {name: sysid.read_log(folder / f"{name}_data_measured.csv") for name in ("sysid", "direct_collocation")}
    held = logs.pop("direct_collocation" if trained == "sysid" else "sysid")
    model = sysid.read_model(MODELS / "ak80.toml")
    result = sysid.fit(logs[trained], hold_out=held, model=model, window=window, substeps=1)
    rms = next(c.metric()["rmse"] for c in result.comparisons if c.role == "hold-out")
    assert rms <= most


STOP = -1.034
"""Where the wrist of this arm meets its mechanical stop [rad]."""


@pytest.mark.parametrize(("motion", "joint"), [("single_joint_rotation", 0), ("single_joint_wrist_roll", 4)])
def test_the_rest_of_an_so101_log_is_predicted_by_its_first_part(shared, motion, joint):
    log = sysid.read_log(shared / f"logs/real/so101_sage/{motion}_state_motor.csv", joint=joint)
    if joint == 4:
        # The stop is no part of the servo: rows at it do not count, and commands beyond it end there.
        near = np.minimum(log.channels["command"], log.channels["position"]) < STOP + 0.08
        log = log.replace(
            channels=log.channels | {"command": np.maximum(log.channels["command"], STOP)},
            masks=log.masks | {"position": log.masks["position"] & ~near},
        )
    rows = int(0.7 * len(log))
    rest = log.select(slice(rows, None)).replace(name="rest")
    model = sysid.read_model(MODELS / "sts3215.toml")
    result = sysid.fit(log.select(slice(0, rows)), hold_out=rest, model=model, substeps=1)
    assert mean_error(result, "hold-out") <= 2 * mean_error(result, "train")


@pytest.mark.parametrize("seed", [0, 2])
def test_weak_ends_of_the_richest_friction_are_flagged(shared, seed):
    """Load explains what Coulomb's term would, and these logs hardly show how friction fades with speed.

    The searches end in valleys of nearly one depth, and each says of every fading term in its own way that it is weak.
    """
    result = sysid.fit(xl330(shared), friction="M4", substeps=1, seed=seed, each_log=False)
    found = {estimate.name: estimate for estimate in result.estimates}
    told = {caution.code: set(caution.parameters) for caution in result.cautions}
    assert found["coulomb_friction"].at_bound
    assert found["coulomb_friction"].ci95 is None
    assert "coulomb_friction" in told["at_bound"]
    fading = {"stribeck_friction", "stribeck_velocity", "stribeck_exponent", "slow_load.load_friction"}
    assert all(found[name].flag in ("weak", "open", "at bound") for name in fading)
    assert fading <= told["undetermined"] | told["at_bound"] | told.get("weak", set())


def with_cap(logs: list[sysid.Log], friction: str, free: tuple[str, ...]) -> sysid.Fit:
    model = with_friction(choose_model(logs), friction).adjusted(free=free)
    return sysid.fit(logs, model=model, substeps=1, each_log=False)


@pytest.mark.parametrize("friction", ["M1", "M3", "M4"])
def test_resistance_and_torque_constant_are_told_to_be_confounded(shared, friction):
    """Only a servo that is let go shows its friction apart from its back-EMF; a free current cap covers the rest."""
    driven = [log for log in xl330(shared) if "lift_and_drop" not in log.name]
    assert len(driven) == 6
    result = with_cap(driven, friction, ("current_limit",))
    found = {estimate.name: estimate for estimate in result.estimates}
    names = [e.name for e in result.estimates if not e.at_bound]
    pair = result.correlation[names.index("resistance"), names.index("motor_constant")]
    assert abs(pair) == pytest.approx(0.99, abs=0.02)
    (told,) = (caution for caution in result.cautions if caution.code == "confounded")
    assert {"resistance", "motor_constant", "current_limit"} <= set(told.parameters)
    assert not any(found[name].flag == "identified" for name in ("resistance", "motor_constant", "current_limit"))
    assert result.status == "warning"


@pytest.mark.parametrize("friction", ["M1", "M3", "M4"])
def test_nothing_is_confounded_where_servos_are_let_go(shared, friction):
    result = with_cap(xl330(shared), friction, ())
    assert "confounded" not in {caution.code for caution in result.cautions}


def cpu_seconds(*arguments: object) -> float:
    """Processor time of `sysid fit` from the shell, start of Python and compilation included [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "sysid.cli", "fit", *map(str, arguments)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_twelve_starts_cost_less_than_three_times_one(shared, tmp_path):
    """Starts share one program and its compilation; processor time, so that a busy machine does not count."""
    paths = sorted((shared / "logs/real/xl330_bam_kp100_400").glob("*.json"))
    cost = {
        starts: cpu_seconds(
            *paths, "--friction", "M3", "--starts", starts, "--no-cache", "--out", tmp_path / f"starts{starts}"
        )
        for starts in (1, 12)
    }
    assert cost[12] < 3 * cost[1], cost
