"""Images of one cogging torque are one place: starts that end at them leave nothing open."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jaxmotor as jm
import sysid
from sysid._mirror import upright
from sysid._model import Model
from sysid._normal_equations import Point
from sysid._setup import setup

from . import motor_logs

TRUTH = {"resistance": 1.3, "motor_constant": 0.045, "inertia": 4e-5, "viscous_damping": 2e-5}
AMPLITUDE, PHASE, POLES, STEP, ROWS = 4e-3, 0.8, 7.0, 1e-3, 900


def cogging_log():
    """A motor with magnets against teeth under random levels of voltage, by an adaptive integrator."""
    generator, volts = np.random.default_rng(0), motor_logs.levels(ROWS, seed=1, largest=4.0, hold=90)
    r, k, j, b = TRUTH.values()

    def rates(time, state, voltage):
        angle, speed = state
        torque = k * (voltage - k * speed) / r + AMPLITUDE * np.sin(POLES * angle + PHASE)
        return [speed, (torque - b * speed) / j]

    states = [np.zeros(2)]
    for voltage in volts[:-1]:
        run = solve_ivp(rates, (0.0, STEP), states[-1], args=(voltage,), rtol=1e-10, atol=1e-12)
        states.append(run.y[:, -1])
    angle, speed = np.array(states).T
    current = (volts - k * speed) / r
    return sysid.Log(
        "cogging",
        STEP * np.arange(ROWS, dtype=np.float64),
        {
            "voltage": volts,
            "position": angle + 1e-3 * generator.standard_normal(ROWS),
            "velocity": speed + 0.05 * generator.standard_normal(ROWS),
            "current": current + 0.01 * generator.standard_normal(ROWS),
        },
    )


def model(amplitude, phase, names=("resistance", "motor_constant", "inertia", "viscous_damping", "amplitude", "phase")):
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic(), cogging=jm.Cogging()), jm.VoltageDrive(), drag=jm.ViscousDrag())
    motor = jm.MotorParams(jm.QuasiStaticParams(1.6, 0.04, 0.04), cogging=jm.CoggingParams(amplitude, POLES, phase))
    params = jm.BenchParams(jm.ActuatorParams(motor, drag=jm.ViscousDragParams(3e-5)), jm.RigidLoadParams(5e-5))
    made = Model(jm.Bench(actuator, jm.RigidLoad()), params, sysid.Free(()), "a cogging motor", "voltage")
    return dataclasses.replace(made, free=sysid.free(made.subject, names))


@pytest.fixture(scope="module")
def log():
    return cogging_log()


def test_images_predict_the_same(log):
    made = setup(model(3e-3, 0.5), [log])
    generator = np.random.default_rng(2)
    at = np.asarray(made.model.free.coordinates([p.start for p in made.model.free.parameters]))
    points = np.tile(at, (6, 1))
    points[:, -2:] = generator.uniform([-3, -30], [3, 30], (6, 2))
    images = upright(made, Point(jnp.asarray(points), jnp.zeros((6, 1, 2))))
    values = np.asarray(images.coordinates) * [1, 1, 1, 1, 3e-3, 0.5]
    assert np.all(values[:, 4] > 0)
    assert np.all(np.abs(values[:, 5] - 0.5) <= np.pi)
    np.testing.assert_array_equal(images.coordinates[:, :4], points[:, :4])
    run = eqx.filter_jit(made.problem.predictions)
    for before, after in zip(points, images.coordinates, strict=True):
        there, here = (run(Point(jnp.asarray(x), jnp.zeros((1, 2)))) for x in (before, after))
        np.testing.assert_allclose(here["velocity"], there["velocity"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_starts_at_images_leave_nothing_open(log, sign):
    """Random starts fall on both sides of zero; the answer stands on the side of the value that was given."""
    fit = sysid.fit(log, model=model(sign * 2e-3, 0.3), substeps=4)
    found = {estimate.name: estimate for estimate in fit.estimates}
    assert {estimate.flag for estimate in fit.estimates} == {"identified"}
    assert "starts_disagree" not in {caution.code for caution in fit.cautions}
    assert found["amplitude"].value == pytest.approx(sign * AMPLITUDE, rel=0.05)
    expected = PHASE if sign > 0 else PHASE - np.pi
    assert found["phase"].value == pytest.approx(expected, abs=0.1)
