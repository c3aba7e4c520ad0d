"""What a robot file says about its actuators, before any array is built. Plain numbers in SI units."""

import dataclasses
import math
from collections.abc import Iterator

from ._actuator import Actuator, ActuatorParams
from ._motor_numbers import check_motor
from ._parameter import check_params
from ._place import Place

MOVABLE = ("revolute", "continuous", "prismatic")
"""The joint types with one degree of freedom, which an actuator can drive."""


@dataclasses.dataclass(frozen=True)
class JointDescription:
    """A joint with its own losses.

    `damping` [N·m·s/rad], `friction` [N·m] and `rotor_inertia` [kg·m²] are measured at the joint (N·s/m, N and kg where
    it slides).
    """

    name: str
    kind: str
    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0
    place: Place = Place()

    @property
    def movable(self) -> bool:
        return self.kind in MOVABLE


@dataclasses.dataclass(frozen=True)
class Coupling:
    """Another joint that the motor turns with: `ratio` is motor speed per unit speed of that joint."""

    joint: str
    ratio: float
    place: Place = Place()


@dataclasses.dataclass(frozen=True)
class MotorDescription:
    """The constants of a motor, on the rotor side of its gear.

    `resistance` [Ω], `torque_constant` [N·m/A], `back_emf_constant` [V·s/rad], `bus_voltage` [V], `peak_torque` [N·m];
    `rotor_inertia` [kg·m²] or `None` where only the joints' reflected inertias are known.
    """

    resistance: float
    torque_constant: float
    back_emf_constant: float
    bus_voltage: float
    peak_torque: float = float("inf")
    rotor_inertia: float | None = None


@dataclasses.dataclass(frozen=True)
class ActuatorDescription:
    """A motor behind a gear on one joint.

    `gear_ratio` is motor speed per unit speed of the joint; `output_damping` [N·m·s/rad] and `output_friction` [N·m]
    are the losses of gear and bearings as measured at the joint.
    """

    joint: str
    gear_ratio: float
    motor: MotorDescription
    name: str = ""
    model: str = ""
    output_damping: float = 0.0
    output_friction: float = 0.0
    couplings: tuple[Coupling, ...] = ()
    place: Place = Place()

    @property
    def label(self) -> str:
        """The name that the group knows it by: its own, or the joint's."""
        return self.name or self.joint


@dataclasses.dataclass(frozen=True)
class MountedActuator:
    """Any actuator on one joint of a group: `actuator` with its `params`, the gear's included.

    `output_damping` [N·m·s/rad], `output_friction` [N·m] and `couplings` as for `ActuatorDescription`.
    """

    joint: str
    actuator: Actuator
    params: ActuatorParams
    name: str = ""
    model: str = ""
    output_damping: float = 0.0
    output_friction: float = 0.0
    couplings: tuple[Coupling, ...] = ()
    place: Place = Place()

    @property
    def label(self) -> str:
        """The name that the group knows it by: its own, or the joint's."""
        return self.name or self.joint


@dataclasses.dataclass(frozen=True)
class RobotDescription:
    """Joints and actuators in the order of the file; `monitor` when the actuators are only watched, not limited."""

    joints: tuple[JointDescription, ...]
    actuators: tuple[ActuatorDescription | MountedActuator, ...]
    name: str = "robot"
    monitor: bool = False

    @property
    def movable_joints(self) -> tuple[JointDescription, ...]:
        return tuple(joint for joint in self.joints if joint.movable)

    def check(self) -> None:
        """Refuse what cannot be built: a joint that is unknown, cannot move or is driven twice, unclear names, and
        numbers that no motor, gear or loss has.

        **Raises:** `ValueError` naming the file and row of the actuator, where it came from a file.
        """
        for fault, place in self._faults():
            raise ValueError(f"{place}{fault}")

    def _faults(self) -> Iterator[tuple[str, Place]]:
        joints = {joint.name: joint for joint in self.joints}
        drivers: dict[str, str] = {}
        names: set[str] = set()
        for actuator in self.actuators:
            label = f"actuator {actuator.label!r}"
            yield from _joint_fault(joints, actuator.joint, label, "drives", actuator.place)
            if actuator.joint in drivers:
                yield (
                    f"{label}: joint {actuator.joint!r} is already driven by {drivers[actuator.joint]!r}",
                    actuator.place,
                )
            if actuator.label in names:
                yield f"{label}: two actuators have this name (default: the name of the joint)", actuator.place
            drivers[actuator.joint] = actuator.label
            names.add(actuator.label)
            yield from ((f"{label}: {fault}", actuator.place) for fault in _number_faults(actuator))
            yield from _coupling_faults(joints, actuator, label)


def _number_faults(actuator: ActuatorDescription | MountedActuator) -> Iterator[str]:
    losses = {"output_damping": actuator.output_damping, "output_friction": actuator.output_friction}
    if isinstance(actuator, ActuatorDescription):
        losses["rotor_inertia"] = actuator.motor.rotor_inertia or 0.0
        yield from _motor_faults(actuator)
    else:
        try:
            check_params(actuator.params)
        except ValueError as error:
            yield str(error)
    for name, value in losses.items():
        if not (value >= 0 and math.isfinite(value)):
            yield f"{name} must be finite and not negative, not {value:g}"
    for coupling in actuator.couplings:
        if not math.isfinite(coupling.ratio):
            yield f"the ratio of the coupling to {coupling.joint!r} must be finite, not {coupling.ratio:g}"


def _motor_faults(actuator: ActuatorDescription) -> Iterator[str]:
    motor = actuator.motor
    constants = dataclasses.asdict(motor)
    del constants["rotor_inertia"]
    try:
        check_motor(constants, infinite=("peak_torque",))
    except ValueError as error:
        yield str(error)
    if not math.isfinite(actuator.gear_ratio) or actuator.gear_ratio == 0:
        yield f"gear_ratio must be finite and not zero, not {actuator.gear_ratio:g}"


def _coupling_faults(
    joints: dict[str, JointDescription], actuator: ActuatorDescription | MountedActuator, label: str
) -> Iterator[tuple[str, Place]]:
    coupled: set[str] = set()
    for coupling in actuator.couplings:
        yield from _joint_fault(joints, coupling.joint, label, "is coupled to", coupling.place)
        if coupling.joint == actuator.joint:
            yield (
                f"{label} is coupled to the joint {actuator.joint!r} that it drives: use its gear ratio",
                coupling.place,
            )
        if coupling.joint in coupled:
            yield f"{label} is coupled twice to joint {coupling.joint!r}: add the ratios", coupling.place
        coupled.add(coupling.joint)


def _joint_fault(
    joints: dict[str, JointDescription], name: str, label: str, verb: str, place: Place
) -> Iterator[tuple[str, Place]]:
    if name not in joints:
        known = ", ".join(joint for joint in joints) or "none"
        yield f"{label} {verb} the unknown joint {name!r}; the robot has: {known}", place
    elif not joints[name].movable:
        yield f"{label} {verb} joint {name!r}, which is {joints[name].kind}: it must be {', '.join(MOVABLE)}", place
