"""How a bench moves its joint through one step."""

import abc
import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ._actuator import Actuator, ActuatorOutput, ActuatorParams, ActuatorState
from ._gear import LoadSide, MotorSide
from ._kept import kept
from ._load import AbstractLoad
from ._stage import Scalar

Stepped = tuple[ActuatorState, Scalar, Scalar, ActuatorOutput]


class AbstractIntegrator(eqx.Module):
    """Moves an actuator and its load through one step; structure only."""

    @abc.abstractmethod
    def step(
        self,
        actuator: Actuator,
        load: AbstractLoad,
        state: ActuatorState,
        params: ActuatorParams,
        load_params: Any,
        ctrl: Any,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> Stepped:
        """State, joint angle [rad] and speed [rad/s] after the step, and the actuator's output during it."""


class ExactFlow(AbstractIntegrator):
    """The default: second order for rigid loads, exact for their linear parts, stops located inside the step.

    The drive samples the joint at the start of the step. Torque is taken as a line in joint speed, A - D w, tangent at
    the present speed and at the predicted mid-step angle; under it, dry friction included, the motion is exact
    (`_flow`). Electrical and thermal states then see the mean speed of that motion, and the torque carried by the mean
    current, so momentum balances. With bristle friction the motion solves bristle and shaft together and is first
    order, but rests at rest for any stiffness.
    """

    def step(
        self,
        actuator: Actuator,
        load: AbstractLoad,
        state: ActuatorState,
        params: ActuatorParams,
        load_params: Any,
        ctrl: Any,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> Stepped:
        params, row = actuator.at_row(params, ctrl)
        theta, omega = actuator.gear.rotor(state.gear, params.gear, qpos, qvel)
        state, request = actuator.command(state, params, row, theta, omega, dt)
        ratio, bristle = actuator.gear.ratio(params.gear), actuator.motor.bristle
        theta, midway = theta + omega * dt / 2, qpos + qvel * dt / 2

        def torque(speed):
            _, driven = actuator.drive(state, params, row, request, theta, speed, dt)
            motor = driven.motor.mean_electrical_torque + driven.motor.cogging_torque
            return motor + _drag_at_rotor(actuator, params, speed), (motor, driven)

        total, slope, (motor_torque, start) = jax.jvp(torque, (omega,), (jnp.ones_like(omega),), has_aux=True)
        motor = MotorSide(torque=total - slope * omega, damping=-slope)
        side = _load_side(actuator, load, params, load_params, ratio * motor_torque, midway, qvel)

        def slide(shaft, speed):
            return bristle.move(state.motor.bristle, params.motor.bristle, shaft, speed, dt)

        motion = actuator.gear.move(state.gear, params.gear, motor, side, slide, qpos, qvel, dt)
        state, mean = actuator.drive(state, params, row, request, theta, motion.rotor_mean_qvel, dt)
        shaft_torque = mean.motor.mean_electrical_torque + mean.motor.cogging_torque + motion.friction_torque
        out = actuator.output(params, start, motion, shaft_torque, qvel, dt)
        state = dataclasses.replace(state, gear=motion.state)
        return state, qpos + motion.displacement, motion.qvel, out


def _drag_at_rotor(actuator, params, speed):
    ratio = actuator.gear.ratio(params.gear)
    turns = 1 / ratio
    return actuator.drag.torque(params.drag, ratio, speed * turns) * turns


def _load_side(actuator, load, params, load_params, motor_torque, qpos, qvel):
    external = load.external_torque(load_params, qpos)
    return LoadSide(
        inertia=load.inertia(load_params, qpos),
        torque=external,
        damping=load.damping(load_params),
        budget=actuator.dry_friction.budget(params.dry_friction, qvel, motor_torque, external),
    )


def _implicit_step(actuator, load, before, after, params, load_params, out, slope, qpos, qvel, dt):
    """v+ = v + h F / (M - h D) with the drag's and the motor's `slope` (at the motor) in D; dry friction stops, then
    holds.

    q+ = q + h v+ (MuJoCo's Euler and implicitfast rules for one hinge). MuJoCo solves dry friction as a constraint;
    here the budget is spent as an impulse that cannot reverse the motion, as in BAM (bam/simulate.py).
    """
    ratio = actuator.gear.ratio(params.gear)
    _, omega = actuator.gear.rotor(before.gear, params.gear, qpos, qvel)

    def drag(speed):
        return _drag_at_rotor(actuator, params, speed)

    loss, loss_slope = jax.jvp(drag, (omega,), (jnp.ones_like(omega),))
    slope = slope + loss_slope
    motor = MotorSide(torque=kept(out.motor_torque + (loss - slope * omega), ratio), damping=-slope)
    side = _load_side(actuator, load, params, load_params, ratio * out.motor_torque, qpos, qvel)

    def slide(shaft, speed):
        return shaft.implicit(speed, dt)

    motion = actuator.gear.move(before.gear, params.gear, motor, side, slide, qpos, qvel, dt)
    torque = actuator.gear.joint_torque(params.gear, motion, out.motor_torque, dt)
    after = dataclasses.replace(after, gear=motion.state)
    return after, qpos + motion.displacement, motion.qvel, dataclasses.replace(out, joint_torque=torque)


class Euler(AbstractIntegrator):
    """MuJoCo's semi-implicit Euler: joint damping and drag implicit, everything else explicit; first order."""

    def step(
        self,
        actuator: Actuator,
        load: AbstractLoad,
        state: ActuatorState,
        params: ActuatorParams,
        load_params: Any,
        ctrl: Any,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> Stepped:
        params, _ = actuator.at_row(params, ctrl)
        after, out = actuator.step(state, params, ctrl, qpos, qvel, dt)
        none = jnp.zeros_like(qvel)
        return _implicit_step(actuator, load, state, after, params, load_params, out, none, qpos, qvel, dt)


class ImplicitFast(AbstractIntegrator):
    """MuJoCo's implicitfast: as `Euler`, with the motor's own speed derivative implicit too; first order.

    That derivative is the electrical torque's at the present speed (zero where a limit binds) less the bristle
    damping; cogging, bristle stiffness and the speed dependence of the bristle's level are left out, as in MuJoCo.
    """

    def step(
        self,
        actuator: Actuator,
        load: AbstractLoad,
        state: ActuatorState,
        params: ActuatorParams,
        load_params: Any,
        ctrl: Any,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> Stepped:
        params, row = actuator.at_row(params, ctrl)
        theta, omega = actuator.gear.rotor(state.gear, params.gear, qpos, qvel)

        def electrical(speed):
            # The drive's own terms in speed belong to the motor's derivative, as in MuJoCo.
            ordered, request = actuator.command(state, params, row, theta, speed, dt)
            _, driven = actuator.drive(ordered, params, row, request, theta, speed, dt)
            return driven.motor.electrical_torque

        _, slope = jax.jvp(electrical, (omega,), (jnp.ones_like(omega),))
        slope = slope - actuator.motor.bristle.damping(params.motor.bristle, omega)
        after, out = actuator.step(state, params, ctrl, qpos, qvel, dt)
        return _implicit_step(actuator, load, state, after, params, load_params, out, slope, qpos, qvel, dt)


class Prescribed(AbstractIntegrator):
    """The joint keeps its speed whatever the torque: a dynamometer, a locked shaft at speed zero, or a replay whose
    motion is set anew in every row. The load is not looked at."""

    def step(
        self,
        actuator: Actuator,
        load: AbstractLoad,
        state: ActuatorState,
        params: ActuatorParams,
        load_params: Any,
        ctrl: Any,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> Stepped:
        del load, load_params
        state, out = actuator.step(state, params, ctrl, qpos, qvel, dt)
        return state, qpos + qvel * dt, qvel, out
