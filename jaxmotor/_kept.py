"""Values that a compiled derivative keeps instead of working them out again.

Reverse mode sums every parameter in a loop of its own, and XLA's CPU compiler repeats in each of these loops all that
leads to it, back to the last division or exponential. So what many parameters are reached through passes a division
here: by a one that the compiler cannot know to be one. It is exact, and a rollout without derivatives does not contain
it. Sine and cosine cost that compiler nothing either, and are repeated like an addition.

`like` is any number of the same float type, finite or not; one that stays the same during the run is tested once.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._stage import Scalar


def kept(x: Scalar, like: Scalar) -> Scalar:
    """`x`; its derivatives compute it, and what is propagated through it, once."""
    return _kept(x, like)


def kept_value(x: Scalar, like: Scalar) -> Scalar:
    """`x`; its derivatives compute it once, but not what is propagated through it: forward mode, which propagates once
    anyway, is spared a loop."""
    return _kept_value(x, like)


def kept_sine(x: Float[Array, "..."], like: Float[Array, "..."]) -> Float[Array, "..."]:
    """sin(x), of any shape that `like` fits; its derivatives compute sine and cosine once."""
    return _kept_sine(x, like)


def ready(x: Scalar, like: Scalar) -> Scalar:
    """`x`; a derivative that sums products with it over many motors reads it from memory.

    XLA hands such a sum in float32 to a library, together with the additions, products and divisions that lead to it,
    and there each of these is a pass over memory of its own. At a choice between two numbers it stops.
    """
    return _ready(x, like)


def _one(like):
    # A comparison that fails for what is no number alone, so that its outcome may not be assumed.
    return jnp.where(like == like, jnp.ones_like(like), like)


def _same(rule):
    """x, and in a derivative what `rule(x, dx, like)` makes of it and of its tangent."""

    @jax.custom_jvp
    def same(x, like):
        del like
        return x

    @same.defjvp
    def _(primals, tangents):
        (x, like), (dx, _) = primals, tangents
        return rule(x, dx, like)

    return same


def _divided(x, dx, like):
    # Worked out once: two of them are not seen to be the same, and a gradient takes a tenth longer.
    one = _one(like)
    return x / one, dx / one


_kept = _same(_divided)
_kept_value = _same(lambda x, dx, like: (x / _one(like), dx))
_ready = _same(lambda x, dx, like: (jnp.where(like == like, x, like), dx))


@jax.custom_jvp
def _kept_sine(x, like):
    del like
    return jnp.sin(x)


@_kept_sine.defjvp
def _(primals, tangents):
    (x, like), (dx, _) = primals, tangents
    one = _one(like)
    return _kept_sine(x, like) / one, jnp.cos(x) / one * dx
