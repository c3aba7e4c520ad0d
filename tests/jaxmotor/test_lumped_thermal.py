"""One thermal node: its own discrete closed form, its order, and what heat does to torque."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

NODE = jm.LumpedThermal()


def after(params, heat, dt, start=0.0):
    """Temperature rise after rows of heat [W]."""
    zero = jnp.zeros(())

    def body(state, watts):
        return NODE.step(state, params, watts, zero, zero, jnp.asarray(dt))[0], state.temperature_rise

    state, rises = jax.jit(lambda: jax.lax.scan(body, jm.LumpedThermalState(jnp.asarray(start)), jnp.asarray(heat)))()
    return float(state.temperature_rise), np.asarray(rises)


@pytest.mark.parametrize(("resistance", "capacitance", "watts", "dt"), [(8.0, 0.5, 3.0, 0.01), (4.0, 50.0, 10.0, 1.0)])
def test_step_response(resistance, capacitance, watts, dt):
    # Explicit Euler: T[n] = R_T P (1 - (1 - h / (R_T C))^n), whatever the step.
    params = jm.LumpedThermalParams(resistance, capacitance)
    end, rises = after(params, np.full(300, watts), dt)
    factor = 1 - dt / (resistance * capacitance)
    np.testing.assert_allclose(rises, resistance * watts * (1 - factor ** np.arange(300)), rtol=1e-11, atol=1e-13)
    assert end == pytest.approx(resistance * watts * (1 - factor**300), rel=1e-12)


def test_no_way_out_for_the_heat():
    params = jm.LumpedThermalParams(np.inf, 2.0)
    assert after(params, np.full(100, 4.0), 0.1)[0] == pytest.approx(100 * 4.0 * 0.1 / 2.0, rel=1e-12)
    slope = jax.grad(lambda p: NODE.step(NODE.init(p), p, *jnp.ones((3,)), jnp.asarray(0.1))[0].temperature_rise)
    assert all(np.isfinite(x) for x in jax.tree.leaves(slope(params)))


def test_first_order():
    # C dT/dt = P(t) - T / R_T with P = 5 + 3 sin(2 t): T = 20 (1 - e^(-t/2)) + part of the sine, t_T = 2 s, C = 0.5.
    params = jm.LumpedThermalParams(4.0, 0.5)
    end, a, w = 3.0, 0.5, 2.0
    swing = 3 / 0.5 * (a * np.sin(w * end) - w * np.cos(w * end) + w * np.exp(-a * end)) / (a**2 + w**2)
    exact = 20 * (1 - np.exp(-a * end)) + swing
    rows = np.array([200, 400, 800, 1600])
    errors = [abs(after(params, 5 + 3 * np.sin(2 * end / n * np.arange(n)), end / n)[0] - exact) for n in rows]
    assert np.polyfit(np.log(1 / rows), np.log(errors), 1)[0] == pytest.approx(1, abs=0.1)


def motor(ambient, rise):
    stage = jm.Motor(jm.QuasiStatic(), thermal=NODE)
    params = jm.MotorParams(
        jm.QuasiStaticParams(2.0, 0.05, 0.05), thermal=jm.LumpedThermalParams(4.0, 50.0, 0.0039, 25.0, ambient)
    )
    state = stage.init(params)
    return stage, params, jm.MotorState(state.winding, jm.LumpedThermalState(jnp.asarray(rise)), None, None)


# P07: R(125 degC) = 2 (1 + 0.39) = 2.78; tau = K (12 - K w) / R; slopes -K^2 / R and -tau alpha R0 / R.
@pytest.mark.parametrize(("ambient", "rise"), [(25.0, 100.0), (20.0, 105.0)])
def test_hot_winding(ambient, rise):
    stage, params, state = motor(ambient, rise)

    def torque(speed, rise):
        warm = jm.MotorState(state.winding, jm.LumpedThermalState(rise), None, None)
        _, out = stage.step(warm, params, jnp.asarray(12.0), jnp.asarray(0.0), speed, jnp.asarray(1e-3))
        return out.electrical_torque

    at = jnp.asarray(100.0), jnp.asarray(rise)
    assert float(stage.hot_winding(state, params).resistance) == pytest.approx(2.78, rel=1e-12)
    assert float(torque(*at)) == pytest.approx(0.125899, rel=1e-5)
    assert float(jax.grad(torque)(*at)) == pytest.approx(-8.99281e-4, rel=1e-5)
    assert float(jax.grad(torque, argnums=1)(*at)) == pytest.approx(-3.53243e-4, rel=1e-5)


def test_heat_is_that_of_the_start_and_ambient_may_be_measured():
    stage, params, state = motor(25.0, 100.0)
    zero = jnp.zeros(())
    after_step, out = stage.step(state, params, jnp.asarray(12.0), zero, jnp.asarray(100.0), jnp.asarray(0.5))
    # i = 7 / 2.78 A, P = R i^2; T+ = 100 + 0.5 (P - 100 / 4) / 50.
    heat = 7**2 / 2.78
    assert float(out.copper_loss) == pytest.approx(heat, rel=1e-12)
    assert float(after_step.thermal.temperature_rise) == pytest.approx(100 + 0.01 * (heat - 25), rel=1e-12)
    assert float(out.temperature) == 125.0
    cool = NODE.at_ambient(params.thermal, jnp.asarray(5.0))
    assert float(NODE.temperature(state.thermal, cool)) == 105.0
    assert NODE.at_ambient(params.thermal, None) is params.thermal
