"""Gears between the motor shaft and the joint."""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx

from ._flow import AbstractShaft, Motion, Shaft
from ._parameter import Parameter, nonnegative, nonzero
from ._stage import Scalar


class MotorSide(eqx.Module):
    """What the motor does to its shaft in a step, at the motor: `torque` [N m] at zero speed, `damping` [N m s/rad],
    so A - D w."""

    torque: Scalar
    damping: Scalar


class LoadSide(eqx.Module):
    """What the load does to the joint in a step, at the joint: `inertia` [kg m^2], `torque` [N m] at zero speed,
    `damping` [N m s/rad] and dry-friction `budget` [N m]."""

    inertia: Scalar
    torque: Scalar
    damping: Scalar
    budget: Scalar


class GearMotion(eqx.Module):
    """How a gear and what it connects moved in a step.

    Gear `state` at its end; joint `displacement` [rad] and end speed `qvel` [rad/s]; the motor shaft's mean speed
    `rotor_mean_qvel` and `rotor_gain` of speed [rad/s]; `friction_torque` [N m] of a bristle on that shaft,
    mean; `mesh_torque` [N m] at the joint where the gear itself determines it, else `None`.
    """

    state: Any
    displacement: Scalar
    qvel: Scalar
    rotor_mean_qvel: Scalar
    rotor_gain: Scalar
    friction_torque: Scalar
    mesh_torque: Any


Slide = Callable[[AbstractShaft, Scalar], Motion]
"""How one shaft moves through the step from its speed [rad/s]: exactly, with a bristle, or by an implicit step."""


class AbstractGear(eqx.Module):
    """A gear; params hold `ratio` and `rotor_inertia`. It moves rotor and load through a step, and so decides what its
    own losses and play do to them; `None` state for a gear that is stiff."""

    @abc.abstractmethod
    def init(self, params: Any) -> Any:
        """The state at rest with the joint at angle zero."""

    @abc.abstractmethod
    def placed(self, state: Any, params: Any, qpos: Scalar, qvel: Scalar) -> Any:
        """The state with the joint at `qpos` [rad], `qvel` [rad/s] and nothing transmitted."""

    @abc.abstractmethod
    def ratio(self, params: Any) -> Scalar:
        """Motor angle per joint angle [1], of any sign: theta = N q, w = N u, joint torque = N motor torque."""

    @abc.abstractmethod
    def reflected_inertia(self, params: Any) -> Scalar:
        """Rotor inertia that a host engine adds to its joint [kg m^2]: N^2 J for a stiff gear."""

    @abc.abstractmethod
    def rotor(self, state: Any, params: Any, qpos: Scalar, qvel: Scalar) -> tuple[Scalar, Scalar]:
        """Angle [rad] and speed [rad/s] of the motor shaft with the joint at `qpos`, `qvel`."""

    @abc.abstractmethod
    def move(
        self,
        state: Any,
        params: Any,
        motor: MotorSide,
        load: LoadSide,
        slide: Slide,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> GearMotion:
        """Move motor and load together from the joint at `qpos` [rad], `qvel` [rad/s] over `dt` [s]."""

    @abc.abstractmethod
    def follow(
        self, state: Any, params: Any, torque: Scalar, slide: Slide, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> GearMotion:
        """The motion with the joint's speed given and held, `torque` [N m] on the motor shaft."""

    @abc.abstractmethod
    def joint_torque(self, params: Any, motion: GearMotion, torque: Scalar, dt: Scalar) -> Scalar:
        """Torque on the joint [N m] in a step with this motion and `torque` [N m] on the motor shaft, the rotor's own
        inertia left aside."""


class AbstractStiffGear(AbstractGear):
    """A gear in which motor and joint turn as one: no state, one shaft."""

    @abc.abstractmethod
    def shaft(self, params: Any, motor: MotorSide, load: LoadSide, speed: Scalar) -> AbstractShaft:
        """Motor and load as one shaft, all on the motor side, with the motor at `speed` [rad/s]."""

    def init(self, params: Any) -> None:
        del params

    def placed(self, state: None, params: Any, qpos: Scalar, qvel: Scalar) -> None:
        del state, params, qpos, qvel

    def ratio(self, params: Any) -> Scalar:
        return params.ratio

    def reflected_inertia(self, params: Any) -> Scalar:
        return params.rotor_inertia * params.ratio**2

    def rotor(self, state: None, params: Any, qpos: Scalar, qvel: Scalar) -> tuple[Scalar, Scalar]:
        del state
        return params.ratio * qpos, params.ratio * qvel

    def move(
        self,
        state: None,
        params: Any,
        motor: MotorSide,
        load: LoadSide,
        slide: Slide,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> GearMotion:
        del state, qpos
        speed, turns = params.ratio * qvel, 1 / params.ratio
        motion = slide(self.shaft(params, motor, load, speed), speed)
        return GearMotion(
            None,
            # Under an implicit step the new speed itself, which XLA then keeps instead of working it out twice.
            dt * (motion.mean_qvel * turns),
            motion.qvel * turns,
            motion.mean_qvel,
            motion.qvel - speed,
            motion.friction_torque,
            None,
        )

    def follow(
        self, state: None, params: Any, torque: Scalar, slide: Slide, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> GearMotion:
        del state, torque, slide, qpos
        none = 0 * qvel
        return GearMotion(None, dt * qvel, qvel, params.ratio * qvel, none, none, None)


class GearParams(eqx.Module):
    """`ratio` N [1]; `rotor_inertia` J [kg m^2] on the motor side."""

    ratio: Parameter = nonzero("1", default=1.0)
    rotor_inertia: Parameter = nonnegative("kg m^2", default=0.0)


class Gear(AbstractStiffGear):
    """A stiff gear without losses (MuJoCo DC motor note, "Gearing")."""

    def shaft(self, params: GearParams, motor: MotorSide, load: LoadSide, speed: Scalar) -> Shaft:
        del speed
        # One division and products: divisions are what a step of a small motor costs.
        turns = 1 / params.ratio
        return Shaft(
            inertia=params.rotor_inertia + load.inertia * (turns * turns),
            damping=motor.damping + load.damping * (turns * turns),
            torque=motor.torque + load.torque * turns,
            budget=load.budget * abs(turns),
        )

    def joint_torque(self, params: GearParams, motion: GearMotion, torque: Scalar, dt: Scalar) -> Scalar:
        del motion, dt
        return params.ratio * torque
