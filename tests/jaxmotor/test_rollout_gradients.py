"""Gradients of whole runs with every kind of state: reverse, forward and difference quotients, however it is run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import jaxmotor as jm

ROWS, STEP = 60, 1e-3
INTEGRATORS = {"euler": jm.Euler(), "implicitfast": jm.ImplicitFast(), "exact": jm.ExactFlow()}


def full(integrator):
    actuator = jm.Actuator(
        jm.Motor(
            jm.FixedTimeConstant(jm.CurrentRateLimit()), jm.LumpedThermal(), jm.TorqueLimit(), jm.Cogging(), jm.LuGre()
        ),
        jm.PositionPID(jm.ErrorIntegral(jm.IntegralBound()), jm.VoltageLimit()),
        supply=jm.FixedSupply(),
        drag=jm.PolynomialDrag(),
        dry_friction=jm.CoulombFriction(),
        setpoint=jm.SlewLimiter(),
    )
    motor = jm.MotorParams(
        jm.FixedTimeConstantParams(0.6, 0.04, 0.042, 4e-4, jm.CurrentRateLimitParams(700.0)),
        jm.LumpedThermalParams(4.0, 2.0, 0.0039, 20.0, 31.0),
        jm.TorqueLimitParams(0.12),
        jm.CoggingParams(0.003, 14.0, 0.2),
        jm.LuGreParams(30.0, 0.05, 0.004, 0.006, 1.0),
    )
    params = jm.ActuatorParams(
        motor,
        jm.PositionPIDParams(
            6.0, 0.02, jm.IntegralParams(3.0, jm.IntegralBoundParams(3e-5)), jm.VoltageLimitParams(11.0)
        ),
        supply=jm.FixedSupplyParams(3.0),
        gear=jm.GearParams(-10.0, 1e-5),
        drag=jm.PolynomialDragParams(1e-4, 1e-5, 1e-6),
        dry_friction=jm.CoulombFrictionParams(0.02),
        setpoint=jm.SlewLimiterParams(50.0),
    )
    return jm.Bench(actuator, jm.RigidLoad(), integrator), jm.BenchParams(params, jm.RigidLoadParams(0.01, 0.001))


def cost(bench, unravel, ctrl, segment=None):
    """A sum that hears the whole run, of one vector of all params."""

    def of(flat):
        params = unravel(flat)
        state, out = jm.rollout(bench, bench.init(params, 0.01, 0.3), params, ctrl, STEP, segment=segment)
        return (
            jnp.sum(out.qpos**2) + jnp.sum(out.actuator.current) / 100 + state.actuator.motor.thermal.temperature_rise
        )

    return of


@pytest.fixture(scope="module", params=INTEGRATORS.values(), ids=INTEGRATORS.keys())
def run(request):
    bench, params = full(request.param)
    flat, unravel = ravel_pytree(params)
    ctrl = -2 * jnp.sign(jnp.sin(0.13 * jnp.arange(1.0, ROWS + 1)))
    return bench, flat, unravel, ctrl


def test_reverse_is_forward_is_the_difference_quotient(run):
    bench, flat, unravel, ctrl = run
    of = cost(bench, unravel, ctrl)
    reverse, forward = jax.jit(jax.grad(of))(flat), jax.jit(jax.jacfwd(of))(flat)
    size = np.abs(np.asarray(flat))
    np.testing.assert_allclose(reverse * size, forward * size, rtol=1e-9, atol=1e-11)
    many = jax.jit(jax.vmap(of))
    h = 1e-5 * np.diag(size)
    near, far = (np.asarray(many(flat[None] + k * h) - many(flat[None] - k * h)) for k in (1, 2))
    np.testing.assert_allclose(reverse * size, (8 * near - far) / (12 * 1e-5), rtol=1e-5, atol=1e-7)
    # Every limit was in play, but for the drive's own, which lies above the bus.
    heard = unravel(jnp.where(reverse != 0, 1.0, 0.0))
    assert float(heard.actuator.controller.voltage_limit.voltage_limit) == 0
    assert float(jnp.sum(ravel_pytree(heard)[0])) == flat.size - 1


def test_batches_parts_and_single_precision(run):
    bench, flat, unravel, ctrl = run
    spread = jnp.linspace(0.98, 1.02, 3)
    one = jax.grad(cost(bench, unravel, ctrl))
    expected = np.stack([jax.jit(one)(flat * s) for s in spread])
    size = np.abs(np.asarray(flat))
    own = jax.jit(jax.vmap(one))(flat[None] * spread[:, None])
    np.testing.assert_allclose(own * size[None], expected * size[None], rtol=1e-9, atol=1e-11)
    parts = jax.jit(jax.grad(cost(bench, unravel, ctrl, segment=7)))(flat)
    np.testing.assert_allclose(parts * size, expected[1] * size, rtol=1e-9, atol=1e-11)

    def shared(flat):
        return jnp.sum(jax.vmap(lambda c: cost(bench, unravel, c)(flat))(jnp.stack([ctrl, ctrl])))

    np.testing.assert_allclose(jax.jit(jax.grad(shared))(flat) * size, 2 * expected[1] * size, rtol=1e-9, atol=1e-11)
    single = jax.tree.map(lambda x: x.astype(jnp.float32), unravel(flat))
    flat32, unravel32 = ravel_pytree(single)
    got = jax.jit(jax.grad(cost(bench, unravel32, ctrl.astype(jnp.float32))))(flat32)
    assert got.dtype == jnp.float32
    scale = np.abs(expected[1] * size).max()
    np.testing.assert_allclose(np.asarray(got) * size / scale, expected[1] * size / scale, atol=2e-4)
