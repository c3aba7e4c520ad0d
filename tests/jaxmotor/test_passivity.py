"""Passive parts only take energy, whatever their numbers; friction curves and loops have their closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jaxmotor as jm

ROWS = 400
PHASE = 2 * np.pi * np.arange(ROWS) / ROWS
share = st.floats(0.01, 1.0)
few = settings(max_examples=40, deadline=None)


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
