"""Friction that grows with the torque a gear carries: terms of a dry-friction budget.

With the motor's torque at the joint tm and the load's torque on it te [N m], both counted in the direction that speeds
the joint up, the gear carries tm - te: a held weight loads it with twice what either alone does. Laws as BAM documents
its models M3 to M6 (bam/model.py).
"""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, nonnegative
from ._stage import Scalar


class AbstractLoadFriction(eqx.Module):
    """A term of a dry-friction budget that depends on the torques at the gear; no state."""

    @abc.abstractmethod
    def share(self, params: Any, motor_torque: Scalar, external_torque: Scalar) -> Scalar:
        """The term [N m], >= 0, from the motor's torque at the joint and the load's torque on it [N m]."""


class NoLoadFriction(AbstractLoadFriction):
    """Friction does not depend on load; params are `None`."""

    def share(self, params: None, motor_torque: Scalar, external_torque: Scalar) -> Scalar:
        del params, external_torque
        return jnp.zeros_like(motor_torque)


class SymmetricLoadFrictionParams(eqx.Module):
    """`load_friction` K_l [1]: friction per torque that the gear carries."""

    load_friction: Parameter = nonnegative("1")


class SymmetricLoadFriction(AbstractLoadFriction):
    """K_l |tm - te|: the same whichever side drives (BAM model M3)."""

    def share(self, params: SymmetricLoadFrictionParams, motor_torque: Scalar, external_torque: Scalar) -> Scalar:
        return params.load_friction * jnp.abs(motor_torque - external_torque)


class DirectionalLoadFrictionParams(eqx.Module):
    """`motor_load_friction` K_m and `external_load_friction` K_e [1]: friction per torque of either side."""

    motor_load_friction: Parameter = nonnegative("1")
    external_load_friction: Parameter = nonnegative("1")


class DirectionalLoadFriction(AbstractLoadFriction):
    """|K_m tm - K_e te|: driving and being driven lose differently (BAM model M5)."""

    def share(self, params: DirectionalLoadFrictionParams, motor_torque: Scalar, external_torque: Scalar) -> Scalar:
        return jnp.abs(params.motor_load_friction * motor_torque - params.external_load_friction * external_torque)


class QuadraticLoadFrictionParams(eqx.Module):
    """`motor_quadratic_friction` K_mq and `external_quadratic_friction` K_eq [1/(N m)]."""

    motor_quadratic_friction: Parameter = nonnegative("1/(N m)")
    external_quadratic_friction: Parameter = nonnegative("1/(N m)")


class QuadraticLoadFriction(AbstractLoadFriction):
    """While the torques oppose each other: K_eq te^2 where the motor's is larger, K_mq tm^2 where it is not (BAM model
    M6, harmonic drives)."""

    def share(self, params: QuadraticLoadFrictionParams, motor_torque: Scalar, external_torque: Scalar) -> Scalar:
        driven = params.external_quadratic_friction * external_torque**2
        back_driven = params.motor_quadratic_friction * motor_torque**2
        larger = jnp.abs(motor_torque) > jnp.abs(external_torque)
        opposed = motor_torque * external_torque < 0
        return jnp.where(opposed, jnp.where(larger, driven, back_driven), jnp.zeros_like(motor_torque))
