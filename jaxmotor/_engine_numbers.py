"""The numbers of a group in the words of other simulators, which describe a motor at the joint.

Which value goes where, for gear ratio G:

| at the motor | at the joint | Isaac Lab 2, mjlab | Isaac Lab 3 | Newton `ClampingDCMotor` |
| --- | --- | --- | --- | --- |
| stall torque Kt V / R | times G | `saturation_effort` | `saturation_effort` | `saturation_effort` |
| no-load speed V / Ke | divided by G | `velocity_limit` | `actuator_velocity_limit` | `velocity_limit` |
| peak torque | times G | `effort_limit` | `actuator_effort_limit` | `max_motor_effort` |
| rotor inertia J | times G² | `armature` | `armature` | `armature` of the joint |

A common mistake is to put the peak torque into `saturation_effort`, or the corner speed into `velocity_limit`: the line
then falls too early. Couplings have no place in these models: a motor that also turns with another joint is described
as if that joint stood still.
"""

from typing import Any

import numpy as np

from ._group import ActuatorGroup, GroupParams


def to_isaaclab(group: ActuatorGroup, params: GroupParams, version: int = 2) -> dict[str, dict[str, Any]]:
    """Arguments of Isaac Lab's `DCMotorCfg`, by joint name; stiffness and damping are those of your own position loop.

    An infinite number means that there is no such limit. `version` is Isaac Lab's: 3 renamed the limits.

    **Raises:** `ValueError` for another version.
    """
    if version not in (2, 3):
        raise ValueError(f"Isaac Lab's configuration is known for versions 2 and 3, not {version}")
    prefix = "actuator_" if version == 3 else ""
    return {
        name: {
            "saturation_effort": row["stall_torque"],
            f"{prefix}effort_limit": row["peak_torque"],
            f"{prefix}velocity_limit": row["no_load_speed"],
            "armature": row["armature"],
            "friction": row["friction"],
            "viscous_friction": row["viscous_friction"],
        }
        for name, row in _at_joints(group, params).items()
    }


def to_newton(group: ActuatorGroup, params: GroupParams) -> dict[str, dict[str, Any]]:
    """Arguments of Newton's `ClampingDCMotor` and of its documented `MotorDC`, by joint name.

    `MotorDC` has one constant for torque and back-EMF and no gear: its kt here is G · sqrt(Kt · Ke), which keeps the
    damping at the voltage limit. The two models exclude each other.
    """
    return {
        name: {
            "ClampingDCMotor": {
                "saturation_effort": row["stall_torque"],
                "velocity_limit": row["no_load_speed"],
                "max_motor_effort": row["peak_torque"],
            },
            "MotorDC": {"kt": row["constant"], "resistance": row["resistance"], "vin": row["bus_voltage"]},
            "joint": {name: row[name] for name in ("armature", "friction", "viscous_friction")},
        }
        for name, row in _at_joints(group, params).items()
    }


def _at_joints(group: ActuatorGroup, params: GroupParams) -> dict[str, dict[str, float]]:
    region = group.regions(params)
    gear = np.abs(group.gear_ratio(params))
    armature = np.diag(np.asarray(group.reflected_inertia(params)))[list(group.wiring.driven)]
    columns = {
        "stall_torque": gear * region.stall_torque,
        "no_load_speed": np.asarray(region.no_load_speed) / gear,
        "peak_torque": gear * region.peak_torque,
        "armature": armature,
        "friction": params.output_friction,
        "viscous_friction": params.output_damping,
        "constant": gear * np.sqrt(np.asarray(region.torque_constant * region.back_emf_constant)),
        "resistance": region.resistance,
        "bus_voltage": region.bus_voltage,
    }
    return {
        group.joint_names[joint]: {name: float(np.asarray(column)[at]) for name, column in columns.items()}
        for at, joint in enumerate(group.wiring.driven)
    }
