"""One shaft under constant torque, damping and dry friction: closed forms, halves of a step, gradients at a stop."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import solve_ivp

from jaxmotor._flow import Shaft
from jaxmotor._mesh import Law, MeshedShaft


def shaft(inertia, damping, torque, budget):
    return Shaft(*(jnp.asarray(float(x)) for x in (inertia, damping, torque, budget)))


def meshed(driving, driven):
    zero = jnp.asarray(0.0)
    laws = [Law(*(jnp.asarray(float(x)) for x in law)) for law in (driving, driven)]
    return MeshedShaft(zero, zero, zero, zero, *laws)


run = jax.jit(lambda moved, qvel, dt: moved.flow(qvel, dt))
step = jax.jit(lambda moved, qvel, dt: moved.implicit(qvel, dt))


def end(moved, qvel, dt):
    motion = run(moved, jnp.asarray(float(qvel)), jnp.asarray(float(dt)))
    return float(motion.qvel), float(motion.mean_qvel * dt)


def test_stops_and_holds():
    """Case P24: 0.01 N m on 1e-4 kg m^2 from 10 rad/s."""
    assert end(shaft(1e-4, 0, 0, 0.01), 10, 1.0) == pytest.approx((0.0, 0.5), abs=1e-14)
    assert end(shaft(1e-4, 0, 0, 0.01), -10, 1.0) == pytest.approx((0.0, -0.5), abs=1e-14)
    assert end(shaft(1e-4, 1e-3, 0, 0.01), 10, 1.0) == pytest.approx((0.0, 1 - math.log(2)), rel=1e-13, abs=1e-14)
    assert end(shaft(1e-4, 1e-3, 0, 0.01), 10, math.log(2) / 10 * (1 - 1e-9))[0] > 0
    # Below the budget it holds, above it starts in the direction of the torque.
    assert end(shaft(1e-4, 0, 0.00999, 0.01), 0, 1.0) == (0.0, 0.0)
    assert end(shaft(1e-4, 0, -0.02, 0.01), 0, 0.1) == pytest.approx((-10.0, -0.5))


def test_stops_and_turns_back_within_one_step():
    # 3 rad/s against 0.03 + 0.01 N m on 1e-3: stops after 75 ms, then -0.02 N m turn it for 25 ms.
    assert end(shaft(1e-3, 0, -0.03, 0.01), 3, 0.1) == pytest.approx((-0.5, 0.1125 - 0.00625), rel=1e-12)


def test_negative_damping_can_outrun_friction():
    assert end(shaft(1.0, -1.0, 0, 0.5), 1.0, 1.0)[0] == pytest.approx(0.5 * math.e + 0.5)
    # At exactly the fixed point the speed stays.
    assert end(shaft(1.0, -1.0, 0, 0.5), 0.5, 1.0)[0] == pytest.approx(0.5)


numbers = st.floats(-3, 3).map(lambda x: 10**x)
signed = st.tuples(st.sampled_from([-1.0, 1.0]), numbers).map(lambda x: x[0] * x[1])


@settings(max_examples=300)
@given(numbers, signed, signed, numbers, signed, numbers)
def test_two_halves_are_one_step(inertia, damping, torque, budget, qvel, dt):
    damping = min(max(damping, -inertia / dt), 1e3 * inertia / dt)
    one = shaft(inertia, damping, torque, budget)
    half, first = end(one, qvel, dt / 2)
    whole = (*end(one, half, dt / 2),)
    assert end(one, qvel, dt) == pytest.approx((whole[0], first + whole[1]), rel=1e-10, abs=1e-12 * (1 + abs(qvel)))


LAWS = [
    # A brake and a heavy load: the sign of the mesh torque changes as the shaft slows down.
    ((1.3, 0.9, 0.2, 0.15), (0.7, 0.5, 0.6, 0.1)),
    ((1.3, 0.1, -2.0, 0.15), (0.7, 2.5, -0.4, 0.1)),
    ((1.3, 0.1, 2.0, 0.15), (0.7, 2.5, 3.4, 0.1)),
    ((1.0, 0.3, 0.0, 0.2), (1.0, 0.3, 0.0, 0.1)),
    ((1.0, 0.3, -0.15, 0.2), (0.8, -0.3, -0.05, 0.0)),
]


@pytest.mark.parametrize("laws", LAWS)
@pytest.mark.parametrize("qvel", [-2.5, -0.3, 0.0, 0.4, 3.0])
def test_meshed_shaft_against_an_ode_solver(laws, qvel):
    def rate(_, y):
        direction = math.copysign(1.0, y[0])
        pushes = [(direction * a - b - d * abs(y[0])) / m for m, d, a, b in laws]
        return [direction * min(pushes), y[0]]

    def crossing(_, y):
        return y[0]

    crossing.terminal = True
    t, y, duration = 0.0, [qvel, 0.0], 2.0
    for _ in range(4):
        if abs(y[0]) < 1e-9:
            pushes = {s: min((s * a - b) / m for m, d, a, b in laws) for s in (1, -1)}
            away = [s for s, push in pushes.items() if push > 0]
            if not away:
                y[0] = 0.0
                break
            y[0] = away[0] * 1e-13
        found = solve_ivp(rate, (t, duration), y, events=crossing, rtol=1e-10, atol=1e-12, max_step=0.05)
        t, y = found.t[-1], list(found.y[:, -1])
    assert end(meshed(*laws), qvel, duration) == pytest.approx(tuple(y), abs=2e-8)


@pytest.mark.parametrize("laws", LAWS)
@pytest.mark.parametrize("qvel", [-2.5, 0.0, 0.4])
def test_meshed_halves_are_one_step(laws, qvel):
    one = meshed(*laws)
    half, first = end(one, qvel, 0.8)
    last, second = end(one, half, 0.8)
    assert end(one, qvel, 1.6) == pytest.approx((last, first + second), abs=1e-13)


def test_meshed_shaft_of_equal_laws_is_a_shaft():
    for qvel in (-3.0, 0.0, 0.7):
        for torque in (-1.0, 0.0, 0.3):
            law = (1.3, 0.4, torque, 0.2)
            assert end(meshed(law, law), qvel, 3.0) == pytest.approx(end(shaft(*law), qvel, 3.0), abs=1e-14)
            implicit = [
                float(step(moved, jnp.asarray(qvel), jnp.asarray(3.0)).qvel)
                for moved in (meshed(law, law), shaft(*law))
            ]
            assert implicit[0] == pytest.approx(implicit[1], abs=1e-14)


@pytest.mark.parametrize("method", ["flow", "implicit"])
@pytest.mark.parametrize(
    "values",
    [(1.3, 0.4, -0.5, 0.2, 1.0, 2.9), (1.3, 0.4, 0.1, 0.2, 1.0, 9.0), (1.3, -0.1, 0.9, 0.2, -1.0, 5.0)],
    ids=["turns back", "stops", "turns forward"],
)
def test_gradient_through_a_stop(values, method):
    def motion(x):
        moved = getattr(Shaft(*x[:4]), method)(x[4], x[5])
        return jnp.stack([moved.qvel, moved.mean_qvel * x[5]])

    x = jnp.asarray(values)
    exact = jax.jacrev(motion)(x)
    np.testing.assert_allclose(jax.jacfwd(motion)(x), exact, atol=1e-13)
    shifts = 1e-5 * jnp.eye(6)
    numeric = (jax.vmap(motion)(x[None] + shifts) - jax.vmap(motion)(x[None] - shifts)).T / 2e-5
    np.testing.assert_allclose(exact, numeric, atol=1e-8)


@pytest.mark.parametrize("method", ["flow", "implicit"])
@pytest.mark.parametrize("torque", [-0.3, 0.0, 0.3])
def test_gradient_at_rest_without_friction_is_not_lost(torque, method):
    def speed(qvel):
        return getattr(shaft(1.0, 0.0, torque, 0.0), method)(qvel, jnp.asarray(0.1)).qvel

    assert jax.grad(speed)(0.0) == pytest.approx(1.0)


def test_single_precision_far_from_rest():
    """A stopping time that overflows is no stop, and no NaN."""
    fast = Shaft(*(jnp.asarray(x, jnp.float32) for x in (1e-6, 10.0, -1e-38, 0.0)))
    motion = jax.jit(Shaft.flow)(fast, jnp.asarray(1e5, jnp.float32), jnp.asarray(1e-3, jnp.float32))
    assert np.isfinite(motion.qvel)
    assert np.isfinite(motion.mean_qvel)
