"""The exponential ratios of exact steps, with values and gradients that survive zero in float32 and float64.

`(exp(x) - 1) / x` loses all digits near zero and its gradient there is NaN; the branches below meet where both are
exact to rounding.
"""

import math

import jax.numpy as jnp
from jaxtyping import Array, Bool

from ._stage import Scalar

_SERIES_BELOW = 0.2
_TERMS = 11


def _guarded_series(x: Scalar, small: Bool[Array, ""], first: int) -> Scalar:
    """sum_k x^k / (k + first)!, by Horner, with the argument guarded away from large values."""
    y = jnp.where(small, x, jnp.zeros_like(x))
    total = jnp.full_like(y, 1 / math.factorial(_TERMS + first))
    for k in range(_TERMS - 1, -1, -1):
        total = total * y + 1 / math.factorial(k + first)
    return total


def phi1(x: Scalar) -> Scalar:
    """phi1(x) = (e^x - 1) / x, with phi1(0) = 1: the mean of e^(x s) over 0 <= s <= 1."""
    small = jnp.abs(x) < _SERIES_BELOW
    y = jnp.where(small, jnp.ones_like(x), x)
    return jnp.where(small, _guarded_series(x, small, 1), jnp.expm1(y) / y)


def phi2(x: Scalar) -> Scalar:
    """phi2(x) = (e^x - 1 - x) / x^2, with phi2(0) = 1/2: the mean of (1 - s) e^(x s), doubled integral of e^(x s)."""
    small = jnp.abs(x) < _SERIES_BELOW
    y = jnp.where(small, jnp.ones_like(x), x)
    # Dividing twice keeps the quotient finite where y * y would overflow.
    return jnp.where(small, _guarded_series(x, small, 2), (jnp.expm1(y) / y - 1) / y)


def log1p_ratio(x: Scalar) -> Scalar:
    """log(1 + x) / x for x > -1, with value 1 at 0."""
    small = jnp.abs(x) < 1e-3
    y = jnp.where(small, jnp.ones_like(x), x)
    series = 1 - x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5 - x / 6))))
    return jnp.where(small, series, jnp.log1p(y) / y)
