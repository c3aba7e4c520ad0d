"""How far a prediction is from a log, and what that costs."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ._batch import Batch, Channel, Scales

Row = Float[Array, " time"]


def difference(predicted: Row, channel: Channel) -> Row:
    """Predicted minus measured; zero where nothing was measured; one-sided where the sensor stood at its end."""
    gap = predicted - channel.measured
    zero = jnp.zeros_like(gap)
    gap = jnp.where(channel.censored > 0, jnp.minimum(gap, zero), gap)
    gap = jnp.where(channel.censored < 0, jnp.maximum(gap, zero), gap)
    return jnp.where(channel.usable, gap, zero)


def residuals(predicted: dict[str, Row], segment: Batch, scales: Scales) -> Float[Array, "channel time"]:
    """Differences of every compared channel in units of its sigma."""
    return jnp.stack(
        [difference(predicted[name], channel) / scales.sigma[name] for name, channel in segment.channels.items()]
    )


def bends(batch: Batch, scales: Scales) -> Float[Array, "1 channel 1"]:
    """The bend of each compared channel, to stand beside the residuals of all segments."""
    return jnp.stack([scales.bend[name] for name in batch.channels])[None, :, None]


def soft_l1(residual: Float[Array, "*n"], bend: Float[Array, "*m"]) -> Float[Array, "*n"]:
    """b^2 (sqrt(1 + (r/b)^2) - 1): r^2 / 2 within b of zero, b |r| far from it."""
    return bend**2 * (jnp.sqrt(1 + (residual / bend) ** 2) - 1)


def weight(residual: Float[Array, "*n"], bend: Float[Array, "*m"]) -> Float[Array, "*n"]:
    """Slope of `soft_l1` over the residual: what a residual counts in a weighted least-squares step."""
    return 1 / jnp.sqrt(1 + (residual / bend) ** 2)


def curvature(residual: Float[Array, "*n"], bend: Float[Array, "*m"]) -> Float[Array, "*n"]:
    """Second derivative of `soft_l1`."""
    return (1 + (residual / bend) ** 2) ** -1.5
