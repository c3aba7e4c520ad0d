"""Every optional part at its neutral value, at rest and at corners: the plain motor's values, finite gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

FULL = jm.Actuator(
    jm.Motor(jm.QuasiStatic(), jm.LumpedThermal(), jm.TorqueLimit(), jm.Cogging(), jm.LuGre(), jm.SaturatingTorque()),
    jm.VoltageDrive(),
    supply=jm.FixedSupply(),
    drag=jm.PolynomialDrag(),
    dry_friction=jm.CoulombFriction(),
    current_limit=jm.CurrentLimit(),
    setpoint=jm.SlewLimiter(),
)
NEUTRAL = jm.BenchParams(
    jm.ActuatorParams(
        jm.MotorParams(
            jm.QuasiStaticParams(0.5, 0.05, 0.05),
            jm.LumpedThermalParams(np.inf, 50.0),
            jm.TorqueLimitParams(np.inf),
            jm.CoggingParams(0.0, 0.0),
            jm.LuGreParams(0.0, 0.0, 0.1, 0.1, 1.0),
            jm.SaturatingTorqueParams(1e9),
        ),
        supply=jm.FixedSupplyParams(np.inf),
        gear=jm.GearParams(1.0, 0.0),
        drag=jm.PolynomialDragParams(0.0, 0.0, 0.0),
        dry_friction=jm.CoulombFrictionParams(0.0),
        current_limit=jm.CurrentLimitParams(np.inf),
        setpoint=jm.SlewLimiterParams(np.inf),
    ),
    jm.RigidLoadParams(1e-4),
)


@pytest.mark.parametrize("integrator", [jm.ExactFlow(), jm.ImplicitFast()], ids=lambda i: type(i).__name__)
def test_neutral_values_and_their_gradients(integrator):
    """Case P33: at the all-zero state with zero command, and under way."""
    bench = jm.Bench(FULL, jm.RigidLoad(), integrator)

    def final(params, volts, qpos, qvel):
        state, _ = jm.rollout(bench, bench.init(params, qpos, qvel), params, volts, 1e-3)
        return state.qpos + state.qvel

    slope = jax.jit(jax.grad(final, argnums=(0, 1, 2, 3)))
    for volts in (0.0, 3.0):
        for leaf in jax.tree.leaves(slope(NEUTRAL, jnp.full(50, volts), jnp.zeros(()), jnp.zeros(()))):
            assert np.all(np.isfinite(leaf))
    plain = jm.Bench(jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.VoltageDrive()), jm.RigidLoad(), integrator)
    own = jm.BenchParams(jm.ActuatorParams(jm.MotorParams(NEUTRAL.actuator.motor.winding)), NEUTRAL.load)
    volts = jnp.full(50, 3.0)
    expected, _ = jm.rollout(plain, plain.init(own), own, volts, 1e-3)
    got, _ = jm.rollout(bench, bench.init(NEUTRAL), NEUTRAL, volts, 1e-3)
    # With a bristle, even of no stiffness, the motion is the implicit one.
    tolerance = 1e-9 if isinstance(integrator, jm.ImplicitFast) else 2e-2
    assert float(got.qvel) == pytest.approx(float(expected.qvel), rel=tolerance)


@pytest.mark.parametrize("speed", [0.0, 120.0, 240.0, 360.0, -120.0, -240.0])
def test_gradients_on_the_corners_of_the_operating_region(speed):
    """Case P33 at the corner, no-load and overspeed points of case P01."""
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic(), limit=jm.TorqueLimit()), jm.TorqueDrive(), supply=jm.FixedSupply()
    )
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(0.4, 0.1, 0.1), limit=jm.TorqueLimitParams(3.0)),
        supply=jm.FixedSupplyParams(24.0),
    )

    def torque(params, command, qvel):
        zero = jnp.zeros(())
        return actuator.step(actuator.init(params), params, command, zero, qvel, jnp.asarray(1e-3))[1].joint_torque

    for command in (3.0, -3.0, 0.0):
        values = jax.grad(torque, argnums=(0, 1, 2))(params, jnp.asarray(command), jnp.asarray(speed))
        assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(values))
