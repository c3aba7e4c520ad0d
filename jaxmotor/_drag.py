"""Drag: a loss torque that is a smooth odd polynomial of speed, with coefficients of the motor side."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, nonnegative
from ._stage import Scalar


class AbstractDrag(eqx.Module):
    """Drag at the joint; no state. Kept apart from the motor torque because integrators treat it implicitly."""

    @abc.abstractmethod
    def torque(self, params: Any, ratio: Scalar, qvel: Scalar) -> Scalar:
        """Drag torque at the joint [N m], opposing the joint speed `qvel` [rad/s]; `ratio` is that of the gear."""


class NoDrag(AbstractDrag):
    """No drag; params are `None`."""

    def torque(self, params: None, ratio: Scalar, qvel: Scalar) -> Scalar:
        del params, ratio
        return jnp.zeros_like(qvel)


class ViscousDragParams(eqx.Module):
    """`viscous_damping` B1 [N m s/rad], motor side."""

    viscous_damping: Parameter = nonnegative("N m s/rad")


class ViscousDrag(AbstractDrag):
    """tau = -B1 N^2 w (MuJoCo DC motor note, "Mechanical losses", first order)."""

    def torque(self, params: ViscousDragParams, ratio: Scalar, qvel: Scalar) -> Scalar:
        return -params.viscous_damping * ratio**2 * qvel


class PolynomialDragParams(eqx.Module):
    """`viscous_damping` B1 [N m s/rad], `quadratic_drag` B2 [N m s^2/rad^2], `cubic_drag` B3 [N m s^3/rad^3], motor
    side."""

    viscous_damping: Parameter = nonnegative("N m s/rad")
    quadratic_drag: Parameter = nonnegative("N m s^2/rad^2")
    cubic_drag: Parameter = nonnegative("N m s^3/rad^3")


def _polynomial(params: PolynomialDragParams, speed: Scalar) -> Scalar:
    return speed * (
        params.viscous_damping + params.quadratic_drag * jnp.abs(speed) + params.cubic_drag * jnp.square(speed)
    )


class PolynomialDrag(AbstractDrag):
    """tau = -N^2 w (B1 + B2 |w| + B3 w^2) with the joint speed w: MuJoCo's rule, every order scaled by N^2."""

    def torque(self, params: PolynomialDragParams, ratio: Scalar, qvel: Scalar) -> Scalar:
        return -(ratio**2) * _polynomial(params, qvel)


class MotorSideDrag(AbstractDrag):
    """The polynomial of the note acting on the motor shaft: tau = -N p(N w), so the orders scale with N^2, N^3, N^4."""

    def torque(self, params: PolynomialDragParams, ratio: Scalar, qvel: Scalar) -> Scalar:
        return -ratio * _polynomial(params, ratio * qvel)
