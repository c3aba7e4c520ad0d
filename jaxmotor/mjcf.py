"""MuJoCo's `dcmotor`: its attributes, its models and its activations, to and from actuators.

The motor itself needs no MuJoCo; `load` does (the extra `mujoco`).
"""

from typing import Any

from ._actuator import Actuator, ActuatorParams
from ._mjcf_act import from_act as from_act, to_act as to_act
from ._mjcf_build import build
from ._mjcf_load import load as load
from ._mjcf_numbers import DcMotorError as DcMotorError, DcMotorNumbers
from ._mjcf_rules import (
    bristle,
    command_range,
    constants,
    control,
    inputs_of,
    limits,
    numbers,
    thermal_node,
    time_constant,
)
from ._mjcf_write import to_xml as to_xml

_COGGING = ("amplitude", "poles", "phase")

__all__ = ["DcMotorError", "dcmotor", "from_act", "load", "to_act", "to_xml"]


def dcmotor(
    *,
    resistance: Any = None,
    motorconst: Any = None,
    nominal: Any = None,
    inductance: Any = None,
    thermal: Any = None,
    saturation: Any = None,
    cogging: Any = None,
    lugre: Any = None,
    damping: Any = None,
    armature: Any = None,
    gear: Any = 1.0,
    input: str = "voltage",
    controller: Any = None,
    ctrlrange: Any = None,
    mujoco: str = "4.0",
) -> tuple[Actuator, ActuatorParams]:
    """The actuator that MuJoCo makes of a `<dcmotor>` element with these attributes (MuJoCo DC motor note, "MJCF
    attributes").

    **Arguments:** numbers, sequences or text as in MJCF; sub-attributes that are left out are zero, and zero means off
    or not given, a rule that holds only here.

    - `resistance` [ohm]; `motorconst` Kt [N m/A], Ke [V s/rad]; `nominal` voltage [V], stall torque [N m], no-load
      speed [rad/s].
    - `inductance` L [H], time constant [s]; `thermal` resistance [K/W], capacitance [J/K], time constant [s], tempcoef
      [1/K], reftemp, ambient [degC]; `saturation` torque [N m], current [A], current rate [A/s].
    - `cogging` amplitude [N m], poles, phase [rad]; `lugre` stiffness, damping, coulomb, static, stribeck; `damping` up
      to three orders; `armature` [kg m^2]; `gear`.
    - `controller` kp, ki, kd, slewmax, Imax, Vmax. Imax bounds the integral itself (rad s), not its voltage.
    - `mujoco`: whose rules. "3.11" stands for 3.7 to 3.11, the note: `input` is "voltage", "position" or "velocity",
      and gains are in volts. "4.0" stands for 3.12 and later: `input` is some of "pos vel ff voltage" in this order, or
      "none", and gains are in newton metres; the command has one entry per input (a scalar for one).

    **Raises:** `DcMotorError` naming the attribute, what is wrong and what to do; also for values that MuJoCo takes in
    silence and no motor has.

    **Warns:** where an attribute has no effect, and `PassivityWarning` (`jaxmotor.check_lugre`).
    """
    if mujoco not in ("4.0", "3.11"):
        raise DcMotorError("mujoco", f'it is {mujoco!r}: give "4.0" (3.12 and later) or "3.11" (3.7 to 3.11)')
    voltage_space = mujoco == "3.11"
    drag = numbers("damping", damping, ("B1", "B2", "B3"))
    ohms, constant = constants(numbers("resistance", resistance, ("R",))[0], motorconst, nominal, drag[0])
    lag = time_constant(inductance, ohms)
    peak_torque, current_rate = limits(saturation, constant, lag > 0)
    inputs = inputs_of(input, voltage_space)
    ratio = ("ratio", "y", "z", "rx", "ry", "rz")
    return build(
        DcMotorNumbers(
            resistance=ohms,
            motor_constant=constant,
            peak_torque=peak_torque,
            current_rate=current_rate,
            electrical_time_constant=lag,
            thermal=thermal_node(thermal, not voltage_space),
            cogging=_three(numbers("cogging", cogging, _COGGING, _COGGING)),
            lugre=bristle(lugre),
            damping=_three(drag),
            armature=numbers("armature", armature, ("J",))[0],
            gear=numbers("gear", gear, ratio, ratio)[0],
            inputs=inputs,
            voltage_space=voltage_space,
            controller=control(inputs, voltage_space, controller),
            ctrlrange=command_range(ctrlrange),
        )
    )


def _three(values: tuple[float, ...]) -> tuple[float, float, float]:
    first, second, third = values
    return first, second, third
