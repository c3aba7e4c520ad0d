"""Everything on at once: gradients, neutral values, batches, resets, compilations, long horizons."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import jaxmotor as jm

DT = 1e-3


def everything():
    """An actuator with every kind of state, several harmonics and exponents, and its params."""
    bound = jm.IntegralBound()
    actuator = jm.Actuator(
        jm.Motor(
            jm.Inductive(jm.CurrentRateLimit()),
            jm.LumpedThermal(),
            jm.TorqueLimit(),
            jm.Cogging(),
            jm.LuGre(damping_decay=jm.GaussianDecay()),
        ),
        jm.TorqueSpacePID(("pos", "vel", "ff", "voltage"), jm.ErrorIntegral(bound), jm.VoltageLimit()),
        supply=jm.FixedSupply(),
        drag=jm.PolynomialDrag(),
        dry_friction=jm.CoulombFriction(),
        delay=jm.Delay(3, 4),
        setpoint=jm.SetpointChain((jm.CommandRange(), jm.SlewLimiter())),
    )
    motor = jm.MotorParams(
        jm.InductiveParams(2.0, 0.05, 0.045, 0.003, jm.CurrentRateLimitParams(3e4)),
        jm.LumpedThermalParams(8.0, 0.5, 0.0039, 25.0, 35.0),
        jm.TorqueLimitParams(0.9),
        jm.CoggingParams(np.array([0.004, 0.001]), np.array([12.0, 24.0]), np.array([0.4, 0.1])),
        jm.LuGreParams(200.0, 0.02, 0.01, 0.015, 0.5),
    )
    params = jm.ActuatorParams(
        motor,
        jm.TorqueSpacePIDParams(
            0.08, 0.003, jm.IntegralParams(0.2, jm.IntegralBoundParams(9.0)), jm.VoltageLimitParams(200.0)
        ),
        supply=jm.FixedSupplyParams(300.0),
        gear=jm.GearParams(10.0, 1e-5),
        drag=jm.PolynomialDragParams(1e-5, 1e-6, 2e-7),
        dry_friction=jm.CoulombFrictionParams(0.01),
        delay=jm.DelayParams(0.0014),
        setpoint=(jm.CommandRangeParams(-50.0, 50.0), jm.SlewLimiterParams(4e4)),
    )
    return actuator, params


ACTUATOR, PARAMS = everything()
ROW = (jnp.array([0.3, 0.1, 0.01, 0.5]), jnp.asarray(0.02), jnp.asarray(0.1))
REST = jax.tree.map(jnp.zeros_like, (ACTUATOR.init(PARAMS), ROW))


def outputs(params, state, row):
    state, out = ACTUATOR.step(state, params, *row, jnp.asarray(DT))
    floats = eqx.filter(out, eqx.is_inexact_array)
    return ravel_pytree((state, floats))[0]


def flat():
    """The step as a function of one vector, in units of each parameter's own size."""
    at_rest, unravel = ravel_pytree((PARAMS, *REST))
    size = ravel_pytree(
        (
            jax.tree.map(jnp.abs, PARAMS),
            jax.tree.map(lambda x: jnp.ones_like(x) * 1e-2, ACTUATOR.init(PARAMS)),
            jax.tree.map(jnp.ones_like, ROW),
        )
    )[0]
    return (lambda x: outputs(*unravel(x * size))), at_rest / size, size


def perturbed(rng, at_rest, size):
    """A random state near 1 % to 10 % of every input's size, off every limit."""
    count = ravel_pytree(PARAMS)[0].size
    noise = rng.normal(0, 1, at_rest.size)
    return at_rest + np.where(np.arange(at_rest.size) < count, 0.01 * noise, noise * np.where(size < 1, 0.01, 0.1))


@pytest.fixture(scope="module")
def derivatives():
    """Forward, reverse and central-difference Jacobians of one step, one compilation each."""
    step, at_rest, size = flat()
    forward, reverse = jax.jit(jax.jacfwd(step)), jax.jit(jax.jacrev(step))
    many = jax.jit(jax.vmap(step))

    def central(x, speed_step):
        # Fourth order: f' = (8 (f1 - f-1) - (f2 - f-2)) / 12 h.
        h = np.append(np.full(x.size - 1, 1e-4), speed_step)
        near, far = (np.asarray(many(x[None] + k * np.diag(h)) - many(x[None] - k * np.diag(h))) for k in (1, 2))
        return ((8 * near - far) / (12 * h[:, None])).T

    return forward, reverse, central, np.asarray(at_rest), np.asarray(size)


@pytest.mark.parametrize("seed", [None, *range(20)])
def test_gradients_of_everything(derivatives, seed):
    forward, reverse, central, at_rest, size = derivatives
    x = at_rest if seed is None else perturbed(np.random.default_rng(seed), at_rest, size)
    # Friction is smooth on each side of rest only, so a difference across it must be short.
    a, b, c = np.asarray(forward(x)), np.asarray(reverse(x)), central(x, 1e-10 if seed is None else 1e-4)
    assert np.isfinite(a).all()
    scale = np.maximum(np.abs(c).max(axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(a / scale, b / scale, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a / scale, c / scale, rtol=1e-6, atol=1e-6)
    # No derivative is lost: where the difference quotient says something, so does the gradient.
    heard = np.abs(c) > 1e-6 * scale
    assert (a[heard] != 0).all()


def test_every_parameter_is_heard(derivatives):
    forward, _, _, at_rest, size = derivatives
    params, _ = ravel_pytree(PARAMS)
    total = sum(np.abs(forward(perturbed(np.random.default_rng(seed), at_rest, size))) for seed in range(2))
    silent = {
        jax.tree_util.keystr(path)
        for (path, _), one in zip(_scalars(PARAMS), total.sum(0)[: params.size], strict=True)
        if one == 0
    }
    # Off their limits, bounds say nothing; rotor inertia and dry friction are what the load asks for, not a step.
    quiet = ("bound", "limit.", "peak", "rate.max", "command", "slew", "rotor_inertia", "dry_friction")
    assert all(any(word in name for word in quiet) for name in silent), silent


def _scalars(tree):
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        for _ in range(leaf.size):
            yield path, leaf


def neutral():
    """Values of params at which a part does nothing, although its structure is there."""
    return dataclasses.replace(
        PARAMS,
        motor=jm.MotorParams(
            dataclasses.replace(PARAMS.motor.winding, rate=jm.CurrentRateLimitParams(np.inf)),
            jm.LumpedThermalParams(np.inf, 0.5, 0.0, 25.0, 25.0),
            jm.TorqueLimitParams(np.inf),
            jm.CoggingParams(0.0, 0.0, 0.0),
            jm.LuGreParams(0.0, 0.0, 0.01, 0.01, 0.5),
        ),
        controller=jm.TorqueSpacePIDParams(
            0.0, 0.0, jm.IntegralParams(0.0, jm.IntegralBoundParams(np.inf)), jm.VoltageLimitParams(np.inf)
        ),
        supply=jm.FixedSupplyParams(np.inf),
        gear=jm.GearParams(1.0, 0.0),
        drag=jm.PolynomialDragParams(0.0, 0.0, 0.0),
        dry_friction=jm.CoulombFrictionParams(0.0),
        delay=jm.DelayParams(0.0),
        setpoint=(jm.CommandRangeParams(-50.0, 50.0), jm.SlewLimiterParams(np.inf)),
    )


def bare(**motor):
    stages = {key: stage for key, (stage, _) in motor.items()}
    values = {key: value for key, (_, value) in motor.items()}
    winding = stages.pop("winding", jm.QuasiStatic()), values.pop("winding", jm.QuasiStaticParams(2.0, 0.05, 0.05))
    actuator = jm.Actuator(jm.Motor(winding[0], **stages), jm.VoltageDrive())
    return actuator, jm.ActuatorParams(jm.MotorParams(winding[1], **values)), jnp.zeros(())


EACH_ALONE = {
    "nothing": {},
    "inductance": {"winding": (jm.FixedTimeConstant(), jm.FixedTimeConstantParams(2.0, 0.05, 0.05, 0.002))},
    "thermal": {"thermal": (jm.LumpedThermal(), jm.LumpedThermalParams(8.0, 0.5, 0.0039))},
    "limit": {"limit": (jm.TorqueLimit(), jm.TorqueLimitParams(0.1))},
    "cogging": {"cogging": (jm.Cogging(), jm.CoggingParams(0.004, 12.0))},
    "lugre": {"bristle": (jm.LuGre(), jm.LuGreParams(1e5, 0.02, 0.01, 0.015, 0.5))},
    "powers": {
        "bristle": (
            jm.LuGre(jm.PowerDecay(), jm.PowerDecay()),
            jm.LuGreParams(1e5, 0.02, 0.01, 0.015, 0.5, jm.PowerDecayParams(0.8), jm.PowerDecayParams(1.0)),
        )
    },
    "dahl": {"bristle": (jm.Dahl(), jm.DahlParams(1e4, 0.01))},
}


# P33 and the last part of P21: one step, and 50 or 100 steps of a bench, from rest without a command.
@pytest.mark.parametrize(
    ("name", "integrator", "rows"),
    [
        *[(name, jm.ExactFlow(), 50) for name in ("everything", "neutral", *EACH_ALONE)],
        ("everything", jm.Euler(), 50),
        ("everything", jm.ImplicitFast(), 50),
        ("neutral", jm.ExactFlow(), 1),
    ],
)
def test_no_gradient_is_nan_at_rest(name, integrator, rows):
    if name in EACH_ALONE:
        actuator, params, command = bare(**EACH_ALONE[name])
    else:
        actuator, command = ACTUATOR, jnp.zeros(4)
        params = PARAMS if name == "everything" else neutral()
    bench = jm.Bench(actuator, jm.RigidLoad(), integrator)
    bench_params = jm.BenchParams(params, jm.RigidLoadParams(1e-4))
    start = bench.init(bench_params)

    @jax.jit
    @functools.partial(jax.grad, argnums=(0, 1, 2))
    def slopes(params, state, commands):
        def body(carry, command):
            after, out = bench.step(carry, params, command, jnp.asarray(DT))
            return after, out.motor_torque + out.current + out.joint_torque + out.drag_torque

        end, outs = jax.lax.scan(body, state, commands)
        return sum(jnp.sum(x) for x in jax.tree.leaves((end, outs)))

    found = slopes(bench_params, start, jnp.tile(command, (rows, *[1] * command.ndim)))
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(found))


# P33, second part: exactly on the no-load, corner and overspeed points of P01, on a current limit, at ambient.
@pytest.mark.parametrize("speed", [240.0, 180.0, 300.0, -180.0])
@pytest.mark.parametrize("volts", [24.0, -24.0, 0.0])
def test_no_gradient_is_nan_on_a_limit(speed, volts):
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic(), jm.LumpedThermal(), jm.TorqueLimit()),
        jm.VoltageDrive(),
        jm.FixedSupply(),
        current_limit=jm.CurrentLimit(),
    )
    params = jm.ActuatorParams(
        jm.MotorParams(
            jm.QuasiStaticParams(0.4, 0.1, 0.1), jm.LumpedThermalParams(8.0, 0.5, 0.0039), jm.TorqueLimitParams(3.0)
        ),
        supply=jm.FixedSupplyParams(24.0),
        current_limit=jm.CurrentLimitParams(30.0),
    )

    def total(params, state, volts, speed):
        state, out = actuator.step(state, params, volts, jnp.zeros(()), speed, jnp.asarray(DT))
        return out.motor_torque + out.current + state.motor.thermal.temperature_rise

    found = jax.grad(total, argnums=(0, 1, 2, 3))(params, actuator.init(params), jnp.asarray(volts), jnp.asarray(speed))
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(found))


def batch_of(count, seed=0):
    """Params of `count` motors that differ by some per cent in every number."""
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda x: x[None] * jnp.asarray(rng.uniform(0.95, 1.05, (count, *x.shape))), PARAMS)


def driven(params, state, rows):
    return jax.lax.scan(lambda s, row: ACTUATOR.step(s, params, *row, jnp.asarray(DT)), state, rows)


def random_rows(count, steps, seed):
    rng = np.random.default_rng(seed)
    shapes = ((count, steps, 4), (count, steps), (count, steps))
    return tuple(jnp.asarray(rng.normal(0, size, shape)) for size, shape in zip((1.0, 0.1, 1.0), shapes, strict=True))


# P29.
def test_reset_of_some_leaves_the_others_alone():
    params = batch_of(8)
    run = jax.jit(jax.vmap(driven))
    fresh = jax.vmap(ACTUATOR.init)(params)
    assert len(jax.tree.leaves(fresh)) == 6
    used, _ = run(params, fresh, random_rows(8, 200, 1))
    reset = jnp.isin(jnp.arange(8), jnp.array([2, 5]))
    mixed = jax.tree.map(lambda a, b: jnp.where(reset.reshape(8, *[1] * (a.ndim - 1)), a, b), fresh, used)
    for new, old, start in zip(*map(jax.tree.leaves, (mixed, used, fresh)), strict=True):
        np.testing.assert_array_equal(new[reset], start[reset])
        np.testing.assert_array_equal(new[~reset], old[~reset])
    rows = random_rows(8, 50, 2)
    after, _ = run(params, mixed, rows)
    alone = jax.jit(driven)
    for k in range(8):
        one = jax.tree.map(lambda x, k=k: x[k], (params, mixed, rows))
        for a, b in zip(*map(jax.tree.leaves, (alone(*one)[0], jax.tree.map(lambda x, k=k: x[k], after))), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


# P35: 16 unlike motors; the bristles of some are as good as absent, the heat of some goes nowhere.
def test_batch_equals_loop():
    count, steps = 16, 300
    params = batch_of(count, 3)
    weak = jnp.arange(count) % 4 == 0
    params = eqx.tree_at(
        lambda p: (p.motor.bristle.lugre_stiffness, p.motor.thermal.thermal_resistance),
        params,
        (jnp.where(weak, 0.0, params.motor.bristle.lugre_stiffness), jnp.where(weak, jnp.inf, 8.0)),
    )
    rows = random_rows(count, steps, 4)

    def loss(params, rows):
        state, out = driven(params, ACTUATOR.init(params), rows)
        return jnp.mean(out.motor_torque**2) + state.motor.thermal.temperature_rise, (state, out)

    graded = jax.value_and_grad(loss, has_aux=True)
    inside, outside, alone = jax.jit(jax.vmap(graded)), jax.vmap(jax.jit(graded)), jax.jit(graded)
    together = inside(params, rows)
    for a, b in zip(*map(jax.tree.leaves, (together, outside(params, rows))), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14)
    for k in range(count):
        single = alone(*jax.tree.map(lambda x, k=k: x[k], (params, rows)))
        (loss_b, (state_b, out_b)), grad_b = jax.tree.map(lambda x, k=k: x[k], together)
        (loss_a, (state_a, out_a)), grad_a = single
        for a, b in zip(*map(jax.tree.leaves, ((loss_a, state_a, out_a), (loss_b, state_b, out_b))), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)
        for a, b in zip(*map(jax.tree.leaves, (grad_a, grad_b)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


# P36.
def test_plain_numbers_are_leaves_and_one_compilation_serves_all_values():
    traces = []

    @jax.jit
    def step(params, state, command):
        traces.append(1)
        return ACTUATOR.step(state, params, command, *ROW[1:], jnp.asarray(DT))

    for ohms in (1, 1.5, np.float32(2), np.float64(3), 4.0):
        winding = jm.InductiveParams(ohms, 0.05, 0.045, 0.003, jm.CurrentRateLimitParams(3e4))
        params = eqx.tree_at(lambda p: p.motor.winding, PARAMS, winding)
        step(params, ACTUATOR.init(params), ROW[0])
    assert len(traces) == 1
    slopes = eqx.filter_grad(lambda p: outputs(p, ACTUATOR.init(p), ROW).sum())(PARAMS)
    assert jax.tree.structure(slopes) == jax.tree.structure(PARAMS)
    assert all(leaf is not None for leaf in jax.tree.leaves(slopes, is_leaf=lambda x: x is None) if leaf is not None)
    assert len(jax.tree.leaves(slopes)) == len(jax.tree.leaves(PARAMS))
