"""Runs: rows and instants, float types, result codes, rows that carry more than a command."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor._lumped_thermal import LumpedThermalState


def bench(supply=None, thermal=None):
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic(), thermal=thermal or jm.Isothermal()),
        jm.DutyDrive() if supply else jm.VoltageDrive(),
        supply=supply or jm.IdealSupply(),
    )
    return jm.Bench(actuator, jm.RigidLoad())


def params(supply=None, thermal=None):
    winding = jm.QuasiStaticParams(0.5, 0.05, 0.05)
    own = jm.ActuatorParams(jm.MotorParams(winding, thermal), supply=supply, gear=jm.GearParams(2.0, 1e-5))
    return jm.BenchParams(own, jm.RigidLoadParams(2e-4))


def test_row_k_is_the_instant_before_step_k():
    whole, both = bench(), params()
    state = whole.init(both, 0.3, 5.0)
    ctrl = jnp.asarray([1.0, -2.0, 3.0])
    last, out = jm.rollout(whole, state, both, ctrl, 1e-2)
    for k in range(3):
        assert float(out.qpos[k]) == pytest.approx(float(state.qpos), rel=1e-14)
        assert float(out.qvel[k]) == pytest.approx(float(state.qvel), rel=1e-14)
        # Current just after the row's command, at the row's speed.
        assert float(out.actuator.current[k]) == pytest.approx((float(ctrl[k]) - 0.1 * float(state.qvel)) / 0.5)
        before = state
        state, one = whole.step(state, both, ctrl[k], jnp.asarray(1e-2))
        # Torque acts until the next row: momentum balances.
        gained = (2e-4 + 4e-5) * (state.qvel - before.qvel) / 1e-2
        assert float(one.joint_torque) == pytest.approx(float(gained), rel=1e-12)
    assert float(last.qpos) == pytest.approx(float(state.qpos), rel=1e-14)


def test_one_step_per_row_or_one_for_all():
    whole, both = bench(), params()
    ctrl = jnp.linspace(0.0, 5.0, 20)
    steps = np.linspace(1e-3, 3e-3, 20)
    last, _ = jm.rollout(whole, whole.init(both), both, ctrl, steps)
    state = whole.init(both)
    for command, dt in zip(ctrl, steps, strict=True):
        state, _ = whole.step(state, both, command, jnp.asarray(dt))
    assert float(last.qpos) == pytest.approx(float(state.qpos), rel=1e-13)
    with pytest.raises(ValueError, match=r"one per row \(20 rows\)"):
        jm.rollout(whole, whole.init(both), both, ctrl, steps[:3])
    with pytest.raises(ValueError, match="one per row"):
        jm.replay(whole.actuator, whole.actuator.init(both.actuator), both.actuator, ctrl, ctrl, ctrl, steps[:3])
    with pytest.raises(ValueError, match=r"have \[19, 20, 20\] rows: give all of them the same number"):
        jm.replay(whole.actuator, whole.actuator.init(both.actuator), both.actuator, ctrl[1:], ctrl, ctrl, 1e-3)


def test_mixed_float_types_are_named():
    """Case P32."""
    whole, both = bench(), params()
    single = jax.tree.map(lambda x: x.astype(jnp.float32), both)
    with pytest.raises(TypeError, match=r"state.*float32.*float64"):
        jm.rollout(whole, whole.init(single), both, jnp.zeros(3), 1e-3)
    with pytest.raises(TypeError, match=r"ctrl.*float64.*float32"):
        jm.rollout(whole, whole.init(single), single, jnp.zeros(3), 1e-3)
    mixed = jm.BenchParams(both.actuator, single.load)
    with pytest.raises(TypeError, match=r"load\.inertia.*float32"):
        jm.rollout(whole, whole.init(both), mixed, jnp.zeros(3), 1e-3)
    # Numbers of Python and NumPy take the run's type.
    state, out = jm.rollout(whole, whole.init(single), single, np.zeros(3), 1e-3)
    kinds = {x.dtype for x in jax.tree.leaves((state, out))}
    assert kinds == {jnp.dtype(jnp.float32), jnp.dtype(jnp.int32)}


def test_result_codes_per_batch_element():
    whole, both = bench(), params()
    ctrl = jnp.stack([jnp.ones(4), jnp.ones(4).at[2].set(jnp.nan), jnp.full(4, 1e308)])
    run = jax.vmap(lambda u: jm.rollout(whole, whole.init(both), both, u, 1e-1)[1].result)
    assert [jm.Result(int(x)) for x in run(ctrl)] == [jm.Result.OK, jm.Result.BAD_INPUT, jm.Result.NOT_FINITE]


def test_rows_with_bus_voltage_enable_and_ambient():
    thermal = jm.LumpedThermalParams(4.0, 50.0, temperature_coefficient=0.0039)
    whole, both = bench(jm.FixedSupply(), jm.LumpedThermal()), params(jm.FixedSupplyParams(24.0), thermal)
    rows = jm.Input(
        jnp.asarray([0.5, 0.5, 0.5]),
        bus_voltage=jnp.asarray([10.0, 20.0, 20.0]),
        enabled=jnp.asarray([True, True, False]),
        ambient=jnp.asarray([25.0, 25.0, 30.0]),
    )
    _, out = jm.rollout(whole, whole.init(both), both, rows, 1e-4)
    np.testing.assert_allclose(out.actuator.voltage[:2], [5.0, 10.0])
    assert float(out.actuator.current[2]) == pytest.approx(0.0, abs=1e-12)
    assert float(out.actuator.joint_torque[2]) == pytest.approx(0.0, abs=1e-12)
    rise = np.asarray(out.actuator.temperature) - np.asarray(rows.ambient)
    assert rise[0] == 0
    assert rise[2] > rise[1] > 0
    with pytest.raises(ValueError, match="use FixedSupply"):
        jm.rollout(bench(), bench().init(params()), params(), jm.Input(jnp.ones(2), bus_voltage=jnp.ones(2)), 1e-3)
    assert isinstance(whole.init(both).actuator.motor.thermal, LumpedThermalState)


def test_replay_follows_the_given_motion():
    whole, both = bench(), params()
    speed = jnp.linspace(0.0, 20.0, 50)
    ctrl = jnp.full(50, 3.0)
    own = both.actuator
    _, out = jm.replay(whole.actuator, whole.actuator.init(own), own, ctrl, jnp.zeros(50), speed, 1e-3)
    np.testing.assert_allclose(out.current, (3.0 - 0.1 * speed) / 0.5)
