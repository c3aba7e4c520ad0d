"""Runs that keep no rows, and gradients that keep few."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor._rollout import advance, rollout

ROWS, STEP = 103, 1e-3


def bench():
    actuator = jm.Actuator(jm.Motor(jm.Inductive(), jm.LumpedThermal()), jm.VoltageDrive(), drag=jm.ViscousDrag())
    params = jm.ActuatorParams(
        jm.MotorParams(jm.InductiveParams(0.6, 0.04, 0.04, 2e-4), jm.LumpedThermalParams(4.0, 40.0, 0.0039)),
        drag=jm.ViscousDragParams(1e-5),
    )
    made = jm.Bench(actuator, jm.RigidLoad())
    params = jm.BenchParams(params, jm.RigidLoadParams(1e-4))
    return made, params, 5 * jnp.sin(0.1 * jnp.arange(float(ROWS)))


@pytest.mark.parametrize("segment", [None, 1, 10, ROWS, 1000])
def test_last_state_and_rows_are_those_of_the_whole_run(segment):
    made, params, ctrl = bench()
    state, out = rollout(made, made.init(params), params, ctrl, STEP)
    parts, again = rollout(made, made.init(params), params, ctrl, STEP, segment=segment)
    last, code = advance(made, made.init(params), params, ctrl, STEP, segment=segment)
    assert int(code) == int(out.result) == jm.Result.OK.value
    for one, other in ((state, last), (state, parts), (out, again)):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), one, other)


def test_gradient_in_parts_is_the_gradient():
    made, params, ctrl = bench()

    def energy(params, segment):
        state, _ = advance(made, made.init(params), params, ctrl, STEP, segment=segment)
        return state.qvel**2

    plain, parts = (jax.grad(energy)(params, segment) for segment in (None, 10))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-18), plain, parts)


def test_memory_does_not_grow_with_the_rows():
    made, params, _ = bench()

    def extra(rows, gradient=False, segment=None):
        def run(params, ctrl):
            return advance(made, made.init(params), params, ctrl, STEP, segment=segment)[0].qvel

        function = jax.grad(run) if gradient else run
        compiled = jax.jit(function).lower(params, jnp.zeros(rows)).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    assert extra(10_000) < 2 * extra(100) + 4096
    assert extra(10_000, gradient=True, segment=100) < extra(10_000, gradient=True) / 5


def test_an_empty_segment_is_refused():
    made, params, ctrl = bench()
    with pytest.raises(ValueError, match="at least one row"):
        advance(made, made.init(params), params, ctrl, STEP, segment=0)
