"""The space in which a free parameter moves: every point of it is an admissible value.

`value` maps the coordinate that the solver moves to the physical value, `coordinate` maps it back.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

_REACH = 30.0
"""Logit coordinates stay within this of the middle, where the map is still one to one in float64."""


class AbstractBijector(eqx.Module):
    """A smooth one-to-one map from the real line to the admissible values of one parameter.

    Its numbers are leaves, so fits that differ only in bounds share one compiled program.
    """

    @abc.abstractmethod
    def value(self, coordinate: Float[Array, "*n"]) -> Float[Array, "*n"]:
        """The physical value at a coordinate."""

    @abc.abstractmethod
    def coordinate(self, value: Float[Array, "*n"]) -> Float[Array, "*n"]:
        """The coordinate of a physical value that lies strictly inside the bounds."""


class Affine(AbstractBijector):
    """A signed parameter: value = scale x coordinate."""

    scale: Float[Array, ""]

    def value(self, coordinate: Float[Array, "*n"]) -> Float[Array, "*n"]:
        return self.scale * coordinate

    def coordinate(self, value: Float[Array, "*n"]) -> Float[Array, "*n"]:
        return value / self.scale


class Logarithm(AbstractBijector):
    """A positive parameter: value = e^coordinate, never below `floor`, where it no longer shows in any data."""

    floor: Float[Array, ""]

    def value(self, coordinate: Float[Array, "*n"]) -> Float[Array, "*n"]:
        return jnp.exp(jnp.maximum(coordinate, jnp.log(self.floor)))

    def coordinate(self, value: Float[Array, "*n"]) -> Float[Array, "*n"]:
        return jnp.log(value)


class Logit(AbstractBijector):
    """A parameter between two bounds: value = lower + (upper - lower) / (1 + e^-coordinate)."""

    lower: Float[Array, ""]
    upper: Float[Array, ""]

    def value(self, coordinate: Float[Array, "*n"]) -> Float[Array, "*n"]:
        bounded = jnp.clip(coordinate, -_REACH, _REACH)
        return self.lower + (self.upper - self.lower) * jax.nn.sigmoid(bounded)

    def coordinate(self, value: Float[Array, "*n"]) -> Float[Array, "*n"]:
        share = (value - self.lower) / (self.upper - self.lower)
        return jnp.log(share) - jnp.log1p(-share)
