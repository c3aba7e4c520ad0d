"""The current that a measured motion calls for, without any drive: a torque balance at steady speed."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

import jaxmotor as jm

from ._batch import Batch
from ._free import Subject


def balancing_current(bench: jm.Bench, subject: Subject, segment: Batch) -> Float[Array, " time"]:
    """i = (friction + drag + load) / (N Kt) [A] at the measured speed of each row, zero torque at rest.

    For a log whose drive is unknown and whose current has no sign of its own: such a current can be predicted but
    cannot drive a simulation. The inertia's share is left out, since a measured speed is never differentiated; rows in
    which the speed changes are outliers to the robust loss.
    """
    actuator, params = bench.actuator, subject.bench.actuator
    ratio = actuator.gear.ratio(params.gear)

    def needed(speed: Float[Array, ""], angle: Float[Array, ""]) -> Float[Array, ""]:
        zero = jnp.zeros_like(speed)
        sliding = jnp.sign(speed) * actuator.dry_friction.budget(params.dry_friction, speed, zero, zero)
        viscous = bench.load.damping(subject.bench.load) * speed - actuator.drag.torque(params.drag, ratio, speed)
        return sliding + viscous - bench.load.external_torque(subject.bench.load, angle)

    torque = jax.vmap(needed)(segment.reset_velocity, segment.reset_position)
    return torque / (ratio * params.motor.winding.torque_constant)
