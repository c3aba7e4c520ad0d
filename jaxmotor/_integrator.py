"""How a bench moves its joint through one step."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ._actuator import Actuator, ActuatorOutput, ActuatorParams, ActuatorState
from ._flow import Shaft, sign
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


def _inertia(actuator, load, params, load_params, qpos):
    return load.inertia(load_params, qpos) + actuator.gear.reflected_inertia(params.gear)


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
        state, request = actuator.command(state, params, row, qpos, qvel, dt)
        ratio = actuator.gear.ratio(params.gear)
        midway = qpos + qvel * dt / 2

        def torque(speed):
            _, driven = actuator.drive(state, params, row, request, midway, speed, dt)
            motor = driven.motor.mean_electrical_torque + driven.motor.cogging_torque
            losses = actuator.drag.torque(params.drag, ratio, speed) - load.damping(load_params) * speed
            return ratio * motor + losses, (ratio * motor, driven)

        total, slope, (motor_torque, start) = jax.jvp(torque, (qvel,), (jnp.ones_like(qvel),), has_aux=True)
        external = load.external_torque(load_params, midway)
        budget = actuator.dry_friction.budget(params.dry_friction, qvel, motor_torque, external)
        # On the motor side, where the bristles are; the gear's ratio may have either sign.
        shaft = Shaft(
            inertia=_inertia(actuator, load, params, load_params, midway) / ratio**2,
            damping=-slope / ratio**2,
            torque=(total - slope * qvel + external) / ratio,
            budget=budget / jnp.abs(ratio),
        )
        motion = actuator.motor.bristle.move(state.motor.bristle, params.motor.bristle, shaft, ratio * qvel, dt)
        moved = motion.displacement / ratio
        state, mean = actuator.drive(state, params, row, request, midway, moved / dt, dt)
        shaft_torque = mean.motor.mean_electrical_torque + mean.motor.cogging_torque + motion.friction_torque
        out = actuator.output(params, start, shaft_torque, qvel)
        return state, qpos + moved, motion.qvel / ratio, out


def _implicit_step(actuator, load, params, load_params, out, slope, qpos, qvel, dt):
    """v+ = v + h F / (M - h D) with the drag's and `slope`'s derivatives in D; dry friction stops, then holds.

    q+ = q + h v+ (MuJoCo's Euler and implicitfast rules for one hinge). MuJoCo solves dry friction as a constraint;
    here the budget is spent as an impulse that cannot reverse the motion, as in BAM (bam/simulate.py).
    """
    ratio = actuator.gear.ratio(params.gear)

    def losses(speed):
        return actuator.drag.torque(params.drag, ratio, speed) - load.damping(load_params) * speed

    loss, loss_slope = jax.jvp(losses, (qvel,), (jnp.ones_like(qvel),))
    external = load.external_torque(load_params, qpos)
    force = out.joint_torque + loss + external
    mass = _inertia(actuator, load, params, load_params, qpos) - dt * (loss_slope + slope)
    budget = actuator.dry_friction.budget(params.dry_friction, qvel, out.joint_torque, external)
    free = qvel + dt * force / mass
    left = jnp.maximum(jnp.abs(free) - dt * budget / mass, jnp.zeros_like(free))
    speed = sign(free) * left
    return qpos + dt * speed, speed


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
        state, out = actuator.step(state, params, ctrl, qpos, qvel, dt)
        qpos, qvel = _implicit_step(actuator, load, params, load_params, out, jnp.zeros_like(qvel), qpos, qvel, dt)
        return state, qpos, qvel, out


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
        ratio = actuator.gear.ratio(params.gear)

        def electrical(speed):
            ordered, request = actuator.command(state, params, row, qpos, speed, dt)
            _, driven = actuator.drive(ordered, params, row, request, qpos, speed, dt)
            return ratio * driven.motor.electrical_torque

        _, slope = jax.jvp(electrical, (qvel,), (jnp.ones_like(qvel),))
        slope = slope - ratio**2 * actuator.motor.bristle.damping(params.motor.bristle, qvel)
        after, out = actuator.step(state, params, ctrl, qpos, qvel, dt)
        qpos, qvel = _implicit_step(actuator, load, params, load_params, out, slope, qpos, qvel, dt)
        return after, qpos, qvel, out


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
