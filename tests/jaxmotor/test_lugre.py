"""Bristle friction: exact hold, steady and cyclic closed forms, sticking and breaking away, passivity."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import jaxmotor as jm
from jaxmotor._bristle_motion import move_bristle
from jaxmotor._flow import Shaft


def lugre(stiffness=1e3, damping=0.2, coulomb=0.1, stiction=0.15, velocity=0.1, dtype=jnp.float64):
    return jm.LuGreParams(*(jnp.asarray(x, dtype) for x in (stiffness, damping, coulomb, stiction, velocity)))


def stepped(bristle, params, deflection, qvel, dt):
    dtype = params.coulomb_friction.dtype
    state = jm.BristleState(jnp.asarray(deflection, dtype))
    state, torque = bristle.step(
        state, params, None, jnp.zeros((), dtype), jnp.asarray(qvel, dtype), jnp.asarray(dt, dtype)
    )
    return state.deflection, torque


def bench(bristle, params, inertia, ratio=1.0, damping=0.0, **parts):
    """A torque-controlled shaft with this friction: the command is the torque [N m] on the motor side."""
    winding = jm.QuasiStaticParams(1.0, 1.0, 1.0)
    drag = {} if damping == 0 else {"drag": jm.ViscousDrag()}
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic(), bristle=bristle), jm.TorqueDrive(), **drag, **parts)
    of_actuator = jm.ActuatorParams(
        jm.MotorParams(winding, bristle=params),
        gear=jm.GearParams(ratio),
        drag=None if damping == 0 else jm.ViscousDragParams(damping),
    )
    return jm.Bench(actuator, jm.RigidLoad()), jm.BenchParams(of_actuator, jm.RigidLoadParams(inertia))


@functools.partial(jax.jit, static_argnums=0)
def run(bench, params, torque, qpos, qvel, dt):
    """Angle and speed at the start of every row, and deflection at its end."""

    def body(state, command):
        after, _ = bench.step(state, params, command, dt)
        return after, (state.qpos, state.qvel, after.actuator.motor.bristle.deflection)

    return jax.lax.scan(body, bench.init(params, qpos, qvel), torque)[1]


def ran(bench, params, torque, qpos=0.0, qvel=0.0, dt=1e-3):
    return [np.asarray(x) for x in run(bench, params, jnp.asarray(torque), qpos, qvel, jnp.asarray(dt))]


# P18, and other numbers from -(tau_c + (tau_s - tau_c) e^(-(w/w_s)^2)) sgn w - sigma2 w.
@pytest.mark.parametrize(
    ("qvel", "torque"), [(1, -0.12), (-1, 0.12), (0.05, -0.139940), (0.1, -0.120394), (-0.02, 0.1484395)]
)
def test_steady_torque(qvel, torque):
    params = lugre()
    deflection = 0.0
    for _ in range(60):
        deflection, friction = stepped(jm.LuGre(), params, deflection, qvel, 1e-2)
    assert float(friction - 0.02 * qvel) == pytest.approx(torque, abs=1e-6)


def test_stribeck_curve():
    speeds = np.linspace(-0.5, 0.5, 101)
    speeds = speeds[speeds != 0]
    params = lugre(coulomb=0.04, stiction=0.09, velocity=0.15)
    settled = jax.vmap(lambda w: stepped(jm.LuGre(), params, 0.0, w, 1e6 / jnp.abs(w))[0])(jnp.asarray(speeds))
    torque = jax.vmap(lambda z, w: stepped(jm.LuGre(), params, z, w, 1e-3)[1])(settled, jnp.asarray(speeds))
    # In the steady state dz/dt = 0, so the torque is -g(w) sgn w whatever the damping.
    curve = -(0.04 + 0.05 * np.exp(-((speeds / 0.15) ** 2))) * np.sign(speeds)
    np.testing.assert_allclose(torque, curve, rtol=1e-6)


@pytest.mark.parametrize("gamma", [0.7, 1.0, 2.0])
def test_other_exponents(gamma):
    bristle = jm.LuGre(jm.PowerDecay(), jm.PowerDecay())
    params = jm.LuGreParams(1e3, 0.2, 0.1, 0.15, 0.1, jm.PowerDecayParams(gamma), jm.PowerDecayParams(1.5))
    for w in (0.03, -0.2):
        level = 0.1 + 0.05 * np.exp(-(abs(w / 0.1) ** gamma))
        assert float(bristle.level(params, jnp.asarray(w))) == pytest.approx(level, rel=1e-12)
        damping = 0.2 * np.exp(-(abs(w / 0.1) ** 1.5))
        assert float(bristle.damping(params, jnp.asarray(w))) == pytest.approx(damping, rel=1e-12)
        # dz/dt = w - sigma0 |w| z / g and the torque -(sigma0 z + sigma1(w) dz/dt), from z = 2e-5.
        rate = w - 1e3 * abs(w) * 2e-5 / level
        _, torque = stepped(bristle, params, 2e-5, w, 1e-3)
        assert float(torque) == pytest.approx(-(1e3 * 2e-5 + damping * rate), rel=1e-12)
    slopes = jax.jacrev(lambda p, w: bristle.level(p, w) + bristle.damping(p, w), argnums=(0, 1))
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(slopes(params, jnp.asarray(0.0))))


# P19.
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_stiff_deflection(dtype):
    params = lugre(1e5, 0.0, 0.1, 0.1, 0.1, dtype)
    for dt, friction in ((1e-5, 0.09999546), (1e-3, 0.1), (1e-1, 0.1)):
        deflection, _ = stepped(jm.LuGre(), params, 0.0, 1.0, dt)
        assert float(1e5 * deflection) == pytest.approx(friction, rel=1e-6)
    slow, _ = stepped(jm.LuGre(), params, 0.0, 1e-9, 1e-3)
    assert float(slow) == pytest.approx(9.999995e-13, rel=1e-5)
    assert float(stepped(jm.LuGre(), params, 3e-7, 0.0, 1e-3)[0]) == pytest.approx(3e-7, rel=1e-7)


# P21.
def test_slopes_at_standstill():
    params = lugre(1e5, 0.0, 0.1, 0.1, 0.1)
    slope = jax.jacfwd(lambda w, z: stepped(jm.LuGre(), params, z, w, 1e-3)[0])
    assert float(slope(0.0, 0.0)) == pytest.approx(1e-3, rel=1e-12)
    # One-sided slopes are h (1 -+ sigma0 z / g); any of the two or their mean is a slope.
    assert min(abs(float(slope(0.0, 1e-7)) - right) for right in (0.9e-3, 1e-3, 1.1e-3)) < 1e-15
    stribeck = lugre(coulomb=0.05, stiction=0.2)
    assert float(jax.grad(lambda w: jm.LuGre().level(stribeck, w))(0.0)) == 0.0


def test_two_half_steps_are_one():
    rng = np.random.default_rng(0)
    for bristle, params in ((jm.LuGre(), lugre()), (jm.Dahl(), jm.DahlParams(800.0, 0.07))):
        for z, w in zip(rng.normal(0, 1e-4, 20), rng.normal(0, 0.3, 20), strict=True):
            whole, _ = stepped(bristle, params, z, w, 2e-3)
            half, _ = stepped(bristle, params, z, w, 1e-3)
            twice, _ = stepped(bristle, params, half, w, 1e-3)
            assert float(twice) == pytest.approx(float(whole), rel=1e-12, abs=1e-18)


def test_dahl_is_lugre_without_stribeck():
    params = lugre(800.0, 0.0, 0.07, 0.07, 0.3)
    for z, w in ((0.0, 0.2), (5e-5, -0.4), (-8e-5, 1e-3)):
        ours = stepped(jm.Dahl(), jm.DahlParams(800.0, 0.07), z, w, 1e-3)
        np.testing.assert_allclose(ours, stepped(jm.LuGre(), params, z, w, 1e-3), rtol=1e-12)


@pytest.mark.parametrize(
    ("stiffness", "level", "amplitude"), [(800.0, 0.07, 2e-4), (1e5, 0.1, 1e-5), (300.0, 0.02, 1e-4)]
)
def test_hysteresis_loop_area(stiffness, level, amplitude):
    # Branches -+level (1 - e^(-+k x) / cosh(k a)), k = stiffness / level; the area is
    # 4 level (a - tanh(k a) / k).
    k = stiffness / level
    area = 4 * level * (amplitude - np.tanh(k * amplitude) / k)
    params, rows = jm.DahlParams(stiffness, level), 2000
    moved = np.concatenate([np.full(rows, 1.0), np.full(rows, -1.0)] * 8) * 2 * amplitude / rows

    def body(state, step):
        after, torque = jm.Dahl().step(state, params, None, jnp.zeros(()), step, jnp.ones(()))
        return after, torque

    _, torque = jax.jit(lambda x: jax.lax.scan(body, jm.BristleState(jnp.zeros(())), x))(jnp.asarray(moved))
    torque = np.append(np.asarray(torque), torque[-2 * rows])[-2 * rows - 1 :]
    # Simpson along each branch.
    weights = np.array([1, *[4, 2] * (rows // 2 - 1), 4, 1]) / 3
    work = sum(weights @ torque[i * rows : (i + 1) * rows + 1] * moved[i * rows] for i in (0, 1))
    assert work == pytest.approx(-area, rel=1e-6)


# P18, second part: J = 1e-3, stiffness 1e3, damping 0.2 ring with 1000 rad/s and damping ratio 0.1.
def test_ringing_around_rest():
    machine, params = bench(jm.LuGre(), lugre(), 1e-3)
    ratios = []
    for dt in (1e-6, 5e-7):
        qpos, _, _ = ran(machine, params, np.zeros(int(1.6e-2 / dt)), qvel=1e-7, dt=dt)
        peaks = [i for i in range(1, len(qpos) - 1) if qpos[i - 1] < qpos[i] >= qpos[i + 1]]
        ratios.append((qpos[peaks[1]] / qpos[peaks[0]], (peaks[1] - peaks[0]) * dt))
    factor, period = (2 * fine - coarse for coarse, fine in zip(*ratios, strict=True))
    # First-order step, so the extrapolation to dt = 0 is exact to second order; the peak sits on a row.
    assert factor == pytest.approx(0.5318, rel=1e-3)
    assert period == pytest.approx(2 * np.pi / (1000 * np.sqrt(1 - 0.1**2)), rel=1e-3)


# P23, and a stiffer and a geared motor: break-away is where the quasi-static ramp reaches the stiction torque, less
# what the ramp's own slip takes; the sliding level is an order of magnitude lower.
@pytest.mark.parametrize(("rate", "torque"), [(0.05, 0.4765), (0.02, 0.4872), (0.005, 0.4949)])
def test_break_away(rate, torque):
    machine, params = bench(jm.LuGre(), lugre(200.0, 0.8944, 0.05, 0.5, 0.05), 1e-3)
    ramp = rate * 1e-3 * np.arange(int(0.52 / rate / 1e-3))
    _, qvel, _ = ran(machine, params, ramp)
    assert ramp[np.argmax(qvel > 1)] == pytest.approx(torque, rel=0.01)


@pytest.mark.parametrize(("torque", "angle"), [(0.45, 5.78e-3), (0.30, 2.29e-3), (0.10, 200**-1 * 0.5 * -np.log(0.8))])
def test_holds_below_break_away(torque, angle):
    machine, params = bench(jm.LuGre(), lugre(200.0, 0.8944, 0.05, 0.5, 0.05), 1e-3)
    rows = int(torque / 0.05 / 1e-3)
    qpos, qvel, _ = ran(machine, params, np.minimum(0.05e-3 * np.arange(rows + 52000), torque))
    assert qpos[-1] == pytest.approx(angle, rel=5e-3)
    assert abs(qvel[-1]) < 1e-12
    assert abs(qpos[-1] - qpos[-50000]) < 1e-9


def test_break_away_behind_a_reversed_gear():
    machine, params = bench(jm.LuGre(), lugre(200.0, 0.8944, 0.05, 0.5, 0.05), 1e-3 * 20**2, ratio=-20.0)
    ramp = 0.05e-3 * np.arange(10400)
    _, qvel, _ = ran(machine, params, ramp)
    assert ramp[np.argmax(qvel < -1 / 20)] == pytest.approx(0.4765, rel=0.01)


# MuJoCo's explicit coupling rests only for sigma1 > h sigma0; both sides of it, four decades of stiffness.
@pytest.mark.parametrize("stiffness", [1e2, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 1.1, 5.0])
@pytest.mark.parametrize("inertia", [1e-5, 1e-3])
def test_comes_to_rest(stiffness, share, inertia):
    dt = 1e-3
    machine, params = bench(jm.LuGre(), lugre(stiffness, share * dt * stiffness, 0.05, 0.08, 0.1), inertia)
    pushed = np.where(np.arange(3000) < 2000, 0.0, 0.015)
    qpos, qvel, _ = ran(machine, params, pushed, qvel=10.0, dt=dt)
    assert abs(qvel[1999]) < 1e-7
    assert abs(qvel[-1]) < 1e-7
    # A push of a fifth of the stiction torque bends the bristles once, without creep, even if it swings to twice that.
    assert abs(qpos[-1] - qpos[1999]) < 0.08 / stiffness
    assert abs(qpos[-1] - qpos[-500]) < 1e-6 * 0.08 / stiffness + 1e-10


# P24 with bristles: J = 1e-4, level 0.01, from 10 rad/s: 0.1 s and 0.5 rad; with viscous damping 1e-3
# ln 2 / 10 s and 1 - ln 2 rad.
@pytest.mark.parametrize(("damping", "time", "angle"), [(0.0, 0.1, 0.5), (1e-3, 0.069315, 0.306853)])
@pytest.mark.parametrize(("dt", "within"), [(1e-4, 0.01), (1e-3, 0.05)])
def test_stops_and_stays(damping, time, angle, dt, within):
    machine, params = bench(jm.Dahl(), jm.DahlParams(1e4, 0.01), 1e-4, damping=damping)
    qpos, qvel, _ = ran(machine, params, np.zeros(int(0.4 / dt)), qvel=10.0, dt=dt)
    after = int(2 * time / dt)
    assert np.argmax(qvel < 1e-2) * dt == pytest.approx(time, rel=within, abs=dt)
    assert qpos[-1] == pytest.approx(angle, rel=within)
    # What rings is the bristle, whose whole reach is 1e-6 rad.
    assert np.abs(qvel[after:]).max() < 1e-3
    assert np.abs(qpos[after:] - qpos[-1]).max() < 2e-6


def test_dry_friction_and_bristles_share_one_balance():
    parts = {"dry_friction": jm.CoulombFriction()}
    machine, params = bench(jm.Dahl(), jm.DahlParams(1e4, 0.01), 1e-4, **parts)
    budget = jm.CoulombFrictionParams(0.02)
    params = jm.BenchParams(
        jm.ActuatorParams(params.actuator.motor, gear=params.actuator.gear, dry_friction=budget), params.load
    )
    # 0.019 N m cannot even bend the bristles; 0.025 bends them and holds; 0.04 slides with 0.01 N m left over.
    qpos, qvel, deflection = ran(machine, params, np.full(400, 0.019))
    assert qpos[-1] == qvel[-1] == deflection[-1] == 0
    qpos, qvel, _ = ran(machine, params, np.full(2000, 0.025))
    assert 0 < qpos[-1] < 1.5e-6
    assert qvel[-1] == 0
    _, qvel, _ = ran(machine, params, np.full(401, 0.04))
    assert (qvel[-1] - qvel[200]) / 0.2 == pytest.approx(100, rel=1e-3)


def reference(rhs, start, end):
    diffrax = pytest.importorskip("diffrax")
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(rhs),
        diffrax.Dopri8(),
        0.0,
        end,
        1e-5,
        start,
        stepsize_controller=diffrax.PIDController(rtol=1e-11, atol=1e-13),
        max_steps=200_000,
    )
    return jax.tree.map(lambda y: y[-1], solution.ys)


def order(errors, sizes):
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def test_hold_is_first_order_in_a_changing_speed():
    params, bristle, end = lugre(300.0, 0.05, 0.1, 0.15, 0.1), jm.LuGre(), 0.5

    def speed(t):
        return 0.2 + 0.1 * jnp.sin(8 * t)

    def rhs(t, z, args):
        w = speed(t)
        return w - 300.0 * jnp.abs(w) / bristle.level(params, w) * z

    exact = reference(rhs, jnp.asarray(0.0), end)

    def error(rows):
        dt = end / rows

        def body(state, t):
            return bristle.step(state, params, None, jnp.zeros(()), speed(t), jnp.asarray(dt))[0], None

        state, _ = jax.lax.scan(body, bristle.init(params), jnp.asarray(dt * np.arange(rows)))
        return abs(float(state.deflection - exact))

    rows = np.array([400, 800, 1600, 3200])
    assert order([error(n) for n in rows], end / rows) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("stage", ["lugre", "dahl"])
def test_shaft_with_bristles_is_first_order(stage):
    bristle, friction = (
        (jm.LuGre(), lugre(60.0, 0.02, 0.1, 0.15, 0.5)) if stage == "lugre" else (jm.Dahl(), jm.DahlParams(60.0, 0.1))
    )
    machine, params = bench(bristle, friction, 1e-2, damping=0.02)
    torque, end = 0.3, 0.2

    def rhs(t, y, args):
        del t, args
        _, w, z = y
        level = bristle.level(friction, w) if stage == "lugre" else friction.coulomb_friction
        damping = friction.lugre_damping if stage == "lugre" else 0.0
        rate = w - 60.0 * jnp.abs(w) / level * z
        return w, (torque - 0.02 * w - 60.0 * z - damping * rate) / 1e-2, rate

    exact = reference(rhs, (jnp.asarray(0.0),) * 3, end)

    def error(rows):
        qpos, qvel, _ = ran(machine, params, np.full(rows + 1, torque), dt=end / rows)
        return np.hypot(qpos[-1] - float(exact[0]), qvel[-1] - float(exact[1]))

    rows = np.array([1000, 2000, 4000, 8000])
    assert order([error(n) for n in rows], end / rows) == pytest.approx(1, abs=0.1)


positive = functools.partial(st.floats, allow_nan=False, allow_infinity=False)


@hypothesis.settings(max_examples=40, derandomize=True)
@hypothesis.given(
    logs=st.tuples(positive(1, 5), positive(-4, 0), positive(-3, -1), positive(-2, 1), positive(-5, -2)),
    ratio=positive(1, 3),
    qvel=positive(-20, 20),
)
def test_bristles_take_energy_from_a_free_shaft(logs, ratio, qvel):
    stiffness, damping, coulomb, velocity, inertia = (10.0**x for x in logs)
    params = lugre(stiffness, damping, coulomb, ratio * coulomb, velocity)
    needed = float(jm.passive_damping(jm.LuGre(), params))
    machine, bench_params = bench(jm.LuGre(), params, inertia, damping=max(needed, 1e-12))
    _, speed, deflection = ran(machine, bench_params, np.zeros(300), qvel=qvel)
    energy = inertia * speed[1:] ** 2 / 2 + stiffness * deflection[:-1] ** 2 / 2
    assert energy.max(initial=0) <= inertia * qvel**2 / 2 * (1 + 1e-9) + 1e-15
    assert abs(speed[-1]) <= abs(qvel)


@hypothesis.settings(max_examples=40, derandomize=True)
@hypothesis.given(
    stiffness=positive(10, 1e5), coulomb=positive(1e-3, 0.1), amplitude=positive(0.01, 5), phase=positive(0, 6.2)
)
def test_friction_work_over_a_closed_cycle_is_negative(stiffness, coulomb, amplitude, phase):
    rows, dt = 400, 1e-5
    speed = amplitude * np.sin(2 * np.pi * np.arange(2 * rows) / rows + phase)
    for bristle, params in (
        (jm.Dahl(), jm.DahlParams(stiffness, coulomb)),
        (jm.LuGre(), lugre(stiffness, 0.0, coulomb, 1.5 * coulomb, 0.1)),
    ):
        work = float(_cycle(bristle, params, jnp.asarray(speed), jnp.asarray(dt)))
        assert work <= 1e-15


@functools.partial(jax.jit, static_argnums=0)
def _cycle(bristle, params, speed, dt):
    def body(state, w):
        after, torque = bristle.step(state, params, None, jnp.zeros(()), w, dt)
        # The mean torque of the step: the torque is -stiffness z and z moves by the exact hold.
        _, later = bristle.step(after, params, None, jnp.zeros(()), w, dt)
        return after, (torque + later) / 2 * w * dt

    _, work = jax.lax.scan(body, bristle.init(params), speed)
    return work[speed.shape[0] // 2 :].sum()


def test_passivity_where_values_enter():
    # sigma1 (tau_s - tau_c) / tau_c = 0.2 * 0.5.
    params = lugre()
    assert float(jm.passive_damping(jm.LuGre(), params)) == pytest.approx(0.1, rel=1e-4)
    with pytest.warns(jm.PassivityWarning, match="must be"):
        jm.check_lugre(jm.LuGre(), params, 0.09)
    jm.check_lugre(jm.LuGre(), params, 0.1)
    fading = jm.LuGreParams(1e3, 0.2, 0.1, 0.15, 0.1, None, None)
    assert float(jm.passive_damping(jm.LuGre(damping_decay=jm.GaussianDecay()), fading)) < 0.01
    batch = lugre(np.full(3, 1e3), np.array([0.0, 0.2, 0.4]), np.full(3, 0.1), np.full(3, 0.15), np.full(3, 0.1))
    np.testing.assert_allclose(jm.passive_damping(jm.LuGre(), batch), [0, 0.1, 0.2], rtol=1e-4, atol=1e-9)
    with pytest.raises(ValueError, match="below coulomb_friction"):
        jm.check_lugre(jm.LuGre(), lugre(stiction=0.05))
    with pytest.raises(ValueError, match="stribeck_velocity"):
        jm.check_lugre(jm.LuGre(), lugre(velocity=0.0))


@pytest.mark.parametrize("stiffness", [1e2, 1e5])
@pytest.mark.parametrize("share", [0.0, 0.5, 5.0])
def test_comes_to_rest_in_single_precision(stiffness, share):
    friction = lugre(stiffness, share * 1e-3 * stiffness, 0.05, 0.08, 0.1)
    machine, params = jax.tree.map(lambda x: x.astype(jnp.float32), bench(jm.LuGre(), friction, 1e-4))
    pushed = jnp.where(jnp.arange(4000) < 2500, 0.0, 0.03).astype(jnp.float32)
    qpos, qvel, _ = run(machine, params, pushed, 0.0, 10.0, jnp.asarray(1e-3, jnp.float32))
    assert qpos.dtype == jnp.float32
    assert abs(float(qvel[2400])) < 1e-5
    assert abs(float(qvel[-1])) < 1e-5
    assert float(qpos[-1]) == float(qpos[-1000])


# At rest, bent but holding, sliding, and reversing within the step.
@pytest.mark.parametrize(
    ("deflection", "qvel", "torque"),
    [
        (0.0, 0.0, 0.0),
        (2e-4, 0.0, 0.04),
        (2e-4, 0.0, 0.055),
        (-3e-4, 0.4, 0.02),
        (4e-4, -0.3, 0.3),
        (1e-4, 1e-3, -0.05),
    ],
)
def test_gradients_of_the_balance(deflection, qvel, torque):
    bristle, friction = jm.LuGre(damping_decay=jm.GaussianDecay()), lugre(200.0, 0.3, 0.05, 0.09, 0.3)
    machine, params = bench(bristle, friction, 1e-3, damping=1e-3)
    start = machine.init(params)
    leaves, unravel = ravel_pytree(params)

    def step(x):
        values = unravel(x[3:])
        state = jm.BenchState(
            jax.tree.map(lambda _: x[0], start.actuator),
            jnp.zeros(()),
            x[1],
        )
        after, out = machine.step(state, values, x[2], jnp.asarray(1e-3))
        return jnp.stack([after.qpos, after.qvel, after.actuator.motor.bristle.deflection, out.motor_torque])

    x = np.concatenate([[deflection, qvel, torque], leaves])
    forward, reverse = (np.asarray(jax.jit(jac(step))(x)) for jac in (jax.jacfwd, jax.jacrev))
    size = np.concatenate([[1e-9, 1e-8, 1e-9], 1e-6 * np.abs(leaves)])
    moved = jax.jit(jax.vmap(step))
    f0 = moved(x[None])
    above, above2, below, below2 = (np.asarray(moved(x + k * np.diag(size)) - f0) for k in (1, 2, -1, -2))
    heard = size > 0
    weight = np.concatenate([[1e-3, 1.0, 0.1], np.abs(leaves)])[heard]
    # Second order on either side: where the shaft is exactly in balance, bending on and unbending differ.
    sides = [(step[heard] / (2 * size[heard, None])).T * weight for step in (4 * above - above2, below2 - 4 * below)]
    ours = forward[:, heard] * weight
    miss = np.min([np.abs(ours - side) for side in (*sides, (sides[0] + sides[1]) / 2)], axis=0)
    assert (miss < 1e-6 * np.abs(sides).max() + 1e-12).all()
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("torque", [0.03, -0.02])
def test_the_friction_of_a_step_is_what_the_shaft_lacks(torque):
    """M (w - w_old) / h = A - D w - F, and F = (s0 z + (s0 h + s1) w - s1 k z |w|) / (1 + k h |w|) with k = s0 / g."""
    stiffness, damping, level, deflection, before, h = 8.0, 0.03, 0.01, 4e-4, 1.2, 2e-3
    mass, drag = 5e-5, 1e-3
    numbers = [jnp.asarray(x) for x in (mass, drag, torque, 0.0)]
    motion = move_bristle(
        *(jnp.asarray(x) for x in (deflection, stiffness, damping, level)),
        Shaft(*numbers), jnp.asarray(before), jnp.asarray(h),
    )  # fmt: skip
    w, k = float(motion.qvel), stiffness / level
    friction = (stiffness * deflection + (stiffness * h + damping) * w - damping * k * deflection * abs(w)) / (
        1 + k * h * abs(w)
    )
    assert float(motion.friction_torque) == pytest.approx(-friction, rel=1e-12)
    assert mass * (w - before) / h == pytest.approx(torque - drag * w - friction, rel=1e-9)
