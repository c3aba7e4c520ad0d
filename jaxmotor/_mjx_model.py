"""A MuJoCo model taken apart: the body, whose actuators any engine takes, and the motors.

A motor's actuator becomes a plain force on its joint or tendon, without a gear: the gear is a parameter of the motor.
Armature and damping that other actuators carry move to what they drive, because MJX reads them only there.
"""

import copy
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import mjcf
from ._actuator import Actuator, ActuatorParams
from ._actuator_bank import sort_by_kind
from ._dry_friction import NoDryFriction
from ._mjx_motors import Motors
from ._mjx_wiring import Wire, Wiring, wire_of

Replaced = Mapping[str, tuple[Actuator, ActuatorParams]]


def compiled(mujoco: Any, source: Any) -> Any:
    """A fresh `MjModel` of a path, MJCF text, an `MjSpec` or an `MjModel`."""
    if isinstance(source, mujoco.MjModel):
        return copy.copy(source)
    if isinstance(source, mujoco.MjSpec):
        return source.copy().compile()
    text = isinstance(source, str) and "<" in source
    try:
        return mujoco.MjModel.from_xml_string(source) if text else mujoco.MjModel.from_xml_path(os.fspath(source))
    except ValueError as error:
        file = "MJCF text" if text else os.fspath(source)
        raise ValueError(f"{file}: {' '.join(str(error).split())}") from error


def take_apart(mujoco: Any, model: Any, replaced: Replaced) -> tuple[Motors, tuple[ActuatorParams, ...]]:
    """The motors of `model`: its dcmotors, and the actuators that `replaced` names. `model` keeps the body.

    The rotors' armature stays out of it, but the constants that depend on it (`dof_invweight0`) know it.
    """
    _refuse_unseen(model)
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, k) for k in range(model.nactuator)]
    if unknown := set(replaced) - set(names):
        raise ValueError(f"the model has no actuator {min(unknown)!r}; it has: {', '.join(n for n in names if n)}")
    motors: dict[str, tuple[Actuator, ActuatorParams]] = {}
    wires: list[Wire] = []
    for k, name in enumerate(names):
        is_motor = mujoco.mjtGain(int(model.actuator_gaintype[k])) == mujoco.mjtGain.mjGAIN_DCMOTOR
        if not is_motor and name not in replaced:
            continue
        if not name:
            raise ValueError(f"actuator {k} is a dcmotor without a name: name it")
        motors[name] = replaced[name] if name in replaced else mjcf.load(model, name)
        wires.append(wire_of(mujoco, model, k, name))
    passed = []
    for k in range(model.nactuator):
        if any(wire.actuator == k for wire in wires):
            _make_force(mujoco, model, k)
        else:
            _move_passive(mujoco, model, k, names[k])
            passed.append((k, int(model.actuator_ctrladr[k])))
    bank, params = sort_by_kind([a for a, _ in motors.values()], [p for _, p in motors.values()])
    wiring = Wiring(tuple(wires), model.nq, model.nv, model.ntendon)
    group = Motors(tuple(motors), wiring, tuple(passed), bank)
    _set_constants(mujoco, model, group, params)
    return group, params


def rubs(group: Motors) -> list[Wire]:
    """The wires of the motors with dry friction."""
    kinds = zip(group.bank.kinds, group.bank.members, strict=True)
    return [group.wiring.wires[k] for a, at in kinds if not isinstance(a.dry_friction, NoDryFriction) for k in at]


def _make_force(mujoco: Any, model: Any, k: int) -> None:
    model.actuator_gaintype[k], model.actuator_biastype[k] = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_NONE
    model.actuator_dyntype[k] = mujoco.mjtDyn.mjDYN_NONE
    model.actuator_gainprm[k], model.actuator_biasprm[k], model.actuator_dynprm[k] = 0, 0, 0
    model.actuator_gainprm[k][0] = 1
    model.actuator_gear[k] = (1, 0, 0, 0, 0, 0)
    model.actuator_forcelimited[k], model.actuator_actlimited[k], model.actuator_actearly[k] = False, False, False
    model.actuator_actadr[k], model.actuator_actnum[k] = -1, 0
    model.actuator_armature[k], model.actuator_damping[k], model.actuator_dampingpoly[k] = 0, 0, 0
    first = int(model.actuator_ctrladr[k])
    model.actuator_ctrlspec[k] = 0
    model.actuator_ctrllimited[first : first + int(model.actuator_ctrlnum[k])] = False


def _move_passive(mujoco: Any, model: Any, k: int, name: str | None) -> None:
    inertia, linear = float(model.actuator_armature[k]), float(model.actuator_damping[k])
    higher = np.array(model.actuator_dampingpoly[k])
    if not (inertia or linear or higher.any()):
        return
    wire, turns = wire_of(mujoco, model, k, name or str(k)), float(model.actuator_gear[k][0]) ** 2
    where, at = ("dof", wire.joints[0][1]) if wire.tendon < 0 else ("tendon", wire.tendon)
    getattr(model, f"{where}_armature")[at] += turns * inertia
    getattr(model, f"{where}_damping")[at] += turns * linear
    getattr(model, f"{where}_dampingpoly")[at] += turns * higher
    model.actuator_armature[k], model.actuator_damping[k], model.actuator_dampingpoly[k] = 0, 0, 0


def _set_constants(mujoco: Any, model: Any, group: Motors, params: tuple[ActuatorParams, ...]) -> None:
    own, own_tendon = np.array(model.dof_armature), np.array(model.tendon_armature)
    for name, wire in zip(group.names, group.wiring.wires, strict=True):
        gear = group.named(params, name).gear
        inertia = float(gear.ratio) ** 2 * float(gear.rotor_inertia)
        if wire.tendon < 0:
            model.dof_armature[wire.joints[0][1]] += inertia
        else:
            model.tendon_armature[wire.tendon] += inertia
    mujoco.mj_setConst(model, mujoco.MjData(model))
    model.dof_armature[:], model.tendon_armature[:] = own, own_tendon


def _refuse_unseen(model: Any) -> None:
    for field, word in (("jnt_stiffnesspoly", "joint stiffness"), ("tendon_stiffnesspoly", "tendon stiffness")):
        if np.any(getattr(model, field)):
            raise ValueError(f"MJX ignores higher orders of {word}: leave one number")
