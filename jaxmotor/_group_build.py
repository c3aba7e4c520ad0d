"""From descriptions to a group and its params."""

import warnings
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ._actuator import Actuator, ActuatorParams
from ._actuator_bank import ActuatorBank, sort_by_kind
from ._controller import TorqueDrive
from ._description import ActuatorDescription, JointDescription, MountedActuator, RobotDescription
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
    joints: Sequence[JointDescription],
    actuators: Sequence[ActuatorDescription | MountedActuator],
    monitor: bool = False,
) -> tuple[ActuatorGroup, GroupParams]:
    """A group of actuators on these joints, and its params.

    **Arguments:** `actuators`: an `ActuatorDescription` gives a torque-driven motor of plain numbers, a
    `MountedActuator` any `Actuator` on a `FixedSupply` with a stiff gear; alike ones are batched, whatever their order.
    `monitor`: whether limits are only watched.

    **Raises:** `ValueError` for a joint that is unknown, cannot turn or is driven twice, for unclear names, and for
    actuators or numbers that a group cannot hold.
    """
    return build_group(RobotDescription(tuple(joints), tuple(actuators), monitor=monitor))


def build_group(robot: RobotDescription) -> tuple[ActuatorGroup, GroupParams]:
    """The actuators of a robot as a group; its joints are the movable ones, in the order of the file."""
    robot.check()
    joints = robot.movable_joints
    column = {joint.name: at for at, joint in enumerate(joints)}
    actuators = robot.actuators
    coupled = [(at, column[coupling.joint]) for at, a in enumerate(actuators) for coupling in a.couplings]
    wiring = Transmission(len(joints), tuple(column[a.joint] for a in actuators), tuple(coupled))
    bank, sorted_params = _bank(actuators, _rotor_inertia(robot, wiring))
    group = ActuatorGroup(
        names=tuple(a.label for a in actuators),
        joint_names=tuple(column),
        joint_kinds=tuple(joint.kind for joint in joints),
        models=tuple(a.model for a in actuators),
        wiring=wiring,
        bank=bank,
        enforcement=Monitored() if robot.monitor else Enforced(),
    )
    params = GroupParams(
        actuators=sorted_params,
        coupling_ratio=_floats(coupling.ratio for a in actuators for coupling in a.couplings),
        output_damping=_floats(a.output_damping for a in actuators),
        output_friction=_floats(a.output_friction for a in actuators),
        joint_damping=_floats(joint.damping for joint in joints),
        joint_friction=_floats(joint.friction for joint in joints),
    )
    return group, params


def _bank(
    actuators: Sequence[ActuatorDescription | MountedActuator], inertia: Sequence[float]
) -> tuple[ActuatorBank, tuple[ActuatorParams, ...]]:
    described = [(at, a) for at, a in enumerate(actuators) if isinstance(a, ActuatorDescription)]
    if len(described) == len(actuators):
        return ActuatorBank((torque_actuator(),), (tuple(range(len(actuators))),)), (_params_of(described, inertia),)
    single = {at: _params_of([(at, a)], inertia) for at, a in described}
    params = [
        a.params if isinstance(a, MountedActuator) else jax.tree.map(lambda x: x[0], single[at])
        for at, a in enumerate(actuators)
    ]
    return sort_by_kind(
        [a.actuator if isinstance(a, MountedActuator) else torque_actuator() for a in actuators], params
    )


def _params_of(described: Sequence[tuple[int, ActuatorDescription]], inertia: Sequence[float]) -> ActuatorParams:
    """Params of torque-driven actuators, stacked; `inertia` has that of every rotor [kg·m²]."""
    motors = [a.motor for _, a in described]
    winding = QuasiStaticParams(
        _floats(m.resistance for m in motors),
        _floats(m.torque_constant for m in motors),
        _floats(m.back_emf_constant for m in motors),
    )
    return ActuatorParams(
        MotorParams(winding, limit=TorqueLimitParams(_floats(m.peak_torque for m in motors))),
        supply=FixedSupplyParams(_floats(m.bus_voltage for m in motors)),
        gear=GearParams(_floats(a.gear_ratio for _, a in described), _floats(inertia[at] for at, _ in described)),
    )


def _floats(numbers) -> jax.Array:
    return jnp.asarray(np.array(list(numbers), float), dtype=jnp.result_type(float))


def _rotor_inertia(robot: RobotDescription, wiring: Transmission) -> list[float]:
    """Rotor inertias on the motor side [kg·m²], from the motors or from what the joints say.

    A URDF gives them at the joints, reflected: the diagonal of T'JT. The actuators' own joints are one equation each.
    """
    actuators = robot.actuators
    squares = np.zeros((len(actuators), wiring.joints))
    for at, actuator in enumerate(actuators):
        squares[at, wiring.driven[at]] = _gear_ratio(actuator) ** 2
    ratios = [coupling.ratio for actuator in actuators for coupling in actuator.couplings]
    for (at, joint), ratio in zip(wiring.coupled, ratios, strict=True):
        squares[at, joint] = ratio**2
    equations = squares[:, list(wiring.driven)].T
    at_joints = np.array([robot.movable_joints[joint].rotor_inertia for joint in wiring.driven])
    known = [_own_inertia(actuator) for actuator in actuators]
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


def _gear_ratio(actuator: ActuatorDescription | MountedActuator) -> float:
    if isinstance(actuator, MountedActuator):
        return float(actuator.actuator.gear.ratio(actuator.params.gear))
    return actuator.gear_ratio


def _own_inertia(actuator: ActuatorDescription | MountedActuator) -> float | None:
    if isinstance(actuator, MountedActuator):
        return float(actuator.params.gear.rotor_inertia)
    return actuator.motor.rotor_inertia
