"""Play between rotor and load: the gap, the contact, energy, and any stiffness at any step."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

roll = jax.jit(jm.rollout, static_argnums=4)
ACTUATOR = jm.Actuator(
    jm.Motor(jm.QuasiStatic()), jm.TorqueDrive(), gear=jm.Backlash(), dry_friction=jm.CoulombFriction()
)


def made(gap=0.02, stiffness=50.0, damping=0.0, ratio=10.0, inertia=0.01, dry=0.0, integrator=None):
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(0.5, 0.05, 0.05)),
        gear=jm.BacklashParams(ratio, 5e-5, gap, stiffness, damping),
        dry_friction=jm.CoulombFrictionParams(dry),
    )
    bench = jm.Bench(ACTUATOR, jm.RigidLoad(), integrator or jm.ExactFlow())
    return bench, jm.BenchParams(params, jm.RigidLoadParams(inertia))


@pytest.mark.parametrize("ratio", [10.0, -10.0])
def test_the_rotor_crosses_the_gap_alone(ratio):
    bench, params = made(ratio=ratio)
    # 1 mN m on 5e-5 kg m^2 is 20 rad/s^2; from the middle of the gap 0.1 rad of the rotor are free: 0.1 s.
    state, out = roll(bench, bench.init(params), params, jnp.full(99, 1e-3), 1e-3)
    assert not np.asarray(out.qvel).any()
    assert float(state.actuator.gear.rotor_speed) == pytest.approx(20 * 0.099)
    state, out = roll(bench, bench.init(params), params, jnp.full(200, 1e-3), 1e-3)
    assert float(state.qvel) * ratio > 0


@pytest.mark.parametrize("integrator", [jm.ExactFlow(), jm.ImplicitFast()], ids=lambda i: type(i).__name__)
@pytest.mark.parametrize(("stiffness", "dt"), [(50.0, 1e-4), (1e3, 1e-3), (1e5, 1e-3), (1e7, 1e-2)])
def test_any_stiffness_is_stable_and_energy_only_falls(integrator, stiffness, dt):
    """A rotor that bounces in the gap of a free load, without any torque."""
    bench, params = made(stiffness=stiffness, integrator=integrator)
    start = bench.init(params)
    gear = jm.BacklashState(start.actuator.gear.rotor_angle, jnp.asarray(40.0))
    actuator = jm.ActuatorState(None, None, None, None, start.actuator.motor, gear)
    start = jm.BenchState(actuator, start.qpos, start.qvel)
    momentum = 5e-5 * 40.0 * 10
    state, out = roll(bench, start, params, jnp.zeros(1000), dt)
    end = 5e-5 * float(state.actuator.gear.rotor_speed) ** 2 / 2 + 0.01 * float(state.qvel) ** 2 / 2
    assert end <= 5e-5 * 40**2 / 2 * (1 + 1e-9)
    left = 5e-5 * float(state.actuator.gear.rotor_speed) * 10 + 0.01 * float(state.qvel)
    assert left == pytest.approx(momentum, rel=1e-9)
    assert np.all(np.isfinite(out.qvel))


def test_against_an_ode_solver():
    """Sinusoidal torque through play and a damped mesh."""
    gap, k, c, ratio, j, m = 0.02, 40.0, 0.05, 10.0, 5e-5, 0.01

    def rate(t, y, args):
        theta, omega, q, u = y
        twist, slip = theta / ratio - q, omega / ratio - u
        upper = jnp.where(twist > gap / 2, jnp.maximum(k * (twist - gap / 2) + c * slip, 0.0), 0.0)
        lower = jnp.where(twist < -gap / 2, jnp.minimum(k * (twist + gap / 2) + c * slip, 0.0), 0.0)
        mesh = upper + lower
        # The command of a row is held, as a drive holds it.
        torque = 0.02 * jnp.sin(20 * jnp.floor(t / 1e-4 + 1e-6) * 1e-4)
        return jnp.stack([omega, (torque - mesh / ratio) / j, u, mesh / m])

    found = diffrax.diffeqsolve(
        diffrax.ODETerm(rate), diffrax.Tsit5(), 0.0, 0.4, 1e-5, jnp.zeros(4), max_steps=None,
        stepsize_controller=diffrax.ConstantStepSize(),
    )  # fmt: skip
    truth = np.asarray(found.ys[-1])
    bench, params = made(gap, k, c, ratio, m)
    state, _ = roll(bench, bench.init(params), params, 0.02 * jnp.sin(20e-4 * jnp.arange(4000.0)), 1e-4)
    assert float(state.qpos) == pytest.approx(truth[2], rel=2e-3)
    assert float(state.qvel) == pytest.approx(truth[3], rel=1e-2)


def test_no_gap_and_a_stiff_mesh_is_a_stiff_gear():
    """The gear oscillates about the stiff motion; with mesh damping it settles on it."""
    bench, params = made(gap=0.0, stiffness=1e4, damping=5.0)
    state, _ = roll(bench, bench.init(params), params, jnp.full(500, 0.01), 1e-3)
    assert float(state.qvel) == pytest.approx(0.01 * 10 / (0.01 + 5e-5 * 100) * 0.5, rel=1e-3)


def test_friction_holds_the_load_against_the_mesh():
    bench, params = made(stiffness=1e5, damping=1.0, dry=0.5)
    state, out = roll(bench, bench.init(params), params, jnp.full(2000, 0.04), 1e-3)
    assert not np.asarray(out.qvel)[1000:].any()
    # At rest the mesh carries the whole torque of the motor.
    assert float(out.actuator.joint_torque[-1]) == pytest.approx(0.4, rel=1e-6)
    moving, _ = roll(bench, state, params, jnp.full(200, 0.06), 1e-3)
    assert float(moving.qvel) > 0


def test_step_alone_reports_the_mesh():
    """A host engine moves the joint; the rotor follows through the gap."""
    _, params = made(stiffness=1e3, damping=1.0)
    own = params.actuator
    still = jnp.zeros(2000)
    _, out = jm.replay(ACTUATOR, ACTUATOR.init(own), own, jnp.full(2000, 0.01), still, still, 1e-3)
    assert float(out.joint_torque[0]) == 0.0
    assert float(out.joint_torque[-1]) == pytest.approx(0.1, rel=1e-3)
    assert float(ACTUATOR.gear.reflected_inertia(own.gear)) == 0.0


def test_gradient_is_finite_and_right():
    def final(x):
        bench, params = made(x[0], x[1], x[2], inertia=x[3])
        state, _ = jm.rollout(bench, bench.init(params), params, 0.02 * jnp.sin(0.02 * jnp.arange(300.0)), 1e-3)
        return jnp.stack([state.qpos, state.qvel])

    x = jnp.asarray([0.02, 40.0, 0.05, 0.01])
    reverse = jax.jit(jax.jacrev(final))(x)
    shifts = jnp.diag(1e-7 * x)
    ends = jax.jit(jax.vmap(final))(jnp.concatenate([x[None] + shifts, x[None] - shifts]))
    numeric = ((ends[:4] - ends[4:]) / (2e-7 * x[:, None])).T
    # A contact that begins with damping jumps, which the derivative cannot see.
    np.testing.assert_allclose(reverse, numeric, rtol=1e-3)


def test_the_implicit_step_sees_a_sampled_drive_damp_the_rotor():
    """In the gap the rotor is alone: w+ = h kp q* / (J + h kd), stable however large kd is."""
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.NewtonPD(), gear=jm.Backlash())
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(0.5, 0.05, 0.05)),
        jm.NewtonPDParams(0.2, 0.5),
        gear=jm.BacklashParams(10.0, 5e-5, 0.02, 50.0),
    )
    bench, params = (
        jm.Bench(actuator, jm.RigidLoad(), jm.ImplicitFast()),
        jm.BenchParams(params, jm.RigidLoadParams(0.01)),
    )
    command = (jnp.full(400, 0.03), jnp.zeros(400), jnp.zeros(400))
    state, _ = roll(bench, bench.init(params), params, jax.tree.map(lambda x: x[:1], command), 1e-3)
    expected = 1e-3 * 0.2 * 0.03 / (5e-5 + 1e-3 * 0.5)
    assert float(state.actuator.gear.rotor_speed) == pytest.approx(expected, rel=1e-12)
    _, out = roll(bench, bench.init(params), params, command, 1e-3)
    assert out.result == jm.Result.OK.value
    assert np.all(np.abs(out.qvel) < 1)
