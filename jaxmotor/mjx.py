"""Motors inside MJX, and the same motors beside MuJoCo's C engine.

MJX's JAX backend refuses a `<dcmotor>` and ignores the armature and damping of any actuator. Here the body runs in MJX
and the motors beside it, in the order of MuJoCo's own step:

    model, group, params = mjx.put_model("robot.xml")
    data, state = mjx.reset(model, group, params)
    data, state, out = mjx.step(model, data, group, params, state, ctrl)

`params` and `state` are pytrees: `jax.vmap` over them randomises motors, `jax.grad` goes through motor and body (where
nothing touches and no dry friction acts: MJX's solver of constraints has a reverse mode only with the option
`iterations="1"`). Integrate with Euler or implicitfast. Euler treats what the motor does with speed explicitly, so it
needs h N^2 b < 2 M, where b is the motor's damping Kt Ke / R plus the drive's and the bristle's and M the joint's
inertia with the rotor; implicitfast has no such bound, because the motor's slope is part of its joint damping. Dry
friction, whatever it depends on, is written into the engine's `dof_frictionloss` or `tendon_frictionloss` each step.
"""

from typing import Any

import numpy as np

from ._actuator import ActuatorParams
from ._mjx_host import put_mujoco as put_mujoco, step_mujoco as step_mujoco
from ._mjx_model import Replaced, compiled, rubs, take_apart
from ._mjx_motors import Motors as Motors, MotorsOutput as MotorsOutput
from ._mjx_step import _mjx, control_step as control_step, reset as reset, step as step

__all__ = ["Motors", "MotorsOutput", "control_step", "put_model", "put_mujoco", "reset", "step", "step_mujoco"]


def put_model(source: Any, replaced: Replaced | None = None) -> tuple[Any, Motors, tuple[ActuatorParams, ...]]:
    """An MJX model of the body of `source`, its motors, and their params.

    **Arguments:** `source`: a path to MJCF, MJCF text, an `MjSpec` or an `MjModel`; `replaced`: motors that take the
    place of named actuators, whatever those are, each as (actuator, params). Motors are the dcmotors and these; other
    actuators stay MJX's, with armature and damping where MJX reads them.

    **Raises:** `ImportError` without the extra `mujoco`; `ValueError` for a motor that drives anything but a hinge, a
    slide or a fixed tendon, and for what MJX would ignore in silence.
    """
    mjx = _mjx()
    import mujoco

    body = compiled(mujoco, source)
    group, params = take_apart(mujoco, body, replaced or {})
    friction, tendon_friction = np.array(body.dof_frictionloss), np.array(body.tendon_frictionloss)
    for wire in rubs(group):
        # MJX decides once and for all where friction can be.
        if wire.tendon < 0:
            body.dof_frictionloss[wire.joints[0][1]] += 1.0
        else:
            body.tendon_frictionloss[wire.tendon] += 1.0
    model = mjx.put_model(body, impl="jax")
    first = np.array(body.actuator_ctrladr)
    # Activations of the motors are theirs; those that are left move up.
    counts = np.array(body.actuator_actnum)
    moved = np.where(counts > 0, np.cumsum(counts) - counts, -1).astype(body.actuator_actadr.dtype)
    return (
        model.replace(
            nu=body.nactuator,
            na=int(counts.sum()),
            actuator_actadr=moved,
            actuator_ctrllimited=np.asarray(body.actuator_ctrllimited)[first],
            actuator_ctrlrange=model.actuator_ctrlrange[first],
            dof_frictionloss=model.dof_frictionloss * 0 + friction.astype(model.dof_frictionloss.dtype),
            tendon_frictionloss=model.tendon_frictionloss * 0 + tendon_friction.astype(model.dof_frictionloss.dtype),
        ),
        group,
        params,
    )
