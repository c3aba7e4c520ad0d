"""The largest voltage that a drive's electronics ask for."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, positive_or_infinite
from ._stage import Scalar


class AbstractVoltageLimit(eqx.Module):
    """A bound on the voltage that a controller computes; the bus is another, in the supply."""

    @abc.abstractmethod
    def bound(self, params: Any, like: Scalar) -> Scalar:
        """Largest magnitude of the voltage [V], of the shape and type of `like`."""


class NoVoltageLimit(AbstractVoltageLimit):
    """The controller asks for any voltage; params are `None`."""

    def bound(self, params: None, like: Scalar) -> Scalar:
        del params
        return jnp.full_like(like, jnp.inf)


class VoltageLimitParams(eqx.Module):
    """`voltage_limit` v_max [V], may be infinite."""

    voltage_limit: Parameter = positive_or_infinite("V")


class VoltageLimit(AbstractVoltageLimit):
    """v <- clip(v, +-v_max) (MuJoCo DC motor note, "Voltage Saturation")."""

    def bound(self, params: VoltageLimitParams, like: Scalar) -> Scalar:
        del like
        return params.voltage_limit
