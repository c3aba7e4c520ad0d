"""Load-dependent dry friction: every model by hand, and the joint that it holds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

COULOMB, LOAD, SLOW, SLOW_LOAD = 0.02, 0.15, 0.03, 0.07
MOTOR, EXTERNAL, QUADRATIC = 0.2, 0.12, (0.4, 0.6)
VELOCITY, EXPONENT = 0.7, 1.6


def budget(friction, params, speed, motor_torque, external_torque):
    scalars = [jnp.asarray(float(x)) for x in (speed, motor_torque, external_torque)]
    return float(friction.budget(params, *scalars))


def faded(speed):
    return np.exp(-(abs(speed / VELOCITY) ** EXPONENT))


CASES = [(0.0, 0.3, -0.1), (0.4, 0.3, -0.5), (-1.5, -0.2, 0.6), (0.05, 0.25, 0.3), (3.0, 0.0, -0.4)]


def symmetric(carried):
    return LOAD * abs(carried)


@pytest.mark.parametrize(("speed", "motor", "external"), CASES)
def test_models_by_hand(speed, motor, external):
    s, carried = faded(speed), motor - external
    directional = abs(MOTOR * motor - EXTERNAL * external)
    stribeck, stribeck_params = jm.Stribeck(), jm.StribeckParams(SLOW, VELOCITY, EXPONENT)
    load, load_params = jm.SymmetricLoadFriction(), jm.SymmetricLoadFrictionParams(LOAD)
    two_way, two_way_params = jm.DirectionalLoadFriction(), jm.DirectionalLoadFrictionParams(MOTOR, EXTERNAL)
    quadratic = 0.0
    if motor * external < 0:
        quadratic = QUADRATIC[1] * external**2 if abs(motor) > abs(external) else QUADRATIC[0] * motor**2
    cases = {
        "M1": (jm.LoadDependentFriction(), (), COULOMB),
        "M2": (jm.LoadDependentFriction(stribeck=stribeck), (None, stribeck_params), COULOMB + s * SLOW),
        "M3": (jm.LoadDependentFriction(load), (load_params,), COULOMB + symmetric(carried)),
        "M4": (
            jm.LoadDependentFriction(load, stribeck, jm.SymmetricLoadFriction()),
            (load_params, stribeck_params, jm.SymmetricLoadFrictionParams(SLOW_LOAD)),
            COULOMB + symmetric(carried) + s * (SLOW + SLOW_LOAD * abs(carried)),
        ),
        "M5": (
            jm.LoadDependentFriction(two_way, stribeck, two_way),
            (two_way_params, stribeck_params, two_way_params),
            COULOMB + directional + s * (SLOW + directional),
        ),
        "M6": (
            jm.LoadDependentFriction(two_way, stribeck, two_way, jm.QuadraticLoadFriction()),
            (two_way_params, stribeck_params, two_way_params, jm.QuadraticLoadFrictionParams(*QUADRATIC)),
            COULOMB + directional + s * (SLOW + directional + quadratic),
        ),
    }
    for name, (friction, params, expected) in cases.items():
        found = budget(friction, jm.LoadDependentFrictionParams(COULOMB, *params), speed, motor, external)
        assert found == pytest.approx(expected, rel=1e-14), name


def pendulum(load_friction, coulomb):
    friction = jm.LoadDependentFriction(jm.SymmetricLoadFriction())
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.TorqueDrive(), dry_friction=friction)
    params = jm.BenchParams(
        jm.ActuatorParams(
            jm.MotorParams(jm.QuasiStaticParams(1.0, 0.1, 0.1)),
            dry_friction=jm.LoadDependentFrictionParams(coulomb, jm.SymmetricLoadFrictionParams(load_friction)),
        ),
        jm.PendulumParams(mass=0.5, length=0.1),
    )
    return jm.Bench(actuator, jm.Pendulum()), params


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_motor_lifts_or_holds_at_the_hand_derived_torque(share):
    """At a horizontal arm the weight is W = m g l. A motor torque t against it must beat tau_c + K (t + W) to lift:
    t (1 - K) = W (1 + K) + tau_c."""
    load_friction, coulomb = 0.2, 0.01
    weight = 0.5 * 9.81 * 0.1
    lifting = (weight * (1 + load_friction) + coulomb) / (1 - load_friction)
    bench, params = pendulum(load_friction, coulomb)
    command = jnp.full(20, share * lifting)
    state, _ = jm.rollout(bench, bench.init(params, qpos=np.pi / 2), params, command, 1e-3)
    moved = float(state.qpos) - np.pi / 2
    assert (moved > 0) == (share > 1)
    if share < 1:
        assert moved == 0.0


def test_gradient_through_stick_and_slip_equals_central_differences():
    bench, params = pendulum(0.15, 0.02)
    command = 0.9 * jnp.sin(jnp.arange(400.0) * 0.02)

    def end(scale):
        state, _ = jm.rollout(bench, bench.init(params, qpos=0.3), params, scale * command, 5e-3)
        return state.qpos

    slope = float(jax.grad(end)(1.0))
    step = 1e-5
    central = float(end(1.0 + step) - end(1.0 - step)) / (2 * step)
    assert slope == pytest.approx(central, rel=1e-5)
    assert float(jax.jvp(end, (1.0,), (1.0,))[1]) == pytest.approx(slope, rel=1e-9)
