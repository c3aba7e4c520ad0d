"""A fitted motor in the words of simulators. What a format cannot say is told beside it, never dropped in silence."""

import math
import warnings
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

import jax.numpy as jnp
import numpy as np

import jaxmotor as jm
from jaxmotor._parameter import parameter_fields

from ._errors import ModelError
from ._export_replay import equivalent, replayed
from ._export_servo import affine_servo, mean_budget
from ._free import write
from ._log import Log
from ._model import Model

_STEP = 5e-4
_Format = Callable[[Model, str, float | None], tuple[Any, list[str]]]


def _numbers(model: Model) -> dict[str, float]:
    """Every parameter by the last word of its path [SI]."""
    return {path.rsplit(".", 1)[-1]: float(np.asarray(value)) for path, _, value in parameter_fields(model.params)}


def _joint_inertia(model: Model) -> float:
    """What the exported joint adds to the links of a robot: the reflected rotor, not the bench's load."""
    actuator = model.params.actuator
    return float(model.bench.actuator.gear.reflected_inertia(actuator.gear))


def mjcf(model: Model, joint: str, bus_voltage: float | None, log: Log | None = None) -> tuple[str, list[str]]:
    """A whole MJCF model: the bench's load on one hinge and the motor as `<dcmotor>`, a firmware servo as `<general>`;
    friction that depends on load as what follows `log` best."""
    if isinstance(model.bench.actuator.controller, jm.ServoDrive) and bus_voltage is not None:
        model = model.adjusted(fix={"bus_voltage": bus_voltage})
    bench, params, values = model.bench, model.params, _numbers(model)
    hold = {"frictionloss": values.get("coulomb_friction", 0.0), "damping": float(bench.load.damping(params.load))}
    if isinstance(bench.actuator.controller, jm.ServoDrive):
        element, notes = affine_servo(model, joint)
        ratio = float(bench.actuator.gear.ratio(params.actuator.gear))
        # An affine actuator has no place for what a dcmotor says of its own rotor and drag.
        hold["damping"] += values.get("viscous_damping", 0.0) * ratio**2
        hold["armature"] = _joint_inertia(model)
    else:
        element, notes = _dcmotor(model, joint)
    offset = values.get("offset", 0.0)
    if offset:
        notes.append(f"the angle sensor's offset of {offset:.6g} rad is not in the model: add it to measured angles")
    body, gravity = _inertial(model, notes), values.get("gravity", 9.81)
    if not isinstance(bench.actuator.dry_friction, jm.LoadDependentFriction):
        return _document(joint, hold, body, element, gravity), notes
    hold["frictionloss"] = mean_budget(model, log)
    if log is None:
        notes.append(
            "friction depends on load, frictionloss does not: it is the mean over a turn held still; with --log it is "
            "fitted to a log, and the error is told"
        )
    else:
        hold |= equivalent(_document(joint, hold, body, element, gravity), model, log, **_losses(hold))
        notes.append(
            f"friction depends on load, frictionloss does not: it and damping are those that follow {log.name} best"
        )
    return _document(joint, hold, body, element, gravity), notes


def _losses(hold: dict[str, float]) -> dict[str, float]:
    return {"frictionloss": hold["frictionloss"], "damping": hold["damping"]}


def _document(joint: str, hold: dict[str, float], body: str, element: str, gravity: float) -> str:
    attributes = " ".join(f'{key}="{value!r}"' for key, value in hold.items() if value)
    if hold["frictionloss"]:
        # MuJoCo's dry friction is soft by default, and lets a loaded shaft creep.
        attributes += f' solreffriction="{2 * _STEP!r} 1" solimpfriction="0.9999 0.9999 0.001 0.5 2"'
    name = quoteattr(joint)
    lines = [
        "<mujoco>",
        f'  <option timestep="{_STEP!r}" integrator="implicitfast" gravity="0 0 {-gravity!r}"/>',
        "  <worldbody>",
        f"    <body name={quoteattr(joint + '_load')}>",
        f'      <joint name={name} type="hinge" axis="0 1 0" {attributes}/>',
        f"      {body}",
        "    </body>",
        "  </worldbody>",
        "  <actuator>",
        f"    {element}",
        "  </actuator>",
        "</mujoco>",
    ]
    return "\n".join(lines) + "\n"


def _dcmotor(model: Model, joint: str) -> tuple[str, list[str]]:
    from jaxmotor import mjcf as language

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        element = language.to_xml(model.bench.actuator, model.params.actuator, name=f"{joint}_motor", joint=joint)
    # The budget stands on the joint, so that note would be wrong here.
    return element, [str(item.message) for item in caught if "dry friction" not in str(item.message)]


def _inertial(model: Model, notes: list[str]) -> str:
    load, params = model.bench.load, model.params.load
    inertia = float(load.inertia(params, jnp.zeros(())))
    weight = 0.0
    if isinstance(load, jm.Pendulum):
        weight = float((params.mass + params.arm_mass / 2) * params.length)
    elif isinstance(load, jm.UnbalancedLoad):
        weight = float(params.unbalance) / 9.81
    elif not isinstance(load, jm.RigidLoad):
        notes.append(f"the load {type(load).__name__} is written as a plain inertia")
    if weight == 0:
        return f'<inertial pos="0 0 0" mass="1" diaginertia="{inertia!r} {inertia!r} {inertia!r}"/>'
    # Any mass m at c = weight / m gives the same motion of a fixed axis; a heavy one near the axis leaves the inertia
    # about the mass centre positive.
    mass = max(1.0, 4 * weight**2 / inertia)
    reach = weight / mass
    own = inertia - mass * reach**2
    return f'<inertial pos="0 0 {-reach!r}" mass="{mass!r}" diaginertia="{own!r} {own!r} {own!r}"/>'


def _electrical(model: Model, bus_voltage: float | None) -> dict[str, float]:
    values = _numbers(model)
    ratio = float(model.bench.actuator.gear.ratio(model.params.actuator.gear))
    volts = _volts(model, bus_voltage)
    torque = values["torque_constant"] * volts / values["resistance"] * abs(ratio)
    if "current_limit" in values:
        peak = values["torque_constant"] * values["current_limit"] * abs(ratio)
    else:
        peak = values.get("peak_torque", math.inf)
    return {
        "stall_torque": torque,
        "no_load_speed": volts / values["back_emf_constant"] / abs(ratio),
        "peak_torque": min(peak, torque),
        "armature": _joint_inertia(model),
        "friction": values.get("coulomb_friction", 0.0),
        "viscous": values.get("viscous_damping", 0.0) * ratio**2,
    }


_NO_BUS = "the fit has no bus voltage, so stall torque and no-load speed are unknown (null): give --bus-voltage VOLTS"


def _volts(model: Model, bus_voltage: float | None) -> float:
    return bus_voltage if bus_voltage is not None else _numbers(model).get("bus_voltage", math.inf)


def _finite(values: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


def isaaclab(model: Model, joint: str, bus_voltage: float | None) -> tuple[dict[str, Any], list[str]]:
    """Fields of Isaac Lab's `DCMotorCfg` for one joint [N m, rad/s, kg m^2]."""
    found = _electrical(model, bus_voltage)
    notes = [] if math.isfinite(found["stall_torque"]) else [_NO_BUS]
    notes.append("stiffness and damping are those of your own position loop and are not the motor's")
    numbers = {
        "saturation_effort": found["stall_torque"],
        "effort_limit": found["peak_torque"],
        "velocity_limit": found["no_load_speed"],
        "armature": found["armature"],
        "friction": found["friction"],
        "viscous_friction": found["viscous"],
    }
    return {"joint_names_expr": [joint], **_finite(numbers)}, notes


def newton(model: Model, joint: str, bus_voltage: float | None) -> tuple[dict[str, Any], list[str]]:
    """Arguments in the words of Newton's documented `MotorDC`, and of its torque-speed clamp, at the joint."""
    values, found = _numbers(model), _electrical(model, bus_voltage)
    ratio = float(model.bench.actuator.gear.ratio(model.params.actuator.gear))
    kt, ke = values["torque_constant"], values["back_emf_constant"]
    notes = [] if math.isfinite(found["stall_torque"]) else [_NO_BUS]
    if kt != ke:
        notes.append(f"one constant stands for both there: kt = {kt:.6g}, ke = {ke:.6g} became their geometric mean")
    motor = {"kt": math.sqrt(kt * ke) * abs(ratio), "resistance": values["resistance"]}
    clamp = {
        "saturation_effort": found["stall_torque"],
        "velocity_limit": found["no_load_speed"],
        "max_effort": found["peak_torque"],
    }
    rest = {"armature": found["armature"], "friction": found["friction"], "viscous_friction": found["viscous"]}
    return {
        "joint": joint,
        "motor_dc": _finite(motor) | {"vin": _finite({"v": _volts(model, bus_voltage)})["v"]},
        "clamping_dc_motor": _finite(clamp),
        "joint_properties": _finite(rest),
    }, notes


def plain(model: Model, joint: str, bus_voltage: float | None) -> tuple[dict[str, Any], list[str]]:
    """Every value with its unit, by its path in the params."""
    del bus_voltage
    values = {
        path: {"value": _finite({"v": float(np.asarray(value))})["v"], "unit": field.metadata["unit"]}
        for path, field, value in parameter_fields(model.params)
    }
    return {"joint": joint, "parameters": values}, []


def urdf(model: Model, joint: str, bus_voltage: float | None) -> tuple[str, list[str]]:
    """A robot file of one joint with RaiSim's `<actuator>` element; losses stand at the output."""
    from jaxmotor._description import ActuatorDescription, JointDescription, MotorDescription, RobotDescription
    from jaxmotor._group_build import build_group
    from jaxmotor._urdf_write import dumps

    values, found = _numbers(model), _electrical(model, bus_voltage)
    volts = _volts(model, bus_voltage)
    if not math.isfinite(volts):
        raise ValueError("an actuator element needs the bus voltage: give --bus-voltage VOLTS")
    ratio = float(model.bench.actuator.gear.ratio(model.params.actuator.gear))
    motor = MotorDescription(
        values["resistance"],
        values["torque_constant"],
        values["back_emf_constant"],
        volts,
        found["peak_torque"] / abs(ratio),
        found["armature"] / ratio**2,
    )
    actuator = ActuatorDescription(
        joint,
        ratio,
        motor,
        f"{joint}_motor",
        output_damping=found["viscous"],
        output_friction=found["friction"],
    )
    return dumps(*build_group(RobotDescription((JointDescription(joint, "continuous"),), (actuator,)))), []


FORMATS: dict[str, _Format] = {"mjcf": mjcf, "urdf": urdf, "isaaclab": isaaclab, "newton": newton, "json": plain}


def exported(
    model: Model, to: str, joint: str = "joint", bus_voltage: float | None = None, log: Log | None = None
) -> tuple[Any, list[str]]:
    """Text (MJCF, URDF) or plain data of the fitted motor, and notes on what the format cannot say.

    **Arguments:** `joint`: its name there; `bus_voltage` [V], where the fit has none; `log`: what MJCF is to be
    true to, its gain taken and the error of the exported model on it among the notes.

    **Raises:** `ModelError` for an unknown format, or a motor that the format has no words for.
    """
    if to not in FORMATS:
        raise ModelError(f"--to {to}: unknown format; choose one of {', '.join(sorted(FORMATS))}")
    if log is not None and to != "mjcf":
        raise ModelError(f"--log: only mjcf is replayed on a log, not {to}")
    try:
        if log is not None:
            model = model.with_subject(write(model.subject, dict(model.overrides(log))))
            text, notes = mjcf(model, joint, bus_voltage, log)
            return text, [*notes, replayed(text, model, log)]
        return FORMATS[to](model, joint, bus_voltage)
    except ValueError as error:
        raise ModelError(f"--to {to}: {error}") from None
