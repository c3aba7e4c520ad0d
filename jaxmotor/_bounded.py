"""A clip whose derivative is a choice between three, not a mean of them."""

import jax
import jax.numpy as jnp

from ._stage import Scalar


def bounded(x: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    """`jnp.clip`; exactly on a bound its derivative is that of `x`.

    The derivatives of minimum and maximum share a tie out between their arguments, at the price of two divisions
    each: in the derivative of a step with seven limits these were most of all divisions.
    """
    return _bounded(x, lower, upper)


@jax.custom_jvp
def _bounded(x, lower, upper):
    return jnp.clip(x, lower, upper)


@_bounded.defjvp
def _(primals, tangents):
    (x, lower, upper), (dx, d_lower, d_upper) = primals, tangents
    return _bounded(x, lower, upper), jnp.where(x < lower, d_lower, jnp.where(x > upper, d_upper, dx))
