"""Dry friction at the joint: a budget that the load spends.

It cannot be a torque: at rest it is whatever holds the joint, up to its budget, and the budget may depend on the
torque that the gear transmits, which only the load knows.
"""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, nonnegative
from ._stage import Scalar


class AbstractDryFriction(eqx.Module):
    """Dry friction; no state."""

    @abc.abstractmethod
    def budget(self, params: Any, qvel: Scalar, motor_torque: Scalar, external_torque: Scalar) -> Scalar:
        """The largest friction torque [N m], >= 0, at joint speed `qvel` [rad/s], with the motor's torque at the joint
        and the load's torque on it [N m]."""


class NoDryFriction(AbstractDryFriction):
    """No dry friction; params are `None`."""

    def budget(self, params: None, qvel: Scalar, motor_torque: Scalar, external_torque: Scalar) -> Scalar:
        del params, motor_torque, external_torque
        return jnp.zeros_like(qvel)


class CoulombFrictionParams(eqx.Module):
    """`coulomb_friction` [N m] at the joint."""

    coulomb_friction: Parameter = nonnegative("N m")


class CoulombFriction(AbstractDryFriction):
    """A constant budget, the same at rest and in motion (MuJoCo DC motor note, "Mechanical losses", Coulomb)."""

    def budget(
        self, params: CoulombFrictionParams, qvel: Scalar, motor_torque: Scalar, external_torque: Scalar
    ) -> Scalar:
        del motor_torque, external_torque
        return jnp.broadcast_to(params.coulomb_friction, qvel.shape)
