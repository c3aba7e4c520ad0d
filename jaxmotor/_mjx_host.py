"""The same motors beside MuJoCo's C engine: one environment, for evaluation."""

import functools
from typing import Any

import jax
import numpy as np

from ._actuator import ActuatorParams
from ._mjx_model import Replaced, compiled, take_apart
from ._mjx_motors import Motors, MotorsOutput

_FIELDS = ("armature", "damping", "frictionloss")


def put_mujoco(source: Any, replaced: Replaced | None = None) -> tuple[Any, Motors, tuple[ActuatorParams, ...]]:
    """An `MjModel` of the body of `source`, its motors, and their params; arguments and errors as in `put_model`."""
    mujoco = _mujoco()
    body = compiled(mujoco, source)
    group, params = take_apart(mujoco, body, replaced or {})
    return body, group, params


def step_mujoco(model: Any, data: Any, group: Motors, params: Any, state: Any, ctrl: Any) -> tuple[Any, MotorsOutput]:
    """One step of the motors and of the body in MuJoCo's C engine, which changes `data`; the new states, and what the
    motors did. `ctrl` is the control vector of the original model; `data.ctrl` and `data.qfrc_applied` stay the
    caller's. Loads of gears are as in `step`; before the first step `mujoco.mj_forward` finds them."""
    mujoco = _mujoco()
    kinds = mujoco.mjtIntegrator
    implicit = int(model.opt.integrator) in (int(kinds.mjINT_IMPLICIT), int(kinds.mjINT_IMPLICITFAST))
    external = _load(mujoco, model, data)
    dtype = params[0].motor.winding.resistance.dtype if params else float
    given = (np.asarray(x, dtype) for x in (ctrl, data.qpos, data.qvel, model.opt.timestep, external))
    state, reaction, out = _stepped(group, implicit)(state, params, *given)
    asked, applied = np.array(data.ctrl), np.array(data.qfrc_applied)
    data.ctrl[:] = np.asarray(ctrl)
    for wire, torque in zip(group.wiring.wires, np.asarray(reaction.joint_torque), strict=True):
        if not wire.inputs:
            raise ValueError("a dcmotor without input has no place for its torque in MuJoCo's C engine")
        data.ctrl[wire.inputs[0]] = torque
    data.qfrc_applied[:] += np.asarray(reaction.applied)
    mine = (reaction.armature, reaction.damping, reaction.friction)
    tendons = (reaction.tendon_armature, reaction.tendon_damping, reaction.tendon_friction)
    places = [(f"dof_{field}", x) for field, x in zip(_FIELDS, mine, strict=True)]
    places += [(f"tendon_{field}", x) for field, x in zip(_FIELDS, tendons, strict=True)]
    own = {name: np.array(getattr(model, name)) for name, _ in places}
    try:
        for name, more in places:
            getattr(model, name)[:] += np.asarray(more)
        mujoco.mj_step(model, data)
    finally:
        for name, value in own.items():
            getattr(model, name)[:] = value
        data.ctrl[:], data.qfrc_applied[:] = asked, applied
    return state, out


@functools.lru_cache(maxsize=16)
def _stepped(group: Motors, implicit: bool) -> Any:
    @jax.jit
    def run(state, params, ctrl, qpos, qvel, dt, external):
        return group.step(state, params, ctrl, qpos, qvel, dt, external, implicit)

    return run


def _load(mujoco: Any, model: Any, data: Any) -> np.ndarray:
    """Torques on the freedoms that do not come from motors, friction or damping."""
    kinds = mujoco.mjtConstraint
    rubs = np.isin(data.efc_type[: data.nefc], (int(kinds.mjCNSTR_FRICTION_DOF), int(kinds.mjCNSTR_FRICTION_TENDON)))
    others, applied = np.zeros(model.nv), np.array(data.qfrc_applied)
    mujoco.mj_mulJacTVec(model, data, others, np.where(rubs, 0.0, data.efc_force[: data.nefc]))
    for body in np.nonzero(np.any(data.xfrc_applied, axis=1))[0]:
        wrench = data.xfrc_applied[body]
        mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], data.xipos[body], body, applied)
    mujoco.mj_passive(model, data)
    return others + applied + data.qfrc_passive - data.qfrc_damper - data.qfrc_bias


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise ImportError("jaxmotor.mjx needs the mujoco package: pip install 'jaxmotor[mujoco]'") from error
    return mujoco
