"""The bench: cases with known numbers, order of convergence, exact linear parts, stops and their gradients."""

import math

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

roll = jax.jit(jm.rollout, static_argnums=4)


def made(
    controller,
    load,
    load_params,
    k=0.05,
    r=0.5,
    viscous=0.0,
    dry=0.0,
    rotor=0.0,
    winding=None,
    integrator=None,
    own=None,
):
    actuator = jm.Actuator(
        jm.Motor(winding or jm.QuasiStatic()), controller, drag=jm.ViscousDrag(), dry_friction=jm.CoulombFriction()
    )
    params = jm.ActuatorParams(
        jm.MotorParams(own or jm.QuasiStaticParams(r, k, k)),
        gear=jm.GearParams(1.0, rotor),
        drag=jm.ViscousDragParams(viscous),
        dry_friction=jm.CoulombFrictionParams(dry),
    )
    return jm.Bench(actuator, load, integrator or jm.ExactFlow()), jm.BenchParams(params, load_params)


@pytest.mark.parametrize("integrator", [jm.ExactFlow(), jm.Euler(), jm.ImplicitFast()], ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("sign", [1, -1])
def test_dry_friction_starts_nothing_backwards(integrator, sign):
    """Case P15: 0.02 N m of dry friction against 0, 0.3 and 1 A."""
    bench, params = made(
        jm.TorqueDrive(), jm.RigidLoad(), jm.RigidLoadParams(0.0), dry=0.02, rotor=1e-4, integrator=integrator
    )
    for amperes, acceleration in ((0.0, 0.0), (0.3, 0.0), (1.0, 300.0)):
        ctrl = jnp.full(100, sign * amperes * 0.05)
        _, out = roll(bench, bench.init(params), params, ctrl, 1e-2)
        expected = sign * acceleration * 1e-2 * np.arange(100)
        np.testing.assert_allclose(out.qvel, expected, rtol=1e-9, atol=1e-12)
        assert float(out.result) == jm.Result.OK


@pytest.mark.parametrize(("viscous", "when", "where"), [(0.0, 0.1, 0.5), (1e-3, 0.069315, 0.306853)])
@pytest.mark.parametrize("dt", [1e-4, 1e-3, 7e-3])
def test_stops_where_it_should_and_stays(viscous, when, where, dt):
    """Case P24, to rounding for any step: the stop is found inside it."""
    bench, params = made(jm.TorqueDrive(), jm.RigidLoad(), jm.RigidLoadParams(1e-4), viscous=viscous, dry=0.01)
    rows = 1 + round(0.2 / dt)
    state, out = roll(bench, bench.init(params, 0.0, 10.0), params, jnp.zeros(rows), dt)
    assert float(state.qpos) == pytest.approx(where if viscous == 0 else 1 - math.log(2), rel=1e-12)
    assert float(where) == pytest.approx(float(state.qpos), abs=1e-6)
    after = np.arange(rows) * dt > when + 1e-6
    assert not np.asarray(out.qvel)[after].any()


@pytest.mark.parametrize("ratio", [7.0, 0.3])
@pytest.mark.parametrize("integrator", [jm.ExactFlow(), jm.Euler(), jm.ImplicitFast()], ids=lambda i: type(i).__name__)
def test_a_geared_motor_is_a_larger_one_at_the_joint(ratio, integrator):
    """A stiff gear without losses makes K N of K, J N^2 of J, B N^2 of B; load and dry friction stay at the joint."""
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()),
        jm.VoltageDrive(),
        drag=jm.ViscousDrag(),
        dry_friction=jm.LoadDependentFriction(jm.SymmetricLoadFriction()),
    )
    bench = jm.Bench(actuator, jm.Pendulum(), integrator)

    def params(gear, k, inertia, viscous):
        own = jm.ActuatorParams(
            jm.MotorParams(jm.QuasiStaticParams(0.5, k, k)),
            gear=jm.GearParams(gear, inertia),
            drag=jm.ViscousDragParams(viscous),
            dry_friction=jm.LoadDependentFrictionParams(0.01, jm.SymmetricLoadFrictionParams(0.15)),
        )
        return jm.BenchParams(own, jm.PendulumParams(mass=0.2, length=0.15, damping=0.02, offset=0.1))

    k, inertia, viscous = 0.4 / ratio, 3e-3 / ratio**2, 0.05 / ratio**2
    volts = jnp.asarray(np.repeat(np.random.default_rng(5).uniform(-2, 2, 10), 20))
    geared, direct = (
        roll(bench, bench.init(own, 0.7, -1.0), own, volts, 2e-3)
        for own in (params(ratio, k, inertia, viscous), params(1.0, ratio * k, ratio**2 * inertia, ratio**2 * viscous))
    )
    for name in ("qpos", "qvel"):
        np.testing.assert_allclose(getattr(geared[1], name), getattr(direct[1], name), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(geared[1].actuator.joint_torque, direct[1].actuator.joint_torque, rtol=1e-9, atol=1e-11)
    assert float(jm.Gear().reflected_inertia(jm.GearParams(ratio, inertia))) == pytest.approx(3e-3, rel=1e-14)
    # Something moved, stopped and turned, or the test would say little.
    speeds = np.asarray(direct[1].qvel)
    assert speeds.min() < -0.5
    assert speeds.max() > 0.5


def test_the_weight_of_a_pendulum():
    """-(m + m_arm / 2) g l sin(q + offset) and J + (m + m_arm / 3) l^2."""
    params = jm.PendulumParams(0.5, 0.2, 1e-3, 0.12, offset=0.3, gravity=9.5)
    for angle in (0.0, 0.4, -2.0):
        torque = float(jm.Pendulum().external_torque(params, jnp.asarray(angle)))
        assert torque == pytest.approx(-0.56 * 9.5 * 0.2 * math.sin(angle + 0.3), rel=1e-14)
    assert float(jm.Pendulum().inertia(params, jnp.asarray(0.0))) == pytest.approx(1e-3 + 0.54 * 0.04, rel=1e-14)


@pytest.mark.parametrize(("integrator", "close"), [(jm.ExactFlow(), 1e-12), (jm.ImplicitFast(), None)])
def test_back_emf_damper_beyond_its_explicit_limit(integrator, close):
    """Case P30: 0.05 s in one step, where an explicit step ends at -150 rad/s."""
    bench, params = made(jm.VoltageDrive(), jm.RigidLoad(), jm.RigidLoadParams(1e-4), integrator=integrator)
    state, _ = roll(bench, bench.init(params, 0.0, 100.0), params, jnp.zeros(1), 0.05)
    assert 0 < float(state.qvel) < 100
    if close:
        assert float(state.qvel) == pytest.approx(100 * math.exp(-2.5), rel=close)
        assert float(state.qvel) == pytest.approx(8.2085, rel=1e-5)


def test_gradients_over_long_horizons():
    """Case P40, whose linear motor the default step moves without error."""
    bench, params = made(jm.VoltageDrive(), jm.RigidLoad(), jm.RigidLoadParams(1e-4), r=1.0, viscous=1e-4)

    rows = np.array([10, 100, 1000, 10_000])

    def readings(volt):
        _, out = jm.rollout(bench, bench.init(params), params, volt * jnp.ones(10_001), 1e-3)
        return jnp.stack([out.qvel[rows], out.qpos[rows]])

    expected = [[4.402854, 17.802431, 19.230769, 19.230769], [0.0229671, 1.2383680, 18.491124, 191.568047]]
    reverse, forward = jax.jit(jax.jacrev(readings))(6.0), jax.jit(jax.jacfwd(readings))(6.0)
    np.testing.assert_allclose(reverse, expected, rtol=2e-7, atol=6e-8)
    np.testing.assert_allclose(reverse, forward, rtol=1e-9)


@pytest.mark.parametrize("dt", [1e-4, 1e-2, 0.3])
def test_linear_parts_are_exact_for_any_step(dt):
    """v = R i + K w, J dw/dt = K i - B w: w = w0 (1 - e^(-t/T)), from a moving start."""
    k, r, b, j, volts, start = 0.05, 0.7, 3e-4, 2e-4, 7.0, -30.0
    bench, params = made(jm.VoltageDrive(), jm.RigidLoad(), jm.RigidLoadParams(j), k=k, r=r, viscous=b)
    rows = round(0.6 / dt)
    state, out = roll(bench, bench.init(params, 0.3, start), params, jnp.full(rows, volts), dt)
    rate = (k * k / r + b) / j
    final = k * volts / r / (k * k / r + b)
    t = np.arange(rows) * dt
    np.testing.assert_allclose(out.qvel, final + (start - final) * np.exp(-rate * t), rtol=1e-12, atol=1e-12)
    angle = 0.3 + final * 0.6 + (start - final) * -np.expm1(-rate * 0.6) / rate
    assert float(state.qpos) == pytest.approx(angle, rel=1e-11)


INDUCTIVE = jm.InductiveParams(1.1, 0.06, 0.06, 3e-3)
PLAIN = jm.QuasiStaticParams(1.1, 0.06, 0.06)


def pendulum_truth(inductance, volts, duration):
    """The same pendulum by an independent high-order solver: qpos, qvel, current."""
    inertia, weight, damping = 0.012, 0.9, 2e-3

    def rate(_, y, args):
        q, w, i = y
        amperes = i if inductance else (volts - 0.06 * w) / 1.1
        slope = (volts - 1.1 * i - 0.06 * w) / inductance if inductance else 0.0 * i
        return jnp.stack([w, (0.06 * amperes - damping * w - weight * jnp.sin(q)) / inertia, slope])

    found = diffrax.diffeqsolve(
        diffrax.ODETerm(rate), diffrax.Dopri8(), 0.0, duration, 1e-3, jnp.asarray([0.8, 2.0, 0.0]),
        stepsize_controller=diffrax.PIDController(rtol=1e-12, atol=1e-13), max_steps=100_000,
    )  # fmt: skip
    return np.asarray(found.ys[-1])


@pytest.mark.parametrize(("inductance", "own"), [(0.0, PLAIN), (3e-3, INDUCTIVE)], ids=["resistive", "inductive"])
def test_order_of_convergence_is_two(inductance, own):
    winding = jm.Inductive() if inductance else jm.QuasiStatic()
    load = jm.UnbalancedLoadParams(0.012, 0.9, 2e-3)
    bench, params = made(jm.VoltageDrive(), jm.UnbalancedLoad(), load, winding=winding, own=own)
    truth = pendulum_truth(inductance, 4.0, 0.8)
    errors = []
    steps = 0.8 / np.array([800, 1600, 3200])
    for dt in steps:
        state, _ = roll(bench, bench.init(params, 0.8, 2.0), params, jnp.full(round(0.8 / dt), 4.0), float(dt))
        errors.append([abs(float(state.qpos) - truth[0]), abs(float(state.qvel) - truth[1])])
    orders = np.polyfit(np.log(steps), np.log(np.array(errors)), 1)[0]
    np.testing.assert_allclose(orders, 2.0, atol=0.1)


@pytest.mark.parametrize("integrator", [jm.Euler(), jm.ImplicitFast()], ids=lambda i: type(i).__name__)
def test_engine_rules_are_first_order(integrator):
    load = jm.UnbalancedLoadParams(0.012, 0.9, 2e-3)
    bench, params = made(jm.VoltageDrive(), jm.UnbalancedLoad(), load, own=PLAIN, integrator=integrator)
    truth = pendulum_truth(0.0, 4.0, 0.8)
    steps = 0.8 / np.array([3200, 6400, 12800])
    errors = []
    for dt in steps:
        state, _ = roll(bench, bench.init(params, 0.8, 2.0), params, jnp.full(round(0.8 / dt), 4.0), float(dt))
        errors.append([abs(float(state.qpos) - truth[0]), abs(float(state.qvel) - truth[1])])
    np.testing.assert_allclose(np.polyfit(np.log(steps), np.log(np.array(errors)), 1)[0], 1.0, atol=0.1)


def test_gradient_through_stops():
    """A pendulum that stops and reverses many times, in every parameter."""

    def final(x):
        load = jm.UnbalancedLoadParams(x[0], x[1], x[2])
        bench, params = made(
            jm.VoltageDrive(), jm.UnbalancedLoad(), load, k=x[3], r=x[4], viscous=x[5], dry=x[6], rotor=x[7]
        )
        ctrl = x[8] * jnp.sin(0.9 * jnp.arange(120.0))
        state, _ = jm.rollout(bench, bench.init(params, 0.4), params, ctrl, 2e-2)
        return jnp.stack([state.qpos, state.qvel])

    x = jnp.asarray([0.01, 0.3, 1e-3, 0.06, 1.1, 1e-4, 0.08, 1e-3, 9.0])
    reverse, forward = jax.jit(jax.jacrev(final))(x), jax.jit(jax.jacfwd(final))(x)
    np.testing.assert_allclose(reverse, forward, rtol=1e-9, atol=1e-12)
    shifts = jnp.diag(1e-6 * x)
    ends = jax.jit(jax.vmap(final))(jnp.concatenate([x[None] + shifts, x[None] - shifts]))
    numeric = ((ends[:9] - ends[9:]) / (2e-6 * x[:, None])).T
    np.testing.assert_allclose(reverse, numeric, rtol=1e-5, atol=1e-6)
