"""A winding that a constant current warms: its error bars are those of the least squares that can be written down."""

import numpy as np
import pytest

import sysid

NOISE = 0.2
MODEL = """
command = "current"
outputs = ["temperature"]

[stages]
controller = "TorqueDrive"
thermal = "LumpedThermal"
integrator = "Prescribed"

[parameters]
resistance = {{ fixed = "{ohm} ohm" }}
motor_constant = {{ fixed = "1 N m/A" }}      # so that the torque asked for is the current
temperature_coefficient = {{ fixed = "0 1/K" }}
ambient_temperature = {{ fixed = "25 degC" }}
inertia = {{ fixed = "1e-4 kg m^2" }}
thermal_resistance = {{ start = "3 K/W" }}
thermal_capacitance = {{ start = "20 J/K" }}
"""


def deviations(time: np.ndarray, resistance: float, capacitance: float, power: float, known: bool) -> np.ndarray:
    """Relative standard deviations of R and C [1] in T = P R (1 - exp(-t / R C)), the start `known` or to 2 K."""
    decay, ratio = np.exp(-time / (resistance * capacitance)), time / (resistance * capacitance)
    by_resistance = power * resistance * (1 - decay - decay * ratio)
    by_capacitance = -power * resistance * decay * ratio
    slopes = np.stack([by_resistance, by_capacitance, decay], axis=1)[:, : 2 if known else 3] / NOISE
    prior = np.diag([0.0, 0.0, (10 * NOISE) ** -2])[: slopes.shape[1], : slopes.shape[1]]
    return np.sqrt(np.diagonal(np.linalg.inv(slopes.T @ slopes + prior)))[:2]


def fitted(folder, seconds: int, resistance: float, capacitance: float, power: float, amps: float) -> sysid.Fit:
    path = folder / "warm.toml"
    path.write_text(MODEL.format(ohm=power / amps**2))
    time = np.arange(seconds + 1.0)
    rise = power * resistance * (1 - np.exp(-time / (resistance * capacitance)))
    noise = NOISE * np.random.default_rng(seconds).standard_normal(len(time))
    log = sysid.Log("warm", time, {"current": np.full(len(time), amps), "temperature": 25 + rise + noise})
    return sysid.fit(log, model=sysid.read_model(path), starts=3)


@pytest.mark.parametrize(
    ("seconds", "stated"),
    [(20, (1.91, 0.077)), (100, (0.038, 0.0081)), pytest.param(600, (6.6e-4, 1.2e-3), marks=pytest.mark.slow)],
)
def test_a_log_too_short_for_the_thermal_resistance(tmp_path, seconds, stated):
    truth = {"thermal_resistance": 4.0, "thermal_capacitance": 50.0}
    np.testing.assert_allclose(deviations(np.arange(seconds + 1.0), 4.0, 50.0, 10.0, known=True), stated, rtol=0.05)
    result = fitted(tmp_path, seconds, 4.0, 50.0, power=10.0, amps=5.0)
    found = {estimate.name: estimate for estimate in result.estimates}
    if seconds == 20:
        assert found["thermal_resistance"].flag in ("open", "at bound")
        assert "thermal_resistance" in {name for caution in result.cautions for name in caution.parameters}
        assert result.status == "warning"
        assert found["thermal_capacitance"].value == pytest.approx(50.0, rel=0.3)
        return
    assert result.status == "ok"
    for (name, value), expected in zip(truth.items(), stated, strict=True):
        assert expected / 2 < found[name].relative < 2 * expected
        assert abs(found[name].value / value - 1) < 3 * found[name].relative


def test_the_unknown_start_is_paid_for(tmp_path):
    numbers = {"resistance": 11.0, "capacitance": 6.0, "power": 3.0}
    result = fitted(tmp_path, 150, **numbers, amps=1.5)
    found = [estimate.relative for estimate in result.estimates]
    np.testing.assert_allclose(found, deviations(np.arange(151.0), **numbers, known=False), rtol=0.15)
