"""Winding current: exact under held voltage and speed, first order under changing ones, both time-constant rules."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

INDUCTIVE = jm.Inductive(), jm.InductiveParams(2.0, 0.05, 0.04, 0.006)
FIXED = jm.FixedTimeConstant(), jm.FixedTimeConstantParams(2.0, 0.05, 0.04, 0.003)


def stepped(winding, params, current, volts, speed, dt):
    """Current at the end [A] and its mean [A]."""
    state = type(winding.init(params))(jnp.asarray(current))
    after, out = winding.step(state, params, jnp.asarray(volts), jnp.zeros(()), jnp.asarray(speed), jnp.asarray(dt))
    assert after.current == out.end_current
    return float(out.end_current), float(out.mean_current)


@pytest.mark.parametrize(("winding", "params"), [INDUCTIVE, FIXED], ids=["inductance", "time constant"])
@pytest.mark.parametrize("dt", [1e-7, 1e-3, 0.1])
def test_exact_while_voltage_and_speed_are_held(winding, params, dt):
    # t_e = L / R = 3 ms, i_inf = (12 - 0.04 * 100) / 2 = 4 A: i = i_inf + (i0 - i_inf) e^(-t/t_e), mean by integration.
    end, mean = stepped(winding, params, -1.5, 12.0, 100.0, dt)
    decay = np.exp(-dt / 3e-3)
    assert end == pytest.approx(4 - 5.5 * decay, rel=1e-12)
    assert mean == pytest.approx(4 + 5.5 * np.expm1(-dt / 3e-3) * 3e-3 / dt, rel=1e-9)
    half, first = stepped(winding, params, -1.5, 12.0, 100.0, dt / 2)
    twice, second = stepped(winding, params, half, 12.0, 100.0, dt / 2)
    assert twice == pytest.approx(end, rel=1e-12)
    assert (first + second) / 2 == pytest.approx(mean, rel=1e-12)


def test_a_hot_winding_is_faster_only_with_constant_inductance():
    def after(winding, params):
        node = jm.LumpedThermalParams(8.0, 0.5, 0.0039, 25.0, 25.0)
        hot = jm.LumpedThermal().heated(jm.LumpedThermalState(jnp.asarray(100.0)), node, params)
        return stepped(winding, hot, 0.0, 12.0, 0.0, 1e-3)[0]

    # R(125 degC) = 2.78 ohm, so i_inf = 12 / 2.78 A, with t_e = 6 mH / 2.78 ohm or 3 ms.
    assert after(*INDUCTIVE) == pytest.approx(12 / 2.78 * -np.expm1(-1e-3 * 2.78 / 6e-3), rel=1e-12)
    assert after(*FIXED) == pytest.approx(12 / 2.78 * -np.expm1(-1e-3 / 3e-3), rel=1e-12)


def test_current_rate_is_bounded_at_the_start():
    winding = jm.FixedTimeConstant(jm.CurrentRateLimit())
    params = jm.FixedTimeConstantParams(2.0, 0.05, 0.04, 0.003, jm.CurrentRateLimitParams(500.0))
    # 12 V would start at 6 A / 3 ms = 2000 A/s; the bound leaves 500 t_e (1 - e^(-h/t_e)), 0.5 V its own 83.3 A/s.
    grown = -np.expm1(-1e-3 / 3e-3)
    assert stepped(winding, params, 0.0, 12.0, 0.0, 1e-3)[0] == pytest.approx(500 * 3e-3 * grown, rel=1e-12)
    assert stepped(winding, params, 0.0, -12.0, 0.0, 1e-3)[0] == pytest.approx(-500 * 3e-3 * grown, rel=1e-12)
    assert stepped(winding, params, 0.0, 0.5, 0.0, 1e-3)[0] == pytest.approx(0.25 * grown, rel=1e-12)


@pytest.mark.parametrize(("winding", "params"), [INDUCTIVE, FIXED], ids=["inductance", "time constant"])
def test_first_order_under_a_changing_voltage(winding, params):
    end = 0.02

    def volts(t):
        return 6 + 5 * jnp.sin(300 * t)

    def speed(t):
        return 40 * jnp.cos(200 * t)

    exact = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, i, args: (volts(t) - 0.04 * speed(t) - 2 * i) / 0.006),
        diffrax.Dopri8(),
        0.0,
        end,
        1e-5,
        jnp.asarray(0.0),
        stepsize_controller=diffrax.PIDController(rtol=1e-11, atol=1e-13),
        max_steps=100_000,
    ).ys[-1]

    def error(rows):
        dt = end / rows

        def body(state, t):
            zero = jnp.zeros(())
            return winding.step(state, params, volts(t), zero, speed(t), jnp.asarray(dt))[0], None

        state, _ = jax.lax.scan(body, winding.init(params), jnp.asarray(dt * np.arange(rows)))
        return abs(float(state.current - exact))

    rows = np.array([200, 400, 800, 1600])
    assert np.polyfit(np.log(1 / rows), np.log([error(n) for n in rows]), 1)[0] == pytest.approx(1, abs=0.1)
