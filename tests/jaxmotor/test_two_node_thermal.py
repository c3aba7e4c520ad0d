"""Two thermal nodes: the closed form of their own rule, the book's final state, heat balance, what heat changes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.linalg import expm

import jaxmotor as jm

positive = st.floats(0.1, 10.0)


def matrices(params):
    one, two = 1 / float(params.winding_thermal_resistance), 1 / float(params.housing_thermal_resistance)
    capacity = np.diag([float(params.winding_thermal_capacitance), float(params.housing_thermal_capacitance)])
    return capacity, np.array([[one, -one], [-one, one + two]])


@jax.jit
def heat(params, watts, speed, dt):
    stage = jm.TwoNodeThermal()

    def body(state, _):
        state, _ = stage.step(state, params, watts, jnp.zeros_like(speed), speed, dt)
        return state, (state.temperature_rise, state.housing_rise)

    return jnp.stack(jax.lax.scan(body, stage.init(params), length=40)[1], axis=1)


@settings(max_examples=40)
@given(positive, positive, positive, positive, st.floats(0, 5), st.floats(0, 50), st.floats(1e-3, 100.0))
def test_step_response_is_the_closed_form_of_its_rule(r1, r2, c1, c2, watts, speed, dt):
    """x_n = (1 - M^n) x_final with M = (C + h/2 G)^-1 (C - h/2 G), for any step."""
    params = jm.TwoNodeThermalParams(r1, r2, c1, c2, 1e-3)
    capacity, conductance = matrices(params)
    final = np.linalg.solve(conductance, [watts, 1e-3 * speed**2])
    rule = np.linalg.solve(capacity + dt / 2 * conductance, capacity - dt / 2 * conductance)
    rises = np.asarray(heat(params, *(jnp.asarray(x) for x in (watts, speed, dt))))
    for n in (1, 2, 40):
        expected = (np.eye(2) - np.linalg.matrix_power(rule, n)) @ final
        np.testing.assert_allclose(rises[n - 1], expected, rtol=1e-9, atol=1e-11)


def test_second_order_against_the_exact_response():
    params = jm.TwoNodeThermalParams(2.0, 4.65, 16.8, 152.0)
    capacity, conductance = matrices(params)
    final = np.linalg.solve(conductance, [8.0, 0.0])
    # One winding time constant of 33.6 s, by 40 steps and by 20 of twice the size.
    errors = []
    for dt, rows in ((0.84, 40), (1.68, 20)):
        exact = (np.eye(2) - expm(-np.linalg.solve(capacity, conductance) * 33.6)) @ final
        rises = np.asarray(heat(params, *(jnp.asarray(x) for x in (8.0, 0.0, dt))))
        errors.append(np.abs(rises[rows - 1] - exact))
    np.testing.assert_allclose(np.log2(errors[1] / errors[0]), 2.0, atol=0.1)


def test_final_temperatures():
    """T1 = Ta + (R1 + R2) P1 + R2 P2: copper heats through both resistances, iron through the outer one."""
    params = jm.TwoNodeThermalParams(2.0, 4.65, 16.8, 152.0, 1e-4, ambient_temperature=22.0)
    stage = jm.TwoNodeThermal()
    state = stage.init(params)
    state, _ = stage.step(state, params, *(jnp.asarray(x) for x in (8.0, 0.0, 100.0, 1e12)))
    # The trapezoidal rule overshoots to twice the final state in one endless step.
    assert float(stage.temperature(state, params)) - 22 == pytest.approx(2 * (6.65 * 8 + 4.65 * 1.0), rel=1e-6)
    assert float(stage.housing_temperature(state, params)) - 22 == pytest.approx(2 * 4.65 * 9.0, rel=1e-6)


def test_what_heat_changes():
    params = jm.TwoNodeThermalParams(2.0, 4.65, 16.8, 152.0, 0.0, 0.0039, -0.002, 25.0, 20.0)
    state = jm.TwoNodeThermalState(jnp.asarray(105.0), jnp.asarray(45.0))
    hot = jm.TwoNodeThermal().heated(state, params, jm.InductiveParams(2.0, 0.05, 0.04, 1e-3))
    assert float(hot.resistance) == pytest.approx(2.0 * 1.39)
    assert float(hot.torque_constant) == pytest.approx(0.05 * 0.92)
    assert float(hot.back_emf_constant) == pytest.approx(0.04 * 0.92)
    assert float(hot.inductance) == pytest.approx(1e-3)
    warm = jm.TwoNodeThermal().at_ambient(params, jnp.asarray(40.0))
    assert float(jm.TwoNodeThermal().temperature(state, warm)) == 145.0


def test_hot_winding_in_the_torque_and_its_derivatives():
    """Case P07 with the heat in a two-node stage."""
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic(), thermal=jm.TwoNodeThermal()), jm.VoltageDrive())
    thermal = jm.TwoNodeThermalParams(1.0, 1.0, 10.0, 10.0, temperature_coefficient=0.0039, ambient_temperature=20.0)
    params = jm.ActuatorParams(jm.MotorParams(jm.QuasiStaticParams(2.0, 0.05, 0.05), thermal))
    state = actuator.init(params)

    def torque(rise, speed):
        hot = jm.TwoNodeThermalState(rise, jnp.zeros(()))
        started = jm.ActuatorState(None, None, None, None, jm.MotorState(None, hot, None, None))
        values = (jnp.asarray(x) for x in (12.0, 0.0))
        return actuator.step(started, params, *values, speed, jnp.asarray(1e-3))[1].joint_torque

    assert jax.tree.structure(state) is not None
    at = (jnp.asarray(105.0), jnp.asarray(100.0))
    assert float(torque(*at)) == pytest.approx(0.125899, rel=1e-5)
    slopes = jax.grad(torque, argnums=(0, 1))(*at)
    assert [float(x) for x in slopes] == pytest.approx([-3.53243e-4, -8.99281e-4], rel=1e-5)


def test_saturating_torque():
    """Kt(i) falls as asinh(x) / x, the same both ways, and tells the drive's error."""
    law, params = jm.SaturatingTorque(), jm.SaturatingTorqueParams(10.0)
    torque = [float(law.torque(params, jnp.asarray(0.05), jnp.asarray(i))) for i in (1e-6, 10.0, 20.0, -20.0)]
    assert torque[0] == pytest.approx(0.05e-6)
    assert torque[1] == pytest.approx(0.05 * 10 * 0.881374, rel=1e-6)
    assert torque[2] == pytest.approx(0.05 * 20 * 0.721818, rel=1e-6)
    assert torque[3] == -torque[2]
    motor = jm.Motor(jm.QuasiStatic(), torque_law=law)
    actuator = jm.Actuator(motor, jm.TorqueDrive())
    own = jm.ActuatorParams(jm.MotorParams(jm.QuasiStaticParams(1.0, 0.05, 0.05), torque_law=params))
    values = (jnp.asarray(x) for x in (1.0, 0.0, 0.0, 1e-3))
    _, out = actuator.step(actuator.init(own), own, *values)
    assert float(out.current) == pytest.approx(20.0)
    assert float(out.joint_torque) == pytest.approx(0.721818, rel=1e-6)
