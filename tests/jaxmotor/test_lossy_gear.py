"""A gear that knows which side drives: the numbers of its law, holding, no-load speed, energy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jaxmotor as jm

RATIO, J = 50.0, 1e-5


def params(driven=0.6, **changes):
    given = {"driving_efficiency": 0.8, "driving_friction": 0.02, "driven_friction": 0.03} | changes
    return jm.LossyGearParams(RATIO, J, driven_efficiency=driven, **given)


def bench(gear_params, inertia=0.5, controller=None, dry=0.0):
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()),
        controller or jm.TorqueDrive(),
        gear=jm.LossyGear() if isinstance(gear_params, jm.LossyGearParams) else jm.Gear(),
        dry_friction=jm.CoulombFriction(),
    )
    winding = jm.QuasiStaticParams(0.5, 0.05, 0.05)
    own = jm.ActuatorParams(jm.MotorParams(winding), gear=gear_params, dry_friction=jm.CoulombFrictionParams(dry))
    return actuator, own, inertia


def rolled(gear_params, command, external, rows, dt, qvel=0.0, inertia=0.5, controller=None, integrator=None, dry=0.0):
    """Joint speeds of a run with a constant torque `external` on the joint."""
    actuator, own, inertia = bench(gear_params, inertia, controller, dry)
    # A pendulum that is lifted by its sensor offset is a constant torque while it moves little.
    load = jm.Pendulum()
    arm = 1e5
    load_params = jm.PendulumParams(0.0, arm, inertia, 0.0, offset=0.0, gravity=0.0)
    if external:
        load_params = jm.PendulumParams(
            inertia / arm**2, arm, 0.0, gravity=-external * arm / inertia, offset=jnp.pi / 2
        )
    whole = jm.Bench(actuator, load, integrator or jm.ExactFlow())
    both = jm.BenchParams(own, load_params)
    state = whole.init(both, 0.0, qvel)
    ctrl = jnp.full(rows, float(command))
    state, out = jax.jit(jm.rollout, static_argnums=4)(whole, state, both, ctrl, dt)
    return np.append(out.qvel, state.qvel), out


GEAR = jm.LossyGear()


def test_table_of_losses():
    drive, back = (
        GEAR.loss(params(), jnp.asarray(1.0), jnp.asarray(1.0)),
        GEAR.loss(params(), jnp.asarray(-0.5), jnp.asarray(1.0)),
    )
    assert float(drive) == pytest.approx(0.22)
    assert RATIO * (1 - float(drive)) == pytest.approx(39.0)
    assert 39 / 50 == pytest.approx(0.780)
    assert float(back) == pytest.approx(0.36333, abs=5e-6)
    assert RATIO * (-0.5 - float(back)) == pytest.approx(-43.167, abs=5e-4)
    assert 0.5 / (0.5 + float(back)) == pytest.approx(0.579, abs=5e-4)
    # The laws meet where the book says.
    low, high = (float(GEAR.loss(params(), jnp.asarray(0.0115384615 + e), jnp.asarray(1.0))) for e in (-1e-9, 1e-9))
    assert low == pytest.approx(high, abs=1e-8)
    # Backward motion mirrors it.
    mirrored = GEAR.loss(params(), jnp.asarray(0.5), jnp.asarray(-1.0))
    assert float(mirrored) == pytest.approx(-float(back))


def test_table_of_holding():
    def band(external):
        return [float(x) for x in GEAR.holding_torques(params(), jnp.asarray(external))]

    # Motor off: up to 1.5 N m are held.
    assert band(1.5)[1] == pytest.approx(0.0, abs=1e-12)
    assert band(-1.5)[0] == pytest.approx(0.0, abs=1e-12)
    assert band(40.0) == pytest.approx([-1.025, -0.462], abs=5e-4)
    # With 0.5 N m of the motor the gear is locked for loads in [-43.167, -19].
    assert band(-19.0)[1] == pytest.approx(0.5)
    assert band(-43.0 - 1 / 6)[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("torque", "external", "direction"),
    [
        (0.0, 1.49, 0), (0.0, -1.49, 0), (0.0, 1.51, 1), (0.0, -1.51, -1),
        (-1.02, 40.0, 0), (-0.463, 40.0, 0), (-1.03, 40.0, -1), (-0.461, 40.0, 1),
        (0.5, -10.0, 1), (0.5, -20.0, 0), (0.5, -43.1, 0), (0.5, -43.3, -1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("integrator", [jm.ExactFlow(), jm.ImplicitFast()], ids=["exact", "implicit"])
def test_table_at_rest_in_motion(torque, external, direction, integrator):
    """Creep tells a law that holds from a smooth one: after a second at rest the speed is exactly zero."""
    speeds, _ = rolled(params(), torque, external, 100, 1e-2, integrator=integrator)
    assert np.sign(speeds[-1]) == direction
    if direction == 0:
        assert not speeds.any()


def test_locked_loss_of_the_table():
    # Motor 0.5 against load -20: the gear takes 0.5 - 20/50 = 0.1, inside its band.
    low, high = GEAR.holding_torques(params(), jnp.asarray(-20.0))
    assert float(low) < 0.5 < float(high)
    assert 0.5 - 20 / RATIO == pytest.approx(0.1)


def test_efficiency_leaves_the_no_load_speed():
    free = params(driving_friction=0.0, driven_friction=0.0)
    for own in (free, jm.GearParams(RATIO, J)):
        speeds, _ = rolled(own, 12.0, 0.0, 4000, 1e-2, controller=jm.VoltageDrive())
        assert speeds[-1] == pytest.approx(12 / 0.05 / RATIO, rel=1e-9)


def test_the_losses_carry_the_damping_of_the_load():
    """At rest of the speed tau = (f + b1) / eta1 with f N = d w: w = N (eta1 tau - b1) / d."""
    actuator, own, inertia = bench(params())
    whole = jm.Bench(actuator, jm.RigidLoad())
    both = jm.BenchParams(own, jm.RigidLoadParams(inertia, damping=2.0))
    state, _ = jax.jit(jm.rollout, static_argnums=4)(whole, whole.init(both), both, jnp.full(2000, 0.5), 1e-2)
    assert float(state.qvel) == pytest.approx(RATIO * (0.8 * 0.5 - 0.02) / 2, rel=1e-9)


def test_back_driven_rotor_looks_heavier():
    """Reflected rotor inertia J N^2 / eta2 when the load turns it, J N^2 / eta1 as the load sees it when driving."""
    quiet = params(driving_friction=0.0, driven_friction=0.0)
    speeds, _ = rolled(quiet, 0.0, 4.0, 1, 1e-3, inertia=0.1)
    assert speeds[-1] / 1e-3 == pytest.approx(4.0 / (0.1 + J * RATIO**2 / 0.6))
    speeds, _ = rolled(quiet, 0.2, 0.0, 1, 1e-3, inertia=0.1)
    assert speeds[-1] / 1e-3 == pytest.approx(0.2 * RATIO * 0.8 / (0.1 + J * RATIO**2 * 0.8))


def test_unpowered_gear_without_friction_never_locks():
    quiet = params(driving_friction=0.0, driven_friction=0.0)
    speeds, _ = rolled(quiet, 0.0, 0.05, 10, 1e-2)
    assert speeds[-1] > 0


@pytest.mark.parametrize("eta", [0.0, -0.5])
def test_worm_locks_until_the_motor_helps(eta):
    worm = params(eta, driving_friction=0.0, driven_friction=0.0)
    speeds, _ = rolled(worm, 0.0, 400.0, 50, 1e-2)
    assert not speeds.any()
    help_needed = -eta * 400 / RATIO
    if eta < 0:
        speeds, _ = rolled(worm, 0.99 * help_needed, 400.0, 50, 1e-2)
        assert not speeds.any()
    speeds, _ = rolled(worm, 1.01 * help_needed + 1e-3, 400.0, 50, 1e-2)
    assert speeds[-1] > 0


def test_reported_joint_torque():
    """What the joint accelerates with, the rotor's own inertia left aside."""
    speeds, out = rolled(params(), 1.0, 0.0, 1, 1e-3, inertia=0.5)
    acceleration = speeds[-1] / 1e-3
    assert float(out.actuator.joint_torque[0]) == pytest.approx(acceleration * (0.5 + J * RATIO**2), rel=1e-9)
    assert float(out.actuator.motor_torque[0]) == pytest.approx(1.0)


@pytest.mark.parametrize("integrator", [jm.ExactFlow(), jm.Euler()], ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("torque", [0.4, 0.01])
def test_the_reported_torque_of_a_moving_joint(torque, integrator):
    """From a speed, driving and driven: what the joint accelerates with, N times the rotor's own inertia left aside."""
    speeds, out = rolled(params(), torque, 0.0, 1, 1e-4, qvel=3.0, inertia=0.5, integrator=integrator)
    acceleration = (speeds[-1] - 3.0) / 1e-4
    reported = float(out.actuator.joint_torque[0])
    assert reported == pytest.approx(acceleration * (0.5 + J * RATIO**2), rel=1e-6)


@pytest.mark.parametrize("integrator", [jm.ExactFlow(), jm.Euler()], ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("torque", [0.4, 0.01, -0.2])
def test_the_other_way_is_the_mirror_image(torque, integrator):
    ahead, _ = rolled(params(), torque, 1.5, 40, 1e-3, qvel=2.0, integrator=integrator)
    back, _ = rolled(params(), -torque, -1.5, 40, 1e-3, qvel=-2.0, integrator=integrator)
    np.testing.assert_allclose(back, -ahead, rtol=1e-13)
    assert np.ptp(ahead) > 0.01


def test_step_alone_knows_the_direction():
    actuator, own, _ = bench(params())
    state = actuator.init(own)
    for qvel, expected in ((1.0, 39.0), (0.0, 50.0)):
        _, out = actuator.step(state, own, jnp.asarray(1.0), jnp.asarray(0.0), jnp.asarray(qvel), jnp.asarray(1e-3))
        assert float(out.joint_torque) == pytest.approx(expected)


@settings(max_examples=60)
@given(
    st.floats(0.2, 1.0), st.floats(-1.0, 0.95), st.floats(0, 0.1), st.floats(0, 0.1), st.floats(-20, 20),
    st.sampled_from([-1.0, 1.0]),
)  # fmt: skip
def test_loss_never_feeds_the_motion(eta1, eta2, b1, b2, speed, side):
    """With the motor off and no load, kinetic energy only falls."""
    own = jm.LossyGearParams(side * RATIO, J, eta1, eta2, b1, b2)
    speeds, _ = rolled(own, 0.0, 0.0, 20, 2e-3, qvel=speed, inertia=0.02)
    assert np.all(np.diff(np.abs(speeds)) <= 1e-12)


def test_gradients_through_the_mesh_are_central_differences():
    def speed(x):
        own = jm.LossyGearParams(RATIO, x[0] * 1e-5, x[1], x[2], x[3], x[4])
        actuator, p, _ = bench(own, dry=0.3)
        whole = jm.Bench(actuator, jm.Pendulum())
        both = jm.BenchParams(p, jm.PendulumParams(2.0, 0.3, 0.1))
        # Lifts, lets go and is pulled back by the weight.
        ctrl = x[5] * jnp.sin(jnp.arange(60.0) * 0.2)
        state, _ = jm.rollout(whole, whole.init(both, 0.4), both, ctrl, 1e-2)
        return jnp.stack([state.qpos, state.qvel])

    x = jnp.asarray([1.0, 0.8, 0.6, 0.02, 0.03, 0.5])
    exact = jax.jit(jax.jacrev(speed))(x)
    numeric = jax.jit(jax.vmap(speed))
    shifts = 1e-6 * jnp.eye(6)
    slope = (numeric(x[None] + shifts) - numeric(x[None] - shifts)).T / 2e-6
    np.testing.assert_allclose(exact, slope, rtol=2e-5, atol=1e-6)
