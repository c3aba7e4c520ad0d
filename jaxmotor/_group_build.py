"""From descriptions to a group and its params."""

import warnings
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ._actuator import Actuator, ActuatorParams
from ._actuator_bank import ActuatorBank
from ._controller import TorqueDrive
from ._description import ActuatorDescription, JointDescription, RobotDescription
from ._enforcement import Enforced, Monitored
from ._gear import GearParams
from ._group import ActuatorGroup, GroupParams
from ._limits import TorqueLimit, TorqueLimitParams
from ._motor import Motor, MotorParams
from ._supply import FixedSupply, FixedSupplyParams
from ._transmission import Transmission
from ._winding import QuasiStatic, QuasiStaticParams


def torque_actuator() -> Actuator:
    """A current-controlled motor on a stiff bus, with a peak torque: its limits are the operating region."""
    return Actuator(Motor(QuasiStatic(), limit=TorqueLimit()), TorqueDrive(), FixedSupply())


def group_of(
    joints: Sequence[JointDescription], actuators: Sequence[ActuatorDescription], monitor: bool = False
) -> tuple[ActuatorGroup, GroupParams]:
    """A group of torque-driven actuators on these joints, and its params.

    **Raises:** `ValueError` for a joint that is unknown, cannot turn or is driven twice, and for unclear names.
    """
    return build_group(RobotDescription(tuple(joints), tuple(actuators), monitor=monitor))


def build_group(robot: RobotDescription) -> tuple[ActuatorGroup, GroupParams]:
    """The actuators of a robot as a group; its joints are the movable ones, in the order of the file."""
    robot.check()
    joints = robot.movable_joints
    column = {joint.name: at for at, joint in enumerate(joints)}
    actuators = robot.actuators
    coupled = [(at, column[coupling.joint]) for at, a in enumerate(actuators) for coupling in a.couplings]
    group = ActuatorGroup(
        names=tuple(a.label for a in actuators),
        joint_names=tuple(column),
        joint_kinds=tuple(joint.kind for joint in joints),
        models=tuple(a.model for a in actuators),
        wiring=Transmission(len(joints), tuple(column[a.joint] for a in actuators), tuple(coupled)),
        bank=ActuatorBank((torque_actuator(),), (tuple(range(len(actuators))),)),
        enforcement=Monitored() if robot.monitor else Enforced(),
    )
    motors = [a.motor for a in actuators]
    inertia = _rotor_inertia(robot, group.wiring)
    params = GroupParams(
        actuators=(
            ActuatorParams(
                MotorParams(
                    QuasiStaticParams(
                        _floats(m.resistance for m in motors),
                        _floats(m.torque_constant for m in motors),
                        _floats(m.back_emf_constant for m in motors),
                    ),
                    limit=TorqueLimitParams(_floats(m.peak_torque for m in motors)),
                ),
                supply=FixedSupplyParams(_floats(m.bus_voltage for m in motors)),
                gear=GearParams(_floats(a.gear_ratio for a in actuators), _floats(inertia)),
            ),
        ),
        coupling_ratio=_floats(coupling.ratio for a in actuators for coupling in a.couplings),
        output_damping=_floats(a.output_damping for a in actuators),
        output_friction=_floats(a.output_friction for a in actuators),
        joint_damping=_floats(joint.damping for joint in joints),
        joint_friction=_floats(joint.friction for joint in joints),
    )
    return group, params


def _floats(numbers) -> jax.Array:
    return jnp.asarray(np.array(list(numbers), float), dtype=jnp.result_type(float))


def _rotor_inertia(robot: RobotDescription, wiring: Transmission) -> list[float]:
    """Rotor inertias on the motor side [kg·m²], from the motors or from what the joints say.

    A URDF gives them at the joints, reflected: the diagonal of T'JT. The actuators' own joints are one equation each.
    """
    actuators = robot.actuators
    squares = np.zeros((len(actuators), wiring.joints))
    for at, actuator in enumerate(actuators):
        squares[at, wiring.driven[at]] = actuator.gear_ratio**2
    ratios = [coupling.ratio for actuator in actuators for coupling in actuator.couplings]
    for (at, joint), ratio in zip(wiring.coupled, ratios, strict=True):
        squares[at, joint] = ratio**2
    equations = squares[:, list(wiring.driven)].T
    at_joints = np.array([robot.movable_joints[joint].rotor_inertia for joint in wiring.driven])
    known = [actuator.motor.rotor_inertia for actuator in actuators]
    solved = np.linalg.lstsq(equations, at_joints, rcond=None)[0] if len(actuators) else at_joints
    found = [value if own is None else own for own, value in zip(known, solved, strict=True)]
    for actuator, value in zip(actuators, found, strict=True):
        if value < 0:
            warnings.warn(
                f"{actuator.place}the rotor_inertia of joint {actuator.joint!r} is less than what motors coupled to it "
                f"reflect there; the rotor of {actuator.label!r} gets none",
                stacklevel=2,
            )
    return [max(float(value), 0.0) for value in found]
