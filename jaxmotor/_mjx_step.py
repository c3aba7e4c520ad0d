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
    holds the motors' torque during the step. A gear's load, on which friction may depend, is what gravity, inertia,
    contacts and limits were in the step before, and the springs and applied forces of this one.
    """
    mjx = _mjx()
    external = _load(model, data)
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
    """The body's actuators take a torque or, where no motor is, the caller's input."""
    source = {wire.actuator: k for k, wire in enumerate(group.wiring.wires)}
    source |= {actuator: torque.shape[0] + at for actuator, at in group.passed}
    return jnp.concatenate([torque, ctrl])[np.array([source[k] for k in sorted(source)], int)]


def _own_damping(model: Any, qvel: Any) -> tuple[Any, Any]:
    """Higher orders of the joints' own damping, which MJX leaves out: their slope, and the torque beside it."""
    second, third = model.dof_dampingpoly[:, 0], model.dof_dampingpoly[:, 1]
    speed = jnp.abs(qvel)
    slope = 2 * second * speed + 3 * third * speed**2
    return slope, (slope - second * speed - third * speed**2) * qvel


def _load(model: Any, data: Any) -> Any:
    """Torques on the freedoms that do not come from motors, friction or damping."""
    mjx = _mjx()
    dof_rows, tendon_rows = (
        np.nonzero(np.asarray(x))[0] for x in (model._impl.dof_hasfrictionloss, model._impl.tendon_hasfrictionloss)
    )
    if not dof_rows.size + tendon_rows.size:
        return jnp.zeros_like(data.qvel)
    undamped = model.replace(
        dof_damping=jnp.zeros_like(model.dof_damping), tendon_damping=jnp.zeros_like(model.tendon_damping)
    )
    held = mjx.passive(undamped, data).qfrc_passive + data.qfrc_applied + mjx.xfrc_accumulate(model, data)
    load = held - data.qfrc_bias + data.qfrc_constraint
    flags = mjx.DisableBit
    if model.opt.disableflags & (flags.CONSTRAINT | flags.FRICTIONLOSS):
        return load
    # The rows of friction come after the equalities: joints first, then tendons.
    widths = {mjx.EqType.CONNECT: 3, mjx.EqType.WELD: 6}
    first = 0
    if not model.opt.disableflags & flags.EQUALITY:
        first = sum(widths.get(mjx.EqType(int(kind)), 1) for kind in model.eq_type)
    own = data._impl.efc_force[first : first + dof_rows.size + tendon_rows.size]
    load = load.at[dof_rows].add(-own[: dof_rows.size])
    return load - own[dof_rows.size :] @ data._impl.ten_J[tendon_rows]


def _mjx() -> Any:
    try:
        from mujoco import mjx
    except ImportError as error:
        raise ImportError("jaxmotor.mjx needs mujoco-mjx: pip install 'jaxmotor[mujoco]'") from error
    return mjx
