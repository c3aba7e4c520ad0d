"""Loops compiled as one function give what they give otherwise, and only where nothing stands in their way."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sysid import _at_once
from sysid._at_once import MOST_LANES, at_once, worthwhile

INPUTS = np.random.default_rng(0).normal(size=(40, 3))


def pendulum(first, inputs):
    """A damped pendulum under torques, whose step is made of plain operations."""

    def body(state, torque):
        angle, speed = state
        speed = speed + 0.05 * (torque - jnp.sin(angle) - 0.1 * speed)
        return (angle + 0.05 * speed, speed), (angle, speed)

    return jax.lax.scan(body, first, inputs)[1]


def solving(first, inputs):
    """A step that calls a library: no part of one function."""

    def body(state, torque):
        matrix = jnp.eye(2) + state[:, None] * state[None, :]
        return jnp.linalg.solve(matrix, state + torque), state

    return jax.lax.scan(body, first, inputs)[1]


def nested(first, inputs):
    """The library call stands two loops further in."""

    def body(state, torque):
        return jax.lax.fori_loop(0, 2, lambda _, s: jnp.sort(s + torque), state), state

    return jax.lax.scan(body, first, inputs)[1]


def at_rest(lanes):
    return jnp.zeros(lanes), jnp.ones(lanes)


def test_the_same_as_a_loop():
    found = jax.jit(lambda *given: at_once(pendulum, *given))(at_rest(3), jnp.asarray(INPUTS))
    expected = jax.jit(pendulum)(at_rest(3), jnp.asarray(INPUTS))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_batches_and_derivatives_are_one_function_too():
    def along(run):
        def one(torques):
            return jax.jvp(lambda t: run((jnp.zeros(()), jnp.ones(())), t), (torques,), (jnp.ones_like(torques),))

        return jax.jit(jax.vmap(one, in_axes=1))

    whole = along(lambda *given: at_once(pendulum, *given))
    lowered = whole.lower(jnp.asarray(INPUTS)).as_text()
    calls = [line for line in lowered.splitlines() if "xla_cpu_small_call" in line]
    assert len(calls) == 1
    assert " call " in calls[0]
    expected = along(pendulum)(jnp.asarray(INPUTS))
    for ours, theirs in zip(jax.tree.leaves(whole(jnp.asarray(INPUTS))), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


def test_gradients_by_reverse_mode():
    def cost(run):
        return jax.jit(jax.grad(lambda torques: jnp.sum(run(at_rest(3), torques)[0] ** 2)))

    found = cost(lambda *given: at_once(pendulum, *given))(jnp.asarray(INPUTS))
    np.testing.assert_allclose(found, cost(pendulum)(jnp.asarray(INPUTS)), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("loop", [solving, nested])
def test_what_calls_a_library_stays_a_loop(loop):
    torques = jnp.asarray(INPUTS[:, :2])
    program = jax.jit(lambda *given: at_once(loop, *given))
    assert "xla_cpu_small_call" not in program.lower(jnp.ones(2), torques).as_text()
    np.testing.assert_allclose(program(jnp.ones(2), torques), loop(jnp.ones(2), torques), rtol=1e-12)


def test_it_is_left_out_where_jax_has_no_such_attribute(monkeypatch):
    monkeypatch.setattr(_at_once, "set_xla_metadata", None)
    assert not worthwhile(1)
    program = jax.jit(lambda *given: at_once(pendulum, *given))
    assert "xla_cpu_small_call" not in program.lower(at_rest(3), jnp.asarray(INPUTS)).as_text()


def test_few_lanes_on_a_processor_are_worth_it():
    assert worthwhile(MOST_LANES) == (jax.default_backend() == "cpu")
    assert not worthwhile(MOST_LANES + 1)
