"""A whole run's slope in every number of every friction model: forward, reverse and central differences agree."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import jaxmotor as jm

ROWS, STEP = 240, 5e-3
SYMMETRIC, DIRECTIONAL = jm.SymmetricLoadFriction(), jm.DirectionalLoadFriction()
STRIBECK = jm.StribeckParams(0.02, 0.6, 1.7)
FRICTIONS = {
    "M1": (jm.CoulombFriction(), jm.CoulombFrictionParams(0.03)),
    "M2": (
        jm.LoadDependentFriction(stribeck=jm.Stribeck()),
        jm.LoadDependentFrictionParams(0.02, stribeck=STRIBECK),
    ),
    "M3": (
        jm.LoadDependentFriction(SYMMETRIC),
        jm.LoadDependentFrictionParams(0.01, jm.SymmetricLoadFrictionParams(0.15)),
    ),
    "M4": (
        jm.LoadDependentFriction(SYMMETRIC, jm.Stribeck(), SYMMETRIC),
        jm.LoadDependentFrictionParams(
            0.01, jm.SymmetricLoadFrictionParams(0.1), STRIBECK, jm.SymmetricLoadFrictionParams(0.08)
        ),
    ),
    "M5": (
        jm.LoadDependentFriction(DIRECTIONAL, jm.Stribeck(), DIRECTIONAL),
        jm.LoadDependentFrictionParams(
            0.01, jm.DirectionalLoadFrictionParams(0.12, 0.07), STRIBECK, jm.DirectionalLoadFrictionParams(0.05, 0.09)
        ),
    ),
    "M6": (
        jm.LoadDependentFriction(DIRECTIONAL, jm.Stribeck(), DIRECTIONAL, jm.QuadraticLoadFriction()),
        jm.LoadDependentFrictionParams(
            0.01,
            jm.DirectionalLoadFrictionParams(0.12, 0.07),
            STRIBECK,
            jm.DirectionalLoadFrictionParams(0.05, 0.09),
            jm.QuadraticLoadFrictionParams(0.2, 0.3),
        ),
    ),
}


def servo(name, integrator):
    """A pendulum on a firmware servo with this friction, and its params."""
    friction, numbers = FRICTIONS[name]
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()), jm.ServoDrive(), jm.FixedSupply(), drag=jm.ViscousDrag(), dry_friction=friction
    )
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(3.0, 0.35, 0.36)),
        jm.ServoDriveParams(0.9),
        jm.FixedSupplyParams(7.4),
        jm.GearParams(rotor_inertia=0.002),
        jm.ViscousDragParams(0.01),
        numbers,
    )
    load = jm.PendulumParams(0.49, 0.1, 0.001, 0.02, 0.001, 9.81, 0.02)
    return jm.Bench(actuator, jm.Pendulum(), integrator), jm.BenchParams(params, load)


def slopes(name, integrator):
    """The run and its weighted mean's derivatives, (rows,) and thrice (numbers,)."""
    bench, params = servo(name, integrator)
    flat, rebuilt = ravel_pytree(params)
    time = jnp.arange(float(ROWS)) * STEP
    # Held for the first fifth of the run, then swung to and fro.
    command = jnp.where(time < 0.24, 0.01, 0.9 * jnp.sin(5 * (time - 0.24)) + 0.2)
    counts = jnp.asarray(np.random.default_rng(3).standard_normal(ROWS))

    def run(numbers):
        whole = rebuilt(numbers)
        _, out = jm.rollout(bench, bench.init(whole, qpos=0.0), whole, command, STEP)
        return counts @ out.qpos, out.qvel

    @jax.jit
    def all_ways(numbers):
        step = 1e-6 * jnp.maximum(jnp.abs(numbers), 1e-3)
        forward, speed = jax.jacfwd(run, has_aux=True)(numbers)
        reverse, _ = jax.grad(run, has_aux=True)(numbers)
        moved = jnp.concatenate([jnp.diag(step), -jnp.diag(step)])
        ends, _ = jax.vmap(lambda move: run(numbers + move))(moved)
        up, down = jnp.split(ends, 2)
        return speed, forward, reverse, (up - down) / (2 * step)

    return [np.asarray(found) for found in all_ways(flat)]


def agrees(name, integrator, tolerance):
    speed, forward, reverse, central = slopes(name, integrator)
    still = speed == 0
    assert still[5:40].all()
    assert (speed > 0.3).any()
    assert (speed < -0.3).any()
    np.testing.assert_allclose(reverse, forward, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(forward, central, rtol=tolerance, atol=tolerance * np.abs(central).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FRICTIONS))
def test_slopes_of_a_run_that_holds_swings_and_reverses(name):
    agrees(name, jm.ExactFlow(), 1e-6)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n == "M6" else pytest.mark.slow) for n in FRICTIONS])
def test_slopes_under_the_implicit_stop_rule(name):
    """M6 has every term, so it stands for all in the quick suite."""
    agrees(name, jm.Euler(), 1e-6)
