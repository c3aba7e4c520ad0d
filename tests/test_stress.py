"""Long runs, large batches and numbers out of range: nothing drifts, nothing spreads, nothing is kept silent."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor._battery import Battery, BatteryParams

_MOTOR = (1.6, 0.042, 0.042)


def _bench(integrator=None, heat=0.0):
    """A motor with heat on a disc, fed by a battery of 2 A h at 12 V."""
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic(), jm.LumpedThermal()), jm.DutyDrive(), Battery(), drag=jm.PolynomialDrag()
    )
    thermal = jm.LumpedThermalParams(4.0, 5.0, heat)
    battery = BatteryParams(jnp.array([12.0, 12.0]), jnp.array([0.0, 1.0]), 0.0, 2.0)
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(*_MOTOR), thermal),
        supply=battery,
        drag=jm.PolynomialDragParams(3e-5, 1e-7, 1e-9),
    )
    bench = jm.Bench(actuator, jm.RigidLoad(), **({} if integrator is None else {"integrator": integrator}))
    return bench, jm.BenchParams(params, jm.RigidLoadParams(5.5e-5))


def test_one_bad_element_of_4096_is_named_and_touches_no_other():
    bench, params = _bench(heat=0.0039)
    resistance = jnp.linspace(1.4, 1.8, 4096)
    duty = jnp.sin(jnp.linspace(0.0, 6.0, 20))

    @jax.jit
    @jax.vmap
    def run(resistance):
        changed = eqx.tree_at(lambda p: p.actuator.motor.winding.resistance, params, resistance)
        return jm.rollout(bench, bench.init(changed), changed, duty, 1e-3)[1]

    whole, spoiled = run(resistance), run(resistance.at[1234].set(jnp.nan))
    assert np.all(np.asarray(whole.result) == jm.Result.OK)
    assert np.nonzero(np.asarray(spoiled.result))[0].tolist() == [1234]
    assert spoiled.result[1234] == jm.Result.BAD_INPUT
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(spoiled), strict=True):
        np.testing.assert_array_equal(np.delete(one, 1234, 0), np.delete(other, 1234, 0))


def test_heat_that_blows_up_is_reported_though_the_motion_does_not():
    bench, params = _bench(jm.Prescribed(), heat=0.0039)
    # 1e200 V over 1.6 ohm give a finite current, whose square is not.
    volts = jnp.array([12.0, 1e200, 12.0])
    rows = jm.Input(jnp.ones(3), bus_voltage=volts)
    state, out = jm.rollout(bench, bench.init(params), params, rows, 1e-3)
    assert jnp.all(jnp.isfinite(out.qpos))
    assert jnp.all(jnp.isfinite(out.qvel))
    assert not jnp.isfinite(state.actuator.motor.thermal.temperature_rise)
    assert out.result == jm.Result.NOT_FINITE
    assert jm.advance(bench, bench.init(params), params, rows, 1e-3)[1] == jm.Result.NOT_FINITE


@pytest.mark.parametrize("integrator", [jm.ExactFlow(), jm.Euler(), jm.ImplicitFast()], ids=lambda i: type(i).__name__)
def test_speeds_whose_cube_has_no_float32_are_reported(integrator):
    """A cubic drag leaves single precision near 1e13 rad/s; a code says so, and up to there all is finite."""
    bench, params = jax.tree.map(
        lambda x: jnp.asarray(x, jnp.float32) if eqx.is_inexact_array(x) else x, _bench(integrator)
    )
    speeds = jnp.asarray([1e3, 1e9, 1e12, 1e15, 1e20, 1e30, 3e38], jnp.float32)

    @jax.jit
    @jax.vmap
    def run(speed):
        state, out = jm.rollout(bench, bench.init(params, qvel=speed), params, jnp.zeros(3, jnp.float32), 1e-3)
        return state, out.result

    states, codes = run(speeds)
    finite = np.all([np.isfinite(leaf) for leaf in jax.tree.leaves(states)], axis=0)
    assert (np.asarray(codes) == jm.Result.OK).tolist() == finite.tolist()
    assert finite.tolist()[:2] == [True, True]
    assert not finite[-1]


def _drained(dtype, steps):
    """State after `steps` of 0.1 ms at 3 rad/s and half the bus, and what it must be."""
    bench, params = _bench(jm.Prescribed())
    params = jax.tree.map(lambda x: jnp.asarray(x, dtype), params)
    start = bench.init(params, qvel=3.0)
    step = jnp.asarray(1e-4, dtype)

    @jax.jit
    def run(state):
        def body(_, state):
            return bench.step(state, params, jnp.asarray(0.5, dtype), step)[0]

        return jax.lax.fori_loop(0, steps, body, state)

    current = (6.0 - _MOTOR[1] * 3.0) / _MOTOR[0]
    rise = _MOTOR[0] * current**2 * 4.0 * -np.expm1(steps * np.log1p(-1e-4 / (4.0 * 5.0)))
    charge = 1.0 - 0.5 * current * steps * 1e-4 / (3600 * 2.0)
    return run(start), rise, charge


def test_a_battery_empties_in_single_precision():
    """Each of the million steps takes 2.6e-8 of the charge, less than the half digit that float32 has there."""
    state, _, charge = _drained(jnp.float32, 1_000_000)
    assert charge < 0.98
    assert float(state.actuator.supply.charge) == pytest.approx(charge, abs=2e-7)


@pytest.mark.slow
def test_ten_million_steps_do_not_drift():
    state, rise, charge = _drained(jnp.float64, 10_000_000)
    assert float(state.qpos) == pytest.approx(3.0 * 1000.0, rel=1e-9)
    assert float(state.actuator.motor.thermal.temperature_rise) == pytest.approx(rise, rel=1e-9)
    assert float(state.actuator.supply.charge) == pytest.approx(charge, rel=1e-12)
