"""Loads of one joint: inertia, the torque they put on the joint, and their own damping."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, nonnegative, real
from ._stage import Scalar


class AbstractLoad(eqx.Module):
    """A load with one degree of freedom; no state of its own."""

    @abc.abstractmethod
    def inertia(self, params: Any, qpos: Scalar) -> Scalar:
        """Inertia about the joint [kg m^2], rotor left aside."""

    @abc.abstractmethod
    def external_torque(self, params: Any, qpos: Scalar) -> Scalar:
        """Torque on the joint that depends on its angle, such as gravity [N m]."""

    @abc.abstractmethod
    def damping(self, params: Any) -> Scalar:
        """Viscous damping of the load [N m s/rad]."""


class RigidLoadParams(eqx.Module):
    """`inertia` [kg m^2]; `damping` [N m s/rad]."""

    inertia: Parameter = nonnegative("kg m^2")
    damping: Parameter = nonnegative("N m s/rad", default=0.0)


class RigidLoad(AbstractLoad):
    """A balanced inertia on the joint."""

    def inertia(self, params: RigidLoadParams, qpos: Scalar) -> Scalar:
        del qpos
        return params.inertia

    def external_torque(self, params: RigidLoadParams, qpos: Scalar) -> Scalar:
        del params
        return jnp.zeros_like(qpos)

    def damping(self, params: RigidLoadParams) -> Scalar:
        return params.damping


class PendulumParams(eqx.Module):
    """`mass` [kg] at `length` [m], own `inertia` [kg m^2], uniform `arm_mass` [kg] of that length, `damping`
    [N m s/rad], `gravity` [m/s^2], `offset` [rad] of the angle sensor."""

    mass: Parameter = nonnegative("kg")
    length: Parameter = nonnegative("m")
    inertia: Parameter = nonnegative("kg m^2", default=0.0)
    arm_mass: Parameter = nonnegative("kg", default=0.0)
    damping: Parameter = nonnegative("N m s/rad", default=0.0)
    gravity: Parameter = real("m/s^2", default=9.81)
    offset: Parameter = real("rad", default=0.0)


class Pendulum(AbstractLoad):
    """A point mass on an arm; qpos = 0 hangs down.

    M = J + m l^2 + m_arm l^2 / 3, torque = -(m + m_arm / 2) g l sin(q + offset) (the BAM test bench,
    bam/testbench.py).
    """

    def inertia(self, params: PendulumParams, qpos: Scalar) -> Scalar:
        del qpos
        return params.inertia + (params.mass + params.arm_mass / 3) * params.length**2

    def external_torque(self, params: PendulumParams, qpos: Scalar) -> Scalar:
        weight = (params.mass + params.arm_mass / 2) * params.gravity
        return -weight * params.length * jnp.sin(qpos + params.offset)

    def damping(self, params: PendulumParams) -> Scalar:
        return params.damping


class UnbalancedLoadParams(eqx.Module):
    """`inertia` [kg m^2] about the joint, all included; `unbalance` m g c [N m], the weight's largest torque;
    `damping` [N m s/rad]; `offset` [rad] of the angle sensor."""

    inertia: Parameter = nonnegative("kg m^2")
    unbalance: Parameter = nonnegative("N m")
    damping: Parameter = nonnegative("N m s/rad", default=0.0)
    offset: Parameter = real("rad", default=0.0)


class UnbalancedLoad(AbstractLoad):
    """A rigid body of unknown shape on the joint: inertia and weight are two numbers; qpos = 0 hangs down.

    torque = -m g c sin(q + offset), the compound pendulum about a fixed axis.
    """

    def inertia(self, params: UnbalancedLoadParams, qpos: Scalar) -> Scalar:
        del qpos
        return params.inertia

    def external_torque(self, params: UnbalancedLoadParams, qpos: Scalar) -> Scalar:
        return -params.unbalance * jnp.sin(qpos + params.offset)

    def damping(self, params: UnbalancedLoadParams) -> Scalar:
        return params.damping
