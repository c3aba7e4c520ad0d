"""From current to electrical torque."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, positive
from ._stage import Scalar


class AbstractTorqueLaw(eqx.Module):
    """Electrical torque of a current; no state."""

    @abc.abstractmethod
    def torque(self, params: Any, torque_constant: Scalar, current: Scalar) -> Scalar:
        """Torque [N m] of `current` [A] in a winding whose constant at small currents is `torque_constant` [N m/A]."""


class ProportionalTorque(AbstractTorqueLaw):
    """tau = Kt i; params are `None`."""

    def torque(self, params: None, torque_constant: Scalar, current: Scalar) -> Scalar:
        del params
        return torque_constant * current


class SaturatingTorqueParams(eqx.Module):
    """`saturation_current` i_s [A]: where the core begins to saturate."""

    saturation_current: Parameter = positive("A")


class SaturatingTorque(AbstractTorqueLaw):
    """tau = Kt i_s asinh(i / i_s), so Kt(i) = Kt asinh(x) / x with x = i / i_s: 0.88 Kt at i_s, 0.72 Kt at 2 i_s.

    The MuJoCo DC motor note leaves Kt(i) out ("Not modeled"); this form is smooth, odd, grows for ever and has a closed
    inverse. The back-EMF, measured at no current, keeps its constant. A drive that turns torque into current with the
    nameplate Kt does not know of it, as real ones do not.
    """

    def torque(self, params: SaturatingTorqueParams, torque_constant: Scalar, current: Scalar) -> Scalar:
        return torque_constant * params.saturation_current * jnp.arcsinh(current / params.saturation_current)
