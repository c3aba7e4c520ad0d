"""A `dcmotor` out of a compiled MuJoCo model, where defaults and attribute rules are already resolved."""

import os
import pathlib
from typing import Any

import numpy as np

from ._actuator import Actuator, ActuatorParams
from ._mjcf_build import build
from ._mjcf_numbers import DcMotorError, DcMotorNumbers
from ._mjcf_rules import TOKENS, bristle, control


def load(source: Any, name: str) -> tuple[Actuator, ActuatorParams]:
    """The actuator `name` of a MuJoCo model: a path to MJCF, MJCF text, or an `mujoco.MjModel`.

    Its joint's own armature, damping and friction loss are the load's and stay out.

    **Raises:** `ImportError` without the `mujoco` package, `DcMotorError` for a motor that cannot be, `ValueError` for
    an actuator that is not there or not a `dcmotor`.
    """
    mujoco = _mujoco()
    model = source if isinstance(source, mujoco.MjModel) else _compiled(mujoco, source)
    if not hasattr(model, "actuator_ctrlspec"):
        raise ImportError(f"mujoco {mujoco.__version__} has no torque-space dcmotor: install mujoco 3.12 or later")
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
    if index < 0:
        known = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) for i in range(model.actuator_gear.shape[0])]
        raise ValueError(f"the model has no actuator {name!r}; it has: {', '.join(n for n in known if n) or 'none'}")
    if mujoco.mjtGain(int(model.actuator_gaintype[index])) != mujoco.mjtGain.mjGAIN_DCMOTOR:
        raise ValueError(f"actuator {name!r} is not a dcmotor")
    return build(_numbers(mujoco, model, index, name), _joint_damping(mujoco, model, index))


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise ImportError("mjcf.load needs the mujoco package: pip install 'jaxmotor[mujoco]'") from error
    return mujoco


def _compiled(mujoco: Any, source: str | os.PathLike[str]) -> Any:
    text = isinstance(source, str) and "<" in source
    try:
        return mujoco.MjModel.from_xml_string(source) if text else mujoco.MjModel.from_xml_path(os.fspath(source))
    except ValueError as error:
        file = "MJCF text" if text else str(pathlib.Path(source))
        raise ValueError(f"{file}: {' '.join(str(error).split())}") from error


def _numbers(mujoco: Any, model: Any, index: int, name: str) -> DcMotorNumbers:
    driven = mujoco.mjtTrn(int(model.actuator_trntype[index]))
    if driven not in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT, mujoco.mjtTrn.mjTRN_TENDON):
        raise DcMotorError("transmission", f"actuator {name!r} must drive a joint or a tendon")
    if model.actuator_delay[index] > 0:
        raise DcMotorError("delay", f"actuator {name!r} has one: put a jaxmotor.Delay into the actuator instead")
    gain, dynamics, bias = (
        [float(x) for x in row[index]]
        for row in (model.actuator_gainprm, model.actuator_dynprm, model.actuator_biasprm)
    )
    spec = int(model.actuator_ctrlspec[index])
    inputs = tuple(token for bit, token in enumerate(TOKENS) if spec >> bit & 1)
    first = int(model.actuator_ctrladr[index])
    limited = bool(inputs) and bool(model.actuator_ctrllimited[first])
    ranged = [float(x) for x in model.actuator_ctrlrange[first]] if limited else None
    resistance, constant, coefficient, reference, kp, ki, kd, voltage = gain[:8]
    lag, rate, thermal, capacitance, ambient, stiffness, micro, slew, bound = dynamics[:9]
    heats = thermal > 0
    return DcMotorNumbers(
        resistance=resistance,
        motor_constant=constant,
        peak_torque=float(model.actuator_forcerange[index][1]) if model.actuator_forcelimited[index] else 0.0,
        current_rate=rate,
        electrical_time_constant=lag,
        thermal=(thermal, capacitance, coefficient, reference, ambient) if heats else (0.0, 0.0, 0.0, 0.0, 0.0),
        cogging=(bias[0], bias[1], bias[2]),
        lugre=bristle((stiffness, micro, *bias[3:6])),
        damping=(
            float(model.actuator_damping[index]),
            float(model.actuator_dampingpoly[index][0]),
            float(model.actuator_dampingpoly[index][1]),
        ),
        armature=float(model.actuator_armature[index]),
        gear=float(model.actuator_gear[index][0]),
        inputs=inputs,
        voltage_space=False,
        controller=control(inputs, False, (kp, ki, kd, slew, bound, voltage)),
        ctrlrange=None if ranged is None else (ranged[0], ranged[1]),
    )


def _joint_damping(mujoco: Any, model: Any, index: int) -> float:
    """Viscous damping [N m s/rad] of the driven joint, seen at the motor shaft."""
    if mujoco.mjtTrn(int(model.actuator_trntype[index])) == mujoco.mjtTrn.mjTRN_TENDON:
        return 0.0
    joint = int(model.actuator_trnid[index][0])
    gear = float(model.actuator_gear[index][0])
    return float(np.asarray(model.dof_damping)[model.jnt_dofadr[joint]]) / gear**2 if gear else 0.0
