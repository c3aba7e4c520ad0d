"""Recorded logs of real motors: what independent work found in them, or what is known of the motors."""

import dataclasses
import re

import numpy as np
import pytest

import sysid
from sysid._choose import choose_model
from sysid._free import Free


def _values(result: sysid.Fit) -> dict[str, float]:
    return {estimate.name: estimate.value for estimate in result.estimates}


def test_xl330_jointly(shared):
    """Eight runs of a position servo with a pendulum: as close as an evolution strategy came in 132 CPU seconds."""
    folder = shared / "logs" / "real" / "xl330_bam_kp100_400"
    logs = [sysid.read_log(path).resample(5e-3) for path in sorted(folder.glob("*.json"))]
    assert len(logs) == 8
    result = sysid.fit(logs, outputs=["position"])
    errors = [c.metric()["mae"] for c in result.comparisons if c.channel == "position"]
    assert len(errors) == 8
    assert np.mean(errors) <= 0.045
    assert result.status == "warning"
    assert all(np.isfinite(estimate.value) for estimate in result.estimates)
    assert _values(result)["resistance"] > 0


PUBLISHED = {1: (2.37e-5, 8.13e-3), 2: (2.03e-5, 6.97e-3), 3: (2.36e-5, 8.09e-3)}
"""Per motor: viscous damping [N m s/rad] and Coulomb friction [N m]."""


def _robotino_log(shared, name: str, motor: int) -> sysid.Log:
    path = shared / "logs" / "real" / "robotino_dc" / f"data_for_identification_{name}_integral.csv"
    columns = f"command=m{motor}setvel[rad/s],velocity=m{motor}vel[rad/s],current=m{motor}cur[A]"
    return sysid.read_log(path, columns=columns)


def _robotino(shared, name: str, motor: int) -> sysid.Fit:
    return sysid.fit(_robotino_log(shared, name, motor), fix={"motor_constant": 0.0514})


@pytest.mark.parametrize("motor", [1, 2, 3])
@pytest.mark.parametrize("name", ["with", "without"])
def test_robotino(shared, name, motor):
    found = _values(_robotino(shared, name, motor))
    viscous, coulomb = PUBLISHED[motor]
    if name == "with":
        assert found["viscous_damping"] == pytest.approx(viscous, rel=0.15)
        assert found["coulomb_friction"] == pytest.approx(coulomb, rel=0.10)
    assert 0.10 <= found["delay"] + found["lag"] <= 0.155


def test_ak80_pendulum_swings_as_heavy_as_it_is(shared):
    """The raw torque drives it: its spikes carry momentum, without which the inertia comes out at half."""
    path = shared / "logs" / "real" / "ak80_dfki_pendulum" / "sysid_data_measured.csv"
    found = _values(sysid.fit(sysid.read_log(path)))
    assert 0.14 <= found["inertia"] <= 0.18


@pytest.mark.slow
@pytest.mark.parametrize("motor", [1, 2, 3])
@pytest.mark.parametrize("name", ["with", "without"])
def test_robotino_is_as_late_from_any_start(shared, name, motor):
    """A stepped command has no slope in a pure delay: a walk alone would stay where it begins."""
    log = _robotino_log(shared, name, motor)
    model = choose_model([log]).adjusted(fix={"motor_constant": 0.0514})
    late = []
    for delay, lag, seed in ((0.0, 0.3, 0), (0.05, 0.0, 1), (0.1, 0.1, 2), (0.2, 0.05, 3), (0.3, 0.3, 4)):
        begun = {"delay": delay, "lag": lag}
        free = [dataclasses.replace(p, start=begun.get(p.name, p.start)) for p in model.free.parameters]
        found = _values(sysid.fit(log, model=dataclasses.replace(model, free=Free(tuple(free))), seed=seed))
        late.append(found["delay"] + found["lag"])
    assert all(0.10 <= total <= 0.155 for total in late)
    # A tenth of a row.
    assert np.ptp(late) < 3e-3


@pytest.mark.slow
@pytest.mark.parametrize("motor", [1, 2, 3])
@pytest.mark.parametrize("name", ["with", "without"])
def test_a_robotino_without_its_delay_is_told_to_lag(shared, name, motor):
    held = {"motor_constant": 0.0514, "delay": 0.0, "lag": 0.0}
    result = sysid.fit(_robotino_log(shared, name, motor), fix=held)
    (told,) = (caution.message for caution in result.cautions if caution.code == "lagging_residuals")
    late = float(re.search(r"about ([\d.]+) ms later", told).group(1))
    assert 60 <= late <= 160
