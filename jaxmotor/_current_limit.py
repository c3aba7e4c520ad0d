"""How a driver holds the winding current back: by giving the terminals less voltage."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, positive_or_infinite
from ._stage import Scalar
from ._winding import Response


class AbstractCurrentLimit(eqx.Module):
    """Bounds on the terminal voltage that keep the current inside its limit; carries no state."""

    @abc.abstractmethod
    def voltage_bounds(
        self, params: Any, response: Response, temperature: Scalar | None = None
    ) -> tuple[Scalar, Scalar]:
        """Lowest and highest terminal voltage [V] for which the step ends inside the current limit, with the winding at
        `temperature` [degC], `None` where no stage knows it."""

    @abc.abstractmethod
    def largest_current(self, params: Any, like: Scalar) -> Scalar:
        """Largest magnitude of the current [A] that it lets a cold winding have, of the shape and type of `like`."""


class NoCurrentLimit(AbstractCurrentLimit):
    """The driver does not measure current; params are `None`."""

    def voltage_bounds(
        self, params: None, response: Response, temperature: Scalar | None = None
    ) -> tuple[Scalar, Scalar]:
        del params, temperature
        infinite = jnp.full_like(response.offset, jnp.inf)
        return -infinite, infinite

    def largest_current(self, params: None, like: Scalar) -> Scalar:
        del params
        return jnp.full_like(like, jnp.inf)


def window(limit: Scalar, response: Response) -> tuple[Scalar, Scalar]:
    """The terminal voltages [V] for which |i| <= `limit` [A] at the end of the step; all of them if it is infinite."""
    finite = jnp.isfinite(limit)
    # An infinite limit must not meet the conductance: infinity times its zero cotangent is NaN in reverse mode.
    bound = jnp.where(finite, limit, jnp.zeros_like(limit))
    lower = (-bound - response.offset) / response.conductance
    upper = (bound - response.offset) / response.conductance
    infinite = jnp.full_like(upper, jnp.inf)
    return jnp.where(finite, lower, -infinite), jnp.where(finite, upper, infinite)


class CurrentLimitParams(eqx.Module):
    """`current_limit`: largest magnitude of the winding current [A], may be infinite."""

    current_limit: Parameter = positive_or_infinite("A")


class CurrentLimit(AbstractCurrentLimit):
    """|i| <= i_max by the voltage window (+-i_max - offset) / conductance around the back-EMF.

    Without inductance this is BAM's duty window (kt w +- R i_max) / v_bus (bam/actuator.py). The bus may still be too
    low to hold the current of a motor driven far beyond its no-load speed, as in a real bridge.
    """

    def voltage_bounds(
        self, params: CurrentLimitParams, response: Response, temperature: Scalar | None = None
    ) -> tuple[Scalar, Scalar]:
        del temperature
        return window(params.current_limit, response)

    def largest_current(self, params: CurrentLimitParams, like: Scalar) -> Scalar:
        return jnp.broadcast_to(params.current_limit, like.shape)
