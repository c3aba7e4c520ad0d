"""The part of dry friction that fades as the joint picks up speed."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, nonnegative, positive
from ._stage import Scalar


class AbstractStribeck(eqx.Module):
    """How much of the slow-speed friction is left at a speed; no state."""

    @abc.abstractmethod
    def left(self, params: Any, qvel: Scalar) -> Scalar:
        """Share [1] of the slow-speed friction at joint speed `qvel` [rad/s]: one at rest, towards zero when fast."""

    @abc.abstractmethod
    def friction(self, params: Any, qvel: Scalar) -> Scalar:
        """Slow-speed friction without load [N m], of the shape and type of `qvel`."""


class NoStribeck(AbstractStribeck):
    """Friction at rest is that in motion; params are `None`."""

    def left(self, params: None, qvel: Scalar) -> Scalar:
        del params
        return jnp.zeros_like(qvel)

    def friction(self, params: None, qvel: Scalar) -> Scalar:
        del params
        return jnp.zeros_like(qvel)


class StribeckParams(eqx.Module):
    """`stribeck_friction` [N m] on top of Coulomb's at rest, `stribeck_velocity` w_s [rad/s], `stribeck_exponent` a
    [1]."""

    stribeck_friction: Parameter = nonnegative("N m")
    stribeck_velocity: Parameter = positive("rad/s")
    stribeck_exponent: Parameter = positive("1", default=2.0)


class Stribeck(AbstractStribeck):
    """exp(-|w / w_s|^a) (BAM models M2, M4 to M6; bam/model.py)."""

    def left(self, params: StribeckParams, qvel: Scalar) -> Scalar:
        relative = jnp.abs(qvel) / params.stribeck_velocity
        moving = relative > 0
        # A power of zero has no gradient in its exponent.
        power = jnp.where(moving, relative, jnp.ones_like(relative)) ** params.stribeck_exponent
        return jnp.exp(-jnp.where(moving, power, jnp.zeros_like(power)))

    def friction(self, params: StribeckParams, qvel: Scalar) -> Scalar:
        return jnp.broadcast_to(params.stribeck_friction, qvel.shape)
