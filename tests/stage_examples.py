"""One example of every concrete stage and slot: what the contract test runs over.

A class without an entry fails the contract test, so whoever adds a stage adds an example with parameters of a motor
that exists, away from the kinks of its law.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

import jaxmotor as jm
from jaxmotor._battery import Battery, BatteryParams, BatteryState
from jaxmotor._bristle_motion import BristleState
from jaxmotor._delay import DelayState
from jaxmotor._gear import LoadSide, MotorSide
from jaxmotor._integral import IntegralState
from jaxmotor._lumped_thermal import LumpedThermalState
from jaxmotor._mjcf_voltage import HeatClipped, HeatClippedParams, IdleIntegralDrive, IdleIntegralDriveParams
from jaxmotor._newton_drive import NewtonDelayState, NewtonPIDState
from jaxmotor._request import DutyRequest, TorqueRequest, VoltageRequest
from jaxmotor._slew import SlewLimiterState
from jaxmotor._supply import Asked, Draw, Terminals
from jaxmotor._winding import Response, WindingState

from .stage_example import Example


def _drag(module, state, params, ctrl, qpos, qvel, dt):
    del ctrl, qpos, dt
    return state, module.torque(params, jnp.full_like(qvel, 7.0), qvel)


def _budget(module, state, params, ctrl, qpos, qvel, dt):
    del qpos, dt
    return state, module.budget(params, qvel, ctrl[0], ctrl[1])


def _share(module, state, params, ctrl, qpos, qvel, dt):
    del qpos, qvel, dt
    return state, module.share(params, ctrl[0], ctrl[1])


def _left(module, state, params, ctrl, qpos, qvel, dt):
    del ctrl, qpos, dt
    return state, (module.left(params, qvel), module.friction(params, qvel))


def _load(module, state, params, ctrl, qpos, qvel, dt):
    del ctrl, qvel, dt
    return state, (module.inertia(params, qpos), module.external_torque(params, qpos), module.damping(params))


def _meshed(module, state, params, ctrl, qpos, qvel, dt):
    """A gear between the two sides in `ctrl`, and its joint torque."""

    def slide(shaft, speed):
        return shaft.flow(speed, dt)

    motor, load = ctrl
    motion = module.move(state, params, motor, load, slide, qpos, qvel, dt)
    return motion.state, (motion, module.joint_torque(params, motion, motor.torque, dt))


def _counted(module, state, params, ctrl, qpos, qvel, dt):
    """A battery without what rounding left of its charge, which has no derivative."""
    state, out = _supplied(module, state, params, ctrl, qpos, qvel, dt)
    return BatteryState(state.charge, jnp.zeros_like(state.remainder)), out


def _torque(module, state, params, ctrl, qpos, qvel, dt):
    del qpos, qvel, dt
    return state, module.torque(params, ctrl[0], ctrl[1])


def _rate(module, state, params, ctrl, qpos, qvel, dt):
    del qpos, qvel, dt
    return state, module.limit(params, ctrl)


def _window(module, state, params, ctrl, qpos, qvel, dt):
    del qpos, qvel, dt
    response, temperature = ctrl
    lower, upper = module.voltage_bounds(params, response, temperature)
    return state, (jnp.tanh(lower / 50), jnp.tanh(upper / 50))


def _move(module, state, params, ctrl, qpos, qvel, dt):
    state, qpos, qvel, out = module.step(
        actuator(), jm.Pendulum(), state, params.actuator, params.load, ctrl, qpos, qvel, dt
    )
    return state, (qpos, qvel, out)


def winding_params():
    return jm.QuasiStaticParams(resistance=1.2, torque_constant=0.045, back_emf_constant=0.05)


def actuator():
    """An actuator with something in most slots."""
    return jm.Actuator(
        jm.Motor(jm.Inductive(), limit=jm.TorqueLimit()),
        jm.VoltageDrive(),
        supply=jm.FixedSupply(),
        drag=jm.PolynomialDrag(),
        dry_friction=jm.CoulombFriction(),
        current_limit=jm.CurrentLimit(),
    )


def actuator_params():
    return jm.ActuatorParams(
        motor=jm.MotorParams(
            jm.InductiveParams(resistance=1.2, torque_constant=0.045, back_emf_constant=0.05, inductance=2e-3),
            limit=jm.TorqueLimitParams(1.5),
        ),
        supply=jm.FixedSupplyParams(24.0),
        gear=jm.GearParams(ratio=-7.0, rotor_inertia=2e-5),
        drag=jm.PolynomialDragParams(1e-4, 1e-6, 1e-8),
        dry_friction=jm.CoulombFrictionParams(0.05),
        current_limit=jm.CurrentLimitParams(20.0),
    )


def actuator_state():
    state = actuator().init(actuator_params())
    return eqx.tree_at(lambda s: s.motor.winding, state, WindingState(jnp.asarray(2.0)))


def pendulum_params():
    return jm.PendulumParams(mass=0.4, length=0.2, inertia=1e-3, arm_mass=0.1, damping=2e-3, offset=0.05)


def _bench_params():
    return jm.BenchParams(actuator_params(), pendulum_params())


def _bench_start(module, params):
    del module
    return actuator().init(params.actuator)


def _asked():
    return Asked(
        VoltageRequest(jnp.asarray(7.0)),
        jnp.asarray(-19.0),
        jnp.asarray(31.0),
        winding_params(),
        Response(jnp.asarray(0.8), jnp.asarray(-0.2)),
    )


def _supplied(module, state, params, ctrl, qpos, qvel, dt):
    """A supply's whole work in a step: terminals from what is asked, then the bill."""
    asked, current = ctrl
    volts = []
    for request in (asked.request, TorqueRequest(current / 100), DutyRequest(current / 20, jnp.ones_like(current))):
        if isinstance(request, DutyRequest) and module.bus_voltage(state, params) is None:
            continue
        each = Asked(request, asked.lower, asked.upper, asked.winding, asked.response)
        volts.append(module.terminals(state, params, each, qvel, dt))
    terminals: Terminals = volts[0]
    state, drawn = module.step(state, params, Draw(terminals, current), qpos, qvel, dt)
    return state, (drawn, [t.voltage for t in volts])


def _demand(command):
    return jm.Demand(command, jnp.asarray(24.0), winding_params())


def examples() -> dict[type, list[Example]]:
    """Fresh examples by class; two calls build equal but distinct objects."""
    lagging = WindingState(jnp.asarray(2.0))
    response = (Response(jnp.asarray(0.8), jnp.asarray(-0.2)), jnp.asarray(95.0))
    bound = jm.VoltageLimitParams(18.0)
    sides = (MotorSide(*map(jnp.asarray, (0.1, 1e-3))), LoadSide(*map(jnp.asarray, (0.01, -0.4, 2e-3, 0.05))))
    turned = jm.BacklashState(jnp.asarray(-4.98), jnp.asarray(-24.0))
    integral = IntegralState(jnp.asarray(0.3))
    lugre = jm.LuGreParams(200.0, 0.5, 0.005, 0.008, 1.0)
    bent = BristleState(jnp.asarray(2e-5))
    warm = jm.TwoNodeThermalState(jnp.asarray(40.0), jnp.asarray(15.0))
    return {
        jm.NoSlew: [Example(jm.NoSlew(), None, 2.0)],
        jm.CommandRange: [Example(jm.CommandRange(), jm.CommandRangeParams(-1.5, 3.0), 2.0)],
        jm.SlewLimiter: [
            Example(jm.SlewLimiter(), jm.SlewLimiterParams(50.0), 2.0, SlewLimiterState(jnp.asarray(1.0)))
        ],
        jm.Delay: [Example(jm.Delay(3), jm.DelayParams(3.1e-3), 2.0, DelayState(jnp.asarray([1.5, 1.1, 0.4])))],
        jm.SetpointChain: [
            Example(
                jm.SetpointChain((jm.CommandRange(), jm.SlewLimiter())),
                (jm.CommandRangeParams(-1.5, 3.0), jm.SlewLimiterParams(50.0)),
                2.0,
                (None, SlewLimiterState(jnp.asarray(1.0))),
            )
        ],
        jm.NewtonPD: [Example(jm.NewtonPD(), jm.NewtonPDParams(2.0, 0.1, 0.02), _demand(jnp.array([1.0, 2.0, 0.05])))],
        jm.NewtonPID: [
            Example(
                jm.NewtonPID(),
                jm.NewtonPIDParams(2.0, 0.1, 4.0, 0.5, 0.02),
                _demand(jnp.array([1.0, 2.0, 0.05])),
                NewtonPIDState(jnp.asarray(0.1)),
            )
        ],
        jm.NewtonDelay: [
            Example(
                jm.NewtonDelay(4),
                jm.NewtonDelayParams(1.4),
                2.0,
                NewtonDelayState(jnp.array([1.5, 1.1, 0.8, 0.2]), jnp.asarray(3.0)),
            )
        ],
        jm.VoltageDrive: [Example(jm.VoltageDrive(), None, _demand(5.0))],
        jm.DutyDrive: [Example(jm.DutyDrive(), None, _demand(0.4))],
        jm.TorqueDrive: [Example(jm.TorqueDrive(), None, _demand(0.1))],
        jm.ServoDrive: [Example(jm.ServoDrive(), jm.ServoDriveParams(gain=2.0, duty_limit=0.9), _demand(1.0))],
        jm.ShortedDrive: [Example(jm.ShortedDrive(), None, _demand(5.0))],
        IdleIntegralDrive: [
            Example(
                IdleIntegralDrive(jm.ErrorIntegral()),
                IdleIntegralDriveParams(jm.IntegralParams(4.0)),
                _demand(5.0),
                integral,
            )
        ],
        jm.PositionPID: [
            Example(
                jm.PositionPID(jm.ErrorIntegral(jm.IntegralBound()), jm.VoltageLimit()),
                jm.PositionPIDParams(5.0, 0.2, jm.IntegralParams(4.0, jm.IntegralBoundParams(2.0)), bound),
                _demand(1.5),
                integral,
            )
        ],
        jm.VelocityPI: [
            Example(
                jm.VelocityPI(voltage_limit=jm.VoltageLimit()),
                jm.VelocityPIParams(0.5, jm.FollowingIntegralParams(2.0, 1.0), bound),
                _demand(6.0),
                integral,
            )
        ],
        jm.TorqueSpacePID: [
            Example(
                jm.TorqueSpacePID(("pos", "vel", "ff", "voltage"), jm.ErrorIntegral(), jm.VoltageLimit()),
                jm.TorqueSpacePIDParams(0.5, 0.02, jm.IntegralParams(0.3), bound),
                _demand(jnp.asarray([1.5, 2.0, 0.01, 0.5])),
                integral,
            )
        ],
        jm.NoIntegral: [Example(jm.NoIntegral(), None, 0.5)],
        jm.ErrorIntegral: [
            Example(
                jm.ErrorIntegral(jm.IntegralBound()),
                jm.IntegralParams(4.0, jm.IntegralBoundParams(2.0)),
                0.5,
                integral,
            )
        ],
        jm.TargetIntegral: [Example(jm.TargetIntegral(), jm.IntegralParams(4.0), 0.5, integral)],
        jm.FollowingIntegral: [Example(jm.FollowingIntegral(), jm.FollowingIntegralParams(4.0, 1.0), 0.5, integral)],
        Battery: [
            Example(
                Battery(),
                BatteryParams(jnp.asarray([20.0, 24.0, 25.0]), jnp.asarray([0.0, 0.3, 1.0]), 0.05, 2.0, 0.8),
                (_asked(), 3.0),
                call=_counted,
                steady=True,
            )
        ],
        jm.IdealSupply: [Example(jm.IdealSupply(), None, (_asked(), 3.0), call=_supplied, steady=True)],
        jm.FixedSupply: [
            Example(jm.FixedSupply(), jm.FixedSupplyParams(24.0), (_asked(), 3.0), call=_supplied, steady=True)
        ],
        jm.QuasiStatic: [Example(jm.QuasiStatic(), winding_params(), 6.0)],
        jm.Inductive: [
            Example(jm.Inductive(), jm.InductiveParams(1.2, 0.045, 0.05, 2e-3), 6.0, state=lagging),
            Example(
                jm.Inductive(rate=jm.CurrentRateLimit()),
                jm.InductiveParams(1.2, 0.045, 0.05, 2e-3, rate=jm.CurrentRateLimitParams(500.0)),
                6.0,
                state=lagging,
            ),
        ],
        jm.FixedTimeConstant: [
            Example(jm.FixedTimeConstant(), jm.FixedTimeConstantParams(1.2, 0.045, 0.05, 1.5e-3), 6.0, state=lagging)
        ],
        HeatClipped: [Example(HeatClipped(), HeatClippedParams(1.2, 0.045, 0.05, 5.0), 6.0)],
        jm.UnlimitedCurrentRate: [Example(jm.UnlimitedCurrentRate(), None, 900.0, call=_rate)],
        jm.CurrentRateLimit: [Example(jm.CurrentRateLimit(), jm.CurrentRateLimitParams(500.0), 900.0, call=_rate)],
        jm.Isothermal: [Example(jm.Isothermal(), None, 10.0)],
        jm.LumpedThermal: [
            Example(
                jm.LumpedThermal(),
                jm.LumpedThermalParams(4.0, 50.0, 0.0039, 20.0),
                10.0,
                LumpedThermalState(jnp.asarray(30.0)),
            )
        ],
        jm.TwoNodeThermal: [
            Example(
                jm.TwoNodeThermal(),
                jm.TwoNodeThermalParams(1.5, 3.0, 8.0, 60.0, 1e-3, 0.0039, -0.001, 20.0, 30.0),
                10.0,
                warm,
            )
        ],
        jm.Unlimited: [Example(jm.Unlimited(), None, 0.9)],
        jm.TorqueLimit: [
            Example(jm.TorqueLimit(), jm.TorqueLimitParams(0.6), 0.9),
            Example(jm.TorqueLimit(), jm.TorqueLimitParams(0.6), 0.3),
        ],
        jm.SmoothTorqueLimit: [Example(jm.SmoothTorqueLimit(), jm.SmoothTorqueLimitParams(0.6, 0.1), 0.58)],
        jm.NoCurrentLimit: [Example(jm.NoCurrentLimit(), None, response, call=_window, steady=True)],
        jm.CurrentLimit: [Example(jm.CurrentLimit(), jm.CurrentLimitParams(20.0), response, call=_window, steady=True)],
        jm.DeratedCurrentLimit: [
            Example(
                jm.DeratedCurrentLimit(),
                jm.DeratedCurrentLimitParams(20.0, 5.0, 80.0, 120.0),
                response,
                call=_window,
                steady=True,
            )
        ],
        jm.Cogging: [
            Example(jm.Cogging(), jm.CoggingParams(0.01, 14.0, 0.3)),
            Example(jm.Cogging(), jm.CoggingParams(jnp.asarray([0.01, 0.02]), jnp.asarray([7.0, 14.0]), jnp.zeros(2))),
        ],
        jm.Dahl: [Example(jm.Dahl(), jm.DahlParams(200.0, 0.005), state=bent)],
        jm.LuGre: [
            Example(jm.LuGre(), lugre, state=bent),
            Example(
                jm.LuGre(jm.PowerDecay(), jm.PowerDecay()),
                eqx.tree_at(
                    lambda p: (p.stribeck_decay, p.damping_decay),
                    lugre,
                    (jm.PowerDecayParams(1.3), jm.PowerDecayParams(2.0)),
                    is_leaf=lambda x: x is None,
                ),
                state=bent,
            ),
        ],
        jm.NoCogging: [Example(jm.NoCogging(), None)],
        jm.Frictionless: [Example(jm.Frictionless(), None)],
        jm.NoDrag: [Example(jm.NoDrag(), None, call=_drag)],
        jm.ViscousDrag: [Example(jm.ViscousDrag(), jm.ViscousDragParams(1e-4), call=_drag)],
        jm.PolynomialDrag: [Example(jm.PolynomialDrag(), jm.PolynomialDragParams(1e-4, 1e-5, 1e-6), call=_drag)],
        jm.MotorSideDrag: [Example(jm.MotorSideDrag(), jm.PolynomialDragParams(1e-4, 1e-5, 1e-6), call=_drag)],
        jm.NoDryFriction: [Example(jm.NoDryFriction(), None, (0.3, -0.1), call=_budget)],
        jm.CoulombFriction: [Example(jm.CoulombFriction(), jm.CoulombFrictionParams(0.05), (0.3, -0.1), call=_budget)],
        jm.LoadDependentFriction: [
            Example(
                jm.LoadDependentFriction(
                    jm.DirectionalLoadFriction(),
                    jm.Stribeck(),
                    jm.SymmetricLoadFriction(),
                    jm.QuadraticLoadFriction(),
                ),
                jm.LoadDependentFrictionParams(
                    0.02,
                    jm.DirectionalLoadFrictionParams(0.2, 0.1),
                    jm.StribeckParams(0.03, 0.6, 1.7),
                    jm.SymmetricLoadFrictionParams(0.05),
                    jm.QuadraticLoadFrictionParams(0.004, 0.006),
                ),
                (0.3, -0.1),
                call=_budget,
            )
        ],
        jm.NoLoadFriction: [Example(jm.NoLoadFriction(), None, (0.3, -0.1), call=_share)],
        jm.SymmetricLoadFriction: [
            Example(jm.SymmetricLoadFriction(), jm.SymmetricLoadFrictionParams(0.1), (0.3, -0.1), call=_share)
        ],
        jm.DirectionalLoadFriction: [
            Example(jm.DirectionalLoadFriction(), jm.DirectionalLoadFrictionParams(0.2, 0.1), (0.3, -0.1), call=_share)
        ],
        jm.QuadraticLoadFriction: [
            Example(jm.QuadraticLoadFriction(), jm.QuadraticLoadFrictionParams(0.004, 0.006), (0.3, -0.1), call=_share)
        ],
        jm.NoStribeck: [Example(jm.NoStribeck(), None, None, call=_left)],
        jm.Stribeck: [Example(jm.Stribeck(), jm.StribeckParams(0.03, 0.6, 1.7), None, call=_left)],
        jm.Gear: [Example(jm.Gear(), jm.GearParams(-7.0, 2e-5), sides, call=_meshed, steady=True)],
        jm.LossyGear: [
            Example(
                jm.LossyGear(), jm.LossyGearParams(-7.0, 2e-5, 0.8, 0.6, 0.01, 0.02), sides, call=_meshed, steady=True
            ),
            Example(
                jm.LossyGear(), jm.LossyGearParams(7.0, 2e-5, 0.8, -0.2), sides, qvel=-3.0, call=_meshed, steady=True
            ),
        ],
        jm.Backlash: [
            Example(
                jm.Backlash(), jm.BacklashParams(-7.0, 2e-5, 0.01, 300.0, 0.1), sides, turned, call=_meshed, steady=True
            )
        ],
        jm.ProportionalTorque: [Example(jm.ProportionalTorque(), None, (0.05, 3.0), call=_torque)],
        jm.SaturatingTorque: [
            Example(jm.SaturatingTorque(), jm.SaturatingTorqueParams(8.0), (0.05, 3.0), call=_torque)
        ],
        jm.RigidLoad: [Example(jm.RigidLoad(), jm.RigidLoadParams(0.01, 1e-3), call=_load)],
        jm.Pendulum: [Example(jm.Pendulum(), pendulum_params(), call=_load)],
        jm.UnbalancedLoad: [Example(jm.UnbalancedLoad(), jm.UnbalancedLoadParams(0.02, 0.7, 2e-3, 0.05), call=_load)],
        jm.Prescribed: [
            Example(jm.Prescribed(), _bench_params(), 5.0, actuator_state(), call=_move, initial=_bench_start)
        ],
        jm.ExactFlow: [
            Example(jm.ExactFlow(), _bench_params(), 5.0, actuator_state(), call=_move, initial=_bench_start)
        ],
        jm.Euler: [Example(jm.Euler(), _bench_params(), 5.0, actuator_state(), call=_move, initial=_bench_start)],
        jm.ImplicitFast: [
            Example(jm.ImplicitFast(), _bench_params(), 5.0, actuator_state(), call=_move, initial=_bench_start)
        ],
        jm.Motor: [
            Example(
                jm.Motor(jm.Inductive(), limit=jm.TorqueLimit()), actuator_params().motor, 6.0, actuator_state().motor
            )
        ],
        jm.Actuator: [
            Example(actuator(), actuator_params(), 5.0, actuator_state()),
            Example(
                actuator(),
                actuator_params(),
                jm.Input(5.0, jnp.asarray(22.0), jnp.asarray(True), jnp.asarray(30.0)),
                actuator_state(),
            ),
        ],
    }


def every_example() -> list[Any]:
    """(name, class, index) of every example, for `pytest.mark.parametrize`."""
    return [(cls, index) for cls, given in examples().items() for index in range(len(given))]
