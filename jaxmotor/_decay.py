"""How a friction quantity fades with speed."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, positive
from ._stage import Scalar


class AbstractDecay(eqx.Module):
    """An even function of relative speed that is 1 at rest."""

    @abc.abstractmethod
    def left(self, params: Any, relative_speed: Scalar) -> Scalar:
        """What is left at speed over Stribeck velocity `relative_speed` [1]."""


class NoDecay(AbstractDecay):
    """The same at every speed; params are `None`."""

    def left(self, params: None, relative_speed: Scalar) -> Scalar:
        del params
        return jnp.ones_like(relative_speed)


class GaussianDecay(AbstractDecay):
    """e^(-x^2), smooth at rest (exponent 2 of the DC motor note, and all that MuJoCo has); params are `None`."""

    def left(self, params: None, relative_speed: Scalar) -> Scalar:
        del params
        return jnp.exp(-jnp.square(relative_speed))


class PowerDecayParams(eqx.Module):
    """`exponent` [1]: gamma of the Stribeck level or beta of the micro-damping, typically 1 or 2."""

    exponent: Parameter = positive("1")


class PowerDecay(AbstractDecay):
    """e^(-|x|^p) (DC motor note, "LuGre Model" and "Velocity-Dependent Damping")."""

    def left(self, params: PowerDecayParams, relative_speed: Scalar) -> Scalar:
        size = jnp.abs(relative_speed)
        moving = size > 0
        # A power has no finite derivative at zero for every exponent, and its logarithm none at all.
        power = jnp.where(moving, size, jnp.ones_like(size)) ** params.exponent
        return jnp.where(moving, jnp.exp(-power), jnp.ones_like(size))
