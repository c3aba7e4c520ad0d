"""Torque, current and current-rate limits, and what lies exactly on them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor._winding import WindingState


def test_torque_limit():
    limit, params = jm.TorqueLimit(), jm.TorqueLimitParams(2.0)
    for asked, given, code in ((1.0, 1.0, 0), (2.0, 2.0, 0), (3.0, 2.0, 1), (-2.5, -2.0, 1)):
        out = limit.apply(params, jnp.asarray(asked))
        assert float(out.torque) == given
        assert int(out.saturation) == code
    unlimited = limit.apply(jm.TorqueLimitParams(np.inf), jnp.asarray(1e9))
    assert float(unlimited.torque) == 1e9
    slope = jax.grad(lambda p, t: limit.apply(p, t).torque, argnums=(0, 1))
    own, torque = slope(jm.TorqueLimitParams(np.inf), jnp.asarray(2.0))
    assert (float(own.peak_torque), float(torque)) == (0.0, 1.0)
    assert np.isfinite(slope(params, jnp.asarray(2.0))[1])


def test_smooth_limit_is_odd_bends_and_tends_to_the_clip():
    limit = jm.SmoothTorqueLimit()
    torque = jnp.linspace(-9.0, 9.0, 181)
    for width in (0.2, 0.02):
        params = jm.SmoothTorqueLimitParams(2.0, width)
        made = jax.vmap(lambda t, p=params: limit.apply(p, t).torque)(torque)
        np.testing.assert_allclose(made, -made[::-1], atol=1e-12)
        assert np.all(np.diff(made) >= -1e-14)
        assert np.max(np.abs(made - jnp.clip(torque, -2, 2))) <= 2.0 * width * np.log(2) + 1e-12
        slopes = jax.vmap(jax.grad(lambda t, p=params: limit.apply(p, t).torque))(torque)
        assert np.all(np.isfinite(slopes))


def actuator(winding, current_limit):
    return jm.Actuator(jm.Motor(winding), jm.VoltageDrive(), current_limit=current_limit)


@pytest.mark.parametrize("winding", [jm.QuasiStatic(), jm.Inductive()], ids=["resistive", "inductive"])
def test_current_limit_holds_at_the_end_of_the_step(winding):
    own = (
        jm.QuasiStaticParams(0.5, 0.05, 0.05)
        if winding == jm.QuasiStatic()
        else jm.InductiveParams(0.5, 0.05, 0.05, 1e-3)
    )
    params = jm.ActuatorParams(jm.MotorParams(own), current_limit=jm.CurrentLimitParams(4.0))
    act = actuator(winding, jm.CurrentLimit())
    state = act.init(params)
    step = jax.jit(act.step)
    for _ in range(4):
        values = (jnp.asarray(x) for x in (24.0, 0.0, 30.0, 2e-3))
        state, out = step(state, params, *values)
        assert float(out.motor_torque) <= 0.05 * 4 * (1 + 1e-12)
    assert float(out.motor_torque) == pytest.approx(0.2)
    assert int(out.saturation) == jm.Saturation.CURRENT


def test_infinite_current_limit_is_none_with_finite_gradients():
    own = jm.InductiveParams(0.5, 0.05, 0.05, 1e-3)
    act = actuator(jm.Inductive(), jm.CurrentLimit())
    free = actuator(jm.Inductive(), jm.NoCurrentLimit())

    def torque(act, winding, limit):
        params = jm.ActuatorParams(jm.MotorParams(winding), current_limit=limit)
        zero = jnp.zeros(())
        return act.step(act.init(params), params, jnp.asarray(5.0), zero, zero, jnp.asarray(1e-3))[1].motor_torque

    slope = jax.grad(lambda w: torque(act, w, jm.CurrentLimitParams(np.inf)))(own)
    expected = jax.grad(lambda w: torque(free, w, None))(own)
    for got, right in zip(jax.tree.leaves(slope), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-12)


def test_current_rate_limit():
    winding = jm.Inductive(rate=jm.CurrentRateLimit())
    params = jm.InductiveParams(0.5, 0.05, 0.05, 1e-3, rate=jm.CurrentRateLimitParams(100.0))
    zero = jnp.zeros(())
    state, _ = winding.step(WindingState(zero), params, jnp.asarray(24.0), zero, zero, jnp.asarray(1e-5))
    assert float(state.current) == pytest.approx(100 * 1e-5, rel=5e-3)


def test_current_derates_with_temperature():
    """i_rated below T1, i_safe above T2, monotone and smooth in between; the stage is needed."""
    limit, params = jm.DeratedCurrentLimit(), jm.DeratedCurrentLimitParams(20.0, 5.0, 80.0, 120.0)
    at = jax.vmap(lambda t: limit.limit(params, t))
    np.testing.assert_allclose(at(jnp.asarray([20.0, 80.0, 100.0, 120.0, 200.0])), [20, 20, 12.5, 5, 5])
    assert np.all(np.diff(at(jnp.linspace(70.0, 130.0, 200))) <= 0)
    slopes = jax.vmap(jax.grad(lambda t: limit.limit(params, t)))(jnp.asarray([80.0, 120.0, 100.0]))
    np.testing.assert_allclose(slopes, [0.0, 0.0, -15 * 1.5 / 40], atol=1e-12)

    own = jm.QuasiStaticParams(0.5, 0.05, 0.05)
    thermal = jm.TwoNodeThermalParams(1.0, 4.0, 0.5, 60.0)
    hot = jm.Actuator(jm.Motor(jm.QuasiStatic(), thermal=jm.TwoNodeThermal()), jm.VoltageDrive(), current_limit=limit)
    both = jm.ActuatorParams(jm.MotorParams(own, thermal), current_limit=params)
    still = jnp.zeros(400)
    _, out = jm.replay(hot, hot.init(both), both, jnp.full(400, 24.0), still, still, 0.02)
    assert float(out.current[0]) == pytest.approx(20.0)
    assert float(out.current[-1]) == pytest.approx(float(limit.limit(params, out.temperature[-1])))
    assert 80 < float(out.temperature[-1]) < 120
    cold, given = actuator(jm.QuasiStatic(), limit), jm.ActuatorParams(jm.MotorParams(own), current_limit=params)
    with pytest.raises(ValueError, match="thermal stage"):
        jm.replay(cold, cold.init(given), given, still, still, still, 0.02)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_a_request_on_a_bound_is_not_limited(dtype):
    # The bounds of the operating region, computed here; the request travels as a voltage and comes back as a torque.
    rng = np.random.default_rng(0)
    count, digits = 2000, float(jnp.finfo(dtype).eps)
    resistance, kt, ke, bus, share, speed = (
        rng.uniform(low, high, count).astype(dtype)
        for low, high in ((0.05, 3), (0.01, 0.5), (0.01, 0.5), (5, 60), (0.05, 2), (-1, 1))
    )
    stall, omega = kt * bus / resistance, speed * bus / ke
    peak = share * stall
    upper = np.minimum(kt * (bus - ke * omega) / resistance, peak)
    limit = (1 - speed < share).astype(int) + 1  # the bus where its line lies lower, else the core
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic(), limit=jm.TorqueLimit()), jm.TorqueDrive(), jm.FixedSupply())

    @jax.jit
    @jax.vmap
    def code(resistance, kt, ke, bus, peak, omega, torque):
        winding = jm.QuasiStaticParams(resistance, kt, ke)
        motor = jm.MotorParams(winding, limit=jm.TorqueLimitParams(peak))
        one, zero = jnp.ones_like(bus), jnp.zeros_like(bus)
        params = jm.ActuatorParams(motor, supply=jm.FixedSupplyParams(bus), gear=jm.GearParams(one, zero))
        return actuator.step(actuator.init(params), params, torque, zero, omega, one)[1].saturation

    def flags(torque):
        return np.asarray(code(*map(jnp.asarray, (resistance, kt, ke, bus, peak, omega, torque.astype(dtype)))))

    assert set(limit) == {1, 2}
    assert not flags(upper).any()
    beyond = 100 * digits * (stall + kt * ke * np.abs(omega) / resistance)
    tie = np.abs(1 - speed - share) < 400 * digits
    np.testing.assert_array_equal(flags(upper + beyond)[~tie], limit[~tie])
    assert not flags(upper - beyond).any()
