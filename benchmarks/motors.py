"""The motors that are measured: without state, with a current, and with everything that MuJoCo's dcmotor has."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxmotor as jm

DT = 1e-3
LOAD = 0.01


def _bench(actuator, params):
    return jm.Bench(actuator, jm.RigidLoad(), jm.Euler()), jm.BenchParams(params, jm.RigidLoadParams(LOAD))


def plain():
    """One motor on an inertia: voltage, resistance, viscous drag, Coulomb friction, MuJoCo's Euler rule."""
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()), jm.VoltageDrive(), drag=jm.ViscousDrag(), dry_friction=jm.CoulombFriction()
    )
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(0.6, 0.04, 0.04)),
        gear=jm.GearParams(10.0, 1e-5),
        drag=jm.ViscousDragParams(1e-5),
        dry_friction=jm.CoulombFrictionParams(0.02),
    )
    return _bench(actuator, params)


def stateless():
    """A PD loop on a bus, resistance and back-EMF."""
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.PositionPID(), supply=jm.FixedSupply())
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(0.6, 0.04, 0.04)),
        jm.PositionPIDParams(6.0, 0.02),
        supply=jm.FixedSupplyParams(24.0),
        gear=jm.GearParams(10.0, 1e-5),
    )
    return _bench(actuator, params)


def electrical():
    """Voltage, inductance, viscous drag and Coulomb friction."""
    actuator = jm.Actuator(
        jm.Motor(jm.Inductive()), jm.VoltageDrive(), drag=jm.ViscousDrag(), dry_friction=jm.CoulombFriction()
    )
    params = jm.ActuatorParams(
        jm.MotorParams(jm.InductiveParams(0.6, 0.04, 0.04, 2.4e-4)),
        gear=jm.GearParams(10.0, 1e-5),
        drag=jm.ViscousDragParams(1e-5),
        dry_friction=jm.CoulombFrictionParams(0.02),
    )
    return _bench(actuator, params)


def full(bus=24.0, coulomb=0.02):
    """Every feature of MuJoCo's dcmotor, on a bus and with dry friction."""
    actuator = jm.Actuator(
        jm.Motor(
            jm.FixedTimeConstant(rate=jm.CurrentRateLimit()),
            jm.LumpedThermal(),
            jm.TorqueLimit(),
            jm.Cogging(),
            jm.LuGre(),
        ),
        jm.PositionPID(jm.ErrorIntegral(jm.IntegralBound()), jm.VoltageLimit()),
        supply=jm.FixedSupply(),
        drag=jm.PolynomialDrag(),
        dry_friction=jm.CoulombFriction(),
        setpoint=jm.SlewLimiter(),
    )
    params = jm.ActuatorParams(
        jm.MotorParams(
            jm.FixedTimeConstantParams(0.6, 0.04, 0.04, 4e-4, rate=jm.CurrentRateLimitParams(2e4)),
            jm.LumpedThermalParams(4.0, 40.0, 0.0039, 20.0),
            jm.TorqueLimitParams(1.2),
            jm.CoggingParams(0.003, 14.0, 0.2),
            jm.LuGreParams(30.0, 0.05, 0.004, 0.006, 1.0),
        ),
        jm.PositionPIDParams(
            6.0, 0.02, jm.IntegralParams(3.0, jm.IntegralBoundParams(1.0)), jm.VoltageLimitParams(20.0)
        ),
        supply=jm.FixedSupplyParams(bus),
        gear=jm.GearParams(10.0, 1e-5),
        drag=jm.PolynomialDragParams(1e-5, 1e-7, 1e-9),
        dry_friction=jm.CoulombFrictionParams(coulomb),
        setpoint=jm.SlewLimiterParams(50.0),
    )
    return _bench(actuator, params)


def many(params, motors, dtype):
    """One set of params per motor, each within a tenth of the given ones."""
    spread = np.linspace(0.9, 1.1, motors)
    return jax.tree.map(lambda x: jnp.asarray(np.asarray(x, float) * spread, dtype), params)


def commands(rows, motors, dtype, size=2.0):
    """Square waves, (motors, rows)."""
    wave = size * np.sign(np.sin(0.01 * np.arange(rows)))
    return jnp.asarray(wave * np.linspace(0.9, 1.1, motors)[:, None], dtype)


def library(bench):
    """What all sides return: last angle and speed, and the traces of angle and current; one motor."""

    def run(params, ctrl):
        state, out = jm.rollout(bench, bench.init(params), params, ctrl, DT)
        return state.qpos, state.qvel, out.qpos, out.actuator.current

    return run
