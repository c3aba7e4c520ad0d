"""A delay in seconds: what comes out, and its derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

DT = 0.01


def delayed(delay, commands, length=8, inputs=None):
    stage = jm.Delay(length, inputs)
    zero = jnp.zeros(())

    def body(state, command):
        return stage.step(state, params, command, zero, zero, jnp.asarray(DT))

    params = jm.DelayParams(delay)
    return jax.lax.scan(body, stage.init(params), jnp.asarray(commands))[1]


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.01, 0.025, 0.05, 0.08])
def test_linear_between_rows(delay):
    commands = np.random.default_rng(0).normal(size=50)
    # Zero before the first row; the command of row k is that of the instant k dt.
    times = DT * np.arange(-20, 50)
    known = np.concatenate([np.zeros(20), commands])
    expected = np.interp(DT * np.arange(50) - delay, times, known)
    np.testing.assert_allclose(delayed(delay, commands), expected, rtol=1e-9, atol=1e-9)


def test_ramp_gives_the_slope():
    # Of a ramp u = 5 t the output is 5 (t - delay), so its derivative in the delay is -5.
    ramp = 5 * DT * np.arange(50)
    slope = jax.jacfwd(lambda d: delayed(d, ramp)[20:])
    for delay in (0.0, 0.013, 0.02, 0.0799):
        np.testing.assert_allclose(slope(jnp.asarray(delay)), -5, rtol=1e-9)


def test_reach_ends_at_the_oldest():
    commands = np.arange(1.0, 51.0)
    np.testing.assert_allclose(delayed(0.5, commands, length=3)[10:], commands[7:47])
    with pytest.raises(ValueError, match="1 or more"):
        jm.Delay(0)


def test_several_inputs_and_float32():
    commands = np.random.default_rng(1).normal(size=(30, 2))
    both = delayed(0.014, commands, inputs=2)
    for i in (0, 1):
        np.testing.assert_allclose(both[:, i], delayed(0.014, commands[:, i]), rtol=1e-12)
    stage, params = jm.Delay(4), jm.DelayParams(jnp.asarray(0.014, jnp.float32))
    zero, state = jnp.zeros((), jnp.float32), stage.init(params)
    state, out = stage.step(state, params, zero + 1, zero, zero, jnp.asarray(DT, jnp.float32))
    assert out.dtype == state.past_commands.dtype == jnp.float32


def test_in_front_of_an_actuator():
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.VoltageDrive(), delay=jm.Delay(4))
    params = jm.ActuatorParams(jm.MotorParams(jm.QuasiStaticParams(2.0, 0.05, 0.05)), delay=jm.DelayParams(0.02))
    still = jnp.zeros(10)
    _, outs = jm.replay(actuator, actuator.init(params), params, jnp.full(10, 6.0), still, still, DT)
    np.testing.assert_allclose(outs.voltage, np.where(np.arange(10) < 2, 0.0, 6.0))
