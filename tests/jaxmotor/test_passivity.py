"""Passive parts only take energy, whatever their numbers; friction curves and loops have their closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jaxmotor as jm
from jaxmotor._flow import Shaft

ROWS = 400
PHASE = 2 * np.pi * np.arange(ROWS) / ROWS
share = st.floats(0.01, 1.0)
few = settings(max_examples=40)


@jax.jit
def bristle_work(params, speed, dt):
    """Work that the friction does on a shaft over the second turn of a closed cycle of speed, and the part of it that
    the step rule itself makes."""
    stage = jm.LuGre()

    def body(state, w):
        after, torque = stage.step(state, params, None, jnp.zeros(()), w, dt)
        return after, (torque, state.deflection, after.deflection)

    _, (torque, before, after) = jax.lax.scan(body, stage.init(params), jnp.tile(speed, 2))
    # The torque is read at the start of a step: -k sum z dz = -k (z_end^2 - z_start^2) / 2 + k sum dz^2 / 2.
    ends = before[ROWS] ** 2 - after[-1] ** 2
    own = params.lugre_stiffness * (jnp.sum((after - before)[ROWS:] ** 2) + ends) / 2
    return jnp.sum(torque[ROWS:] * speed) * dt, own


@few
@given(st.floats(1, 5), share, share, share, share, st.floats(-4, 1), st.floats(0.1, 3.0))
def test_bristles_take_energy_over_a_cycle(stiffness, level, extra, slow, damping, size, shape):
    """Case P18, with micro-damping within its passive bound: what exceeds the step rule's own share is lost."""
    coulomb, stiction = level, level * (1 + extra)
    bound = coulomb**2 / (10**stiffness * 10) * damping
    params = jm.LuGreParams(10**stiffness, bound, coulomb, stiction, slow)
    speed = jnp.asarray(10**size * (np.sin(PHASE) + 0.3 * np.sin(2 * PHASE + shape)))
    work, own = bristle_work(params, speed, jnp.asarray(1e-3))
    assert float(work) < float(own)


def one_step(stage, params, deflection, speed, shaft, dt):
    """Speed and deflection after a step of a bench, as its default integrator takes it."""
    motion = stage.move(jm.BristleState(deflection), params, Shaft(*shaft), speed, dt)
    after, _ = stage.step(jm.BristleState(deflection), params, None, speed, motion.mean_qvel, dt)
    return motion.qvel, after.deflection


@pytest.mark.parametrize("stage", [jm.LuGre(), jm.LuGre(damping_decay=jm.GaussianDecay()), jm.Dahl()], ids=str)
def test_a_step_of_shaft_and_bristle_stores_at_most_what_it_is_given(stage):
    """M w^2 / 2 + sigma0 z^2 / 2 grows by no more than the push's work less what drag and dry friction take, in every
    single step of any length, so over any closed cycle of push too: 20 000 random shafts.

    Micro-damping is passive where sigma1 |w| <= 4 g(w): the loss sigma0 k |w| z^2 - sigma1 k |w| w z + sigma1 w^2 with
    k = sigma0 / g is a sum of squares only there.
    """
    draw, n = np.random.default_rng(7), 20_000

    def spread(low, high):
        return jnp.asarray(10 ** draw.uniform(low, high, n))

    def signed(low, high):
        return spread(low, high) * draw.choice([-1.0, 1.0], n)

    stiffness, coulomb, speed, dt = spread(0, 6), spread(-4, 0), signed(-6, 2), spread(-5, -1)
    if isinstance(stage, jm.Dahl):
        level, damping, params = coulomb, jnp.zeros(n), jm.DahlParams(stiffness, coulomb)
    else:
        stiction, slow = coulomb * (1 + spread(-2, 0.5)), spread(-3, 1)
        params = jm.LuGreParams(stiffness, spread(-6, 0), coulomb, stiction, slow)
        level, damping = jax.vmap(stage.level)(params, speed), jax.vmap(stage.damping)(params, speed)
    deflection = level / stiffness * draw.uniform(-1, 1, n)
    shaft = inertia, drag, push, budget = spread(-6, 0), spread(-6, 0), signed(-4, 1), spread(-5, 0)
    after, bent = jax.jit(jax.vmap(lambda *x: one_step(stage, *x)))(params, deflection, speed, shaft, dt)
    before = inertia * speed**2 / 2 + stiffness * deflection**2 / 2
    stored = inertia * after**2 / 2 + stiffness * bent**2 / 2 - before
    given = dt * (push * after - drag * after**2 - budget * abs(after))
    passive = np.asarray(damping * abs(after) <= 4 * level)
    assert passive.mean() > 0.3
    rounding = 1e-14 * np.asarray(before + abs(given))
    assert np.all(np.asarray(stored - given)[passive] <= rounding[passive])


@few
@given(share, share, share, st.floats(-50, 50), st.sampled_from([jm.PolynomialDrag(), jm.MotorSideDrag()]))
def test_drag_opposes(b1, b2, b3, speed, stage):
    params = jm.PolynomialDragParams(b1, b2, b3)
    power = stage.torque(params, jnp.asarray(-3.0), jnp.asarray(speed)) * speed
    assert float(power) <= 0


def coasting(ratio, gear, dry, viscous, volts):
    actuator = jm.Actuator(
        jm.Motor(jm.Inductive()), jm.VoltageDrive(), gear=gear, drag=jm.ViscousDrag(), dry_friction=jm.CoulombFriction()
    )
    own = {
        jm.Gear: lambda: jm.GearParams(ratio, 1e-5),
        jm.LossyGear: lambda: jm.LossyGearParams(ratio, 1e-5, 0.8, 0.5, 0.001, 0.001),
    }[type(gear)]()
    params = jm.ActuatorParams(
        jm.MotorParams(jm.InductiveParams(0.5, 0.05, 0.05, 1e-3)),
        gear=own,
        drag=jm.ViscousDragParams(viscous),
        dry_friction=jm.CoulombFrictionParams(dry),
    )
    return jm.Bench(actuator, jm.Pendulum()), jm.BenchParams(params, jm.PendulumParams(0.3, 0.2, 1e-3)), volts


@pytest.mark.parametrize("gear", [jm.Gear(), jm.LossyGear()], ids=["stiff", "lossy"])
def test_a_shorted_motor_on_a_pendulum_only_loses_energy(gear):
    @jax.jit
    def energy(ratio, dry, viscous, angle, speed):
        bench, params, volts = coasting(ratio, gear, dry, viscous, 0.0)
        state, out = jm.rollout(bench, bench.init(params, angle, speed), params, jnp.full(300, volts), 1e-3)
        qpos, qvel = jnp.append(out.qpos, state.qpos), jnp.append(out.qvel, state.qvel)
        current = jnp.append(out.actuator.current, state.actuator.motor.winding.current)
        inertia = 1e-3 + 0.3 * 0.2**2 + 1e-5 * ratio**2
        return inertia * qvel**2 / 2 + 0.3 * 9.81 * 0.2 * (1 - jnp.cos(qpos)) + 1e-3 * current**2 / 2

    @few
    @given(st.floats(1, 20), st.floats(0, 0.2), st.floats(0, 1e-4), st.floats(-3, 3), st.floats(-10, 10))
    def check(ratio, dry, viscous, angle, speed):
        levels = np.asarray(energy(*(jnp.asarray(x) for x in (ratio, dry, viscous, angle, speed))))
        # The step is second order: what it may add in a step of 1 ms is far below what any part moves.
        assert np.all(np.diff(levels) <= 1e-5 * levels[0] + 1e-12)
        assert levels[-1] <= levels[0] * (1 + 1e-6) + 1e-12

    check()


@pytest.mark.parametrize(("stiffness", "coulomb", "amplitude"), [(20.0, 0.05, 0.02), (1e3, 0.3, 1e-4), (5.0, 0.2, 0.1)])
def test_hysteresis_loop_area(stiffness, coulomb, amplitude):
    """4 tau_c (A - z_c tanh(A / z_c)) with z_c = tau_c / sigma0, from the closed form of Dahl's branch."""
    stage, params = jm.Dahl(), jm.DahlParams(stiffness, coulomb)
    rows, dt = 2000, jnp.asarray(1e-3)
    speed = 2 * amplitude / (rows * 1e-3)
    signs = np.concatenate([np.ones(rows), -np.ones(rows)])
    _, torque = jax.jit(lambda s, w: jax.lax.scan(lambda c, x: stage.step(c, params, None, x, x, dt), s, w))(
        stage.init(params), jnp.asarray(speed * np.tile(signs, 30))
    )
    up = np.asarray(torque)[-2 * rows : -rows + 1]
    weights = np.ones(rows + 1)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    area = -2 * (weights @ up) * speed * 1e-3 / 3
    bent = coulomb / stiffness
    assert area == pytest.approx(4 * coulomb * (amplitude - bent * np.tanh(amplitude / bent)), rel=1e-6)


@pytest.mark.parametrize("speed", [1.0, -1.0, 0.05, 0.1])
def test_steady_friction(speed):
    """Case P18: tau_c = 0.1, tau_s = 0.15, Stribeck speed 0.1, viscous 0.02."""
    params, stage = jm.LuGreParams(1e3, 0.2, 0.1, 0.15, 0.1), jm.LuGre()
    w, none = jnp.asarray(speed), jnp.zeros(())
    state, _ = stage.step(stage.init(params), params, None, none, w, jnp.asarray(1e4))
    _, torque = stage.step(state, params, None, none, w, jnp.asarray(1e-3))
    drag = jm.ViscousDrag().torque(jm.ViscousDragParams(0.02), jnp.ones(()), w)
    expected = {1.0: -0.12, -1.0: 0.12, 0.05: -0.139940, 0.1: -0.120394}[speed]
    assert float(torque + drag) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gear", [jm.Gear(), jm.LossyGear()], ids=["stiff", "lossy"])
def test_a_shaft_too_slow_for_the_numbers_is_not_pushed_by_its_friction(gear, dtype):
    """At the smallest normal speeds the time to stop rounds to nothing."""

    @jax.jit
    @jax.vmap
    def fastest(speed):
        bench, params, volts = coasting(jnp.asarray(1.0), gear, jnp.asarray(0.125), jnp.asarray(0.0), jnp.asarray(0.0))
        params, volts = jax.tree.map(lambda x: jnp.asarray(x, dtype), (params, volts))
        state, out = jm.rollout(bench, bench.init(params, 0.0, speed), params, jnp.full(5, volts), dtype(1e-3))
        return jnp.maximum(jnp.max(jnp.abs(out.qvel)), jnp.abs(state.qvel))

    speeds = np.asarray([k * s * np.finfo(dtype).tiny for k in (1, 3, 100, 1e10) for s in (1, -1)], dtype)
    np.testing.assert_array_equal(fastest(jnp.asarray(speeds)), np.abs(speeds))
