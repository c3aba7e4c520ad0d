"""Motors in MJX: one step, several per control step, a reset."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._mjx_motors import Motors, MotorsOutput


def reset(model: Any, group: Motors, params: Any, qpos: Any = None, qvel: Any = None) -> tuple[Any, Any]:
    """MJX data and motor states at `qpos` [rad], `qvel` [rad/s], cold; without them the model's own rest.

    Batches come from `jax.vmap`, for example over `qpos`.
    """
    mjx = _mjx()
    data = mjx.make_data(model)
    data = data.replace(
        qpos=model.qpos0 if qpos is None else jnp.asarray(qpos, model.qpos0.dtype),
        qvel=data.qvel if qvel is None else jnp.asarray(qvel, data.qvel.dtype),
    )
    return mjx.forward(model, data), group.init(params)


def step(model: Any, data: Any, group: Motors, params: Any, state: Any, ctrl: Any) -> tuple[Any, Any, MotorsOutput]:
    """One step of the motors and of the body, of the model's timestep: the new data and states, and what motors did.

    `ctrl` is the control vector of the MuJoCo model, one number per input of each actuator. `data.qfrc_applied` is the
    caller's and stays. Euler treats drag implicitly and the motor explicitly, implicitfast both, as in MuJoCo; RK4
    holds the motors' torque during the step. Load-dependent friction sees the load of the step before.
    """
    mjx = _mjx()
    external = -data.qfrc_bias + _without_friction(model, data) if _rows(model).size else jnp.zeros_like(data.qvel)
    implicit = int(model.opt.integrator) == int(mjx.IntegratorType.IMPLICITFAST)
    dt = model.opt.timestep
    state, reaction, out = group.step(state, params, ctrl, data.qpos, data.qvel, dt, external, implicit)
    reaction = jax.tree.map(lambda x: x.astype(data.qvel.dtype), reaction)
    own_slope, own_rest = _own_damping(model, data.qvel)
    body = model.replace(
        dof_armature=model.dof_armature + reaction.armature,
        dof_damping=model.dof_damping + own_slope + reaction.damping,
        dof_frictionloss=model.dof_frictionloss + reaction.friction,
        tendon_armature=model.tendon_armature + reaction.tendon_armature,
        tendon_damping=model.tendon_damping + reaction.tendon_damping,
        tendon_frictionloss=model.tendon_frictionloss + reaction.tendon_friction,
    )
    applied = data.qfrc_applied
    fed = data.replace(
        ctrl=_controls(group, reaction.joint_torque, jnp.asarray(ctrl, data.qvel.dtype)),
        qfrc_applied=applied + reaction.applied + own_rest,
    )
    return mjx.step(body, fed).replace(qfrc_applied=applied), state, out


def control_step(
    model: Any, data: Any, group: Motors, params: Any, state: Any, ctrl: Any, substeps: int
) -> tuple[Any, Any, MotorsOutput]:
    """As `step`, `substeps` times under one `ctrl`; the outputs have one row per physics step."""

    def body(carry, _):
        data, state, out = step(model, carry[0], group, params, carry[1], ctrl)
        return (data, state), out

    (data, state), outs = jax.lax.scan(body, (data, state), None, length=substeps)
    return data, state, outs


def _controls(group: Motors, torque: Any, ctrl: Any) -> Any:
    filled = jnp.zeros(len(group.wiring.wires) + len(group.passed), torque.dtype)
    filled = filled.at[np.array([wire.actuator for wire in group.wiring.wires], int)].set(torque)
    if group.passed:
        to, source = np.array(group.passed).T
        filled = filled.at[to].set(ctrl[source])
    return filled


def _own_damping(model: Any, qvel: Any) -> tuple[Any, Any]:
    """Higher orders of the joints' own damping, which MJX leaves out: their slope, and the torque beside it."""
    second, third = model.dof_dampingpoly[:, 0], model.dof_dampingpoly[:, 1]
    speed = jnp.abs(qvel)
    slope = 2 * second * speed + 3 * third * speed**2
    return slope, (slope - second * speed - third * speed**2) * qvel


def _rows(model: Any) -> np.ndarray:
    return np.nonzero(np.asarray(model._impl.dof_hasfrictionloss))[0]


def _without_friction(model: Any, data: Any) -> Any:
    """Torques of contacts and limits; the rows of friction, which come after the equalities, are left out."""
    mjx = _mjx()
    flags = mjx.DisableBit
    if model.opt.disableflags & (flags.CONSTRAINT | flags.FRICTIONLOSS):
        return data.qfrc_constraint
    widths = {mjx.EqType.CONNECT: 3, mjx.EqType.WELD: 6}
    first = 0
    if not model.opt.disableflags & flags.EQUALITY:
        first = sum(widths.get(mjx.EqType(int(kind)), 1) for kind in model.eq_type)
    rows = _rows(model)
    own = data._impl.efc_force[first : first + len(rows)]
    return data.qfrc_constraint.at[rows].add(-own)


def _mjx() -> Any:
    try:
        from mujoco import mjx
    except ImportError as error:
        raise ImportError("jaxmotor.mjx needs mujoco-mjx: pip install 'jaxmotor[mujoco]'") from error
    return mjx
