"""The exponential ratios of exact steps, with values and gradients that survive zero in float32 and float64.

`(exp(x) - 1) / x` loses all digits near zero and its gradient there is NaN; the branches below meet where both are
exact to rounding.
"""

import math

import jax
import jax.numpy as jnp

from ._stage import Scalar

_SERIES_BELOW = 0.2
_TERMS = 11


def phis(x: Scalar) -> tuple[Scalar, Scalar]:
    """phi1(x) = (e^x - 1) / x and phi2(x) = (e^x - 1 - x) / x^2 from one exponential; 1 and 1/2 at zero.

    phi1 is the mean of e^(x s) over 0 <= s <= 1, phi2 that of (1 - s) e^(x s). Near zero the series of phi2 serves
    both, phi1 = 1 + x phi2; away from zero phi2 = (phi1 - 1) / x, divided twice so that x^2 cannot overflow.
    """
    return _phis(x)


@jax.custom_jvp
def _phis(x):
    small = jnp.abs(x) < _SERIES_BELOW
    near = jnp.where(small, x, jnp.zeros_like(x))
    series = jnp.full_like(near, 1 / math.factorial(_TERMS + 2))
    for k in range(_TERMS - 1, -1, -1):
        series = series * near + 1 / math.factorial(k + 2)
    far = jnp.where(small, jnp.ones_like(x), x)
    first = jnp.expm1(far) / far
    return jnp.where(small, 1 + near * series, first), jnp.where(small, series, (first - 1) / far)


@_phis.defjvp
def _(primals, tangents):
    # phi1' = phi1 - phi2 and phi2' = (phi1 - 2 phi2) / x, near zero by its series. Differentiating the series above
    # would go through it term by term.
    (x,), (dx,) = primals, tangents
    first, second = _phis(x)
    small = jnp.abs(x) < _SERIES_BELOW
    near = jnp.where(small, x, jnp.zeros_like(x))
    series = jnp.full_like(near, _TERMS / math.factorial(_TERMS + 2))
    for k in range(_TERMS - 1, 0, -1):
        series = series * near + k / math.factorial(k + 2)
    far = jnp.where(small, jnp.ones_like(x), x)
    slope = jnp.where(small, series, (first - 2 * second) / far)
    return (first, second), ((first - second) * dx, slope * dx)


def phi1(x: Scalar) -> Scalar:
    """(e^x - 1) / x, with value 1 at 0."""
    return phis(x)[0]


def phi2(x: Scalar) -> Scalar:
    """(e^x - 1 - x) / x^2, with value 1/2 at 0."""
    return phis(x)[1]


def log1p_ratio(x: Scalar) -> Scalar:
    """log(1 + x) / x for x > -1, with value 1 at 0."""
    small = jnp.abs(x) < 1e-3
    y = jnp.where(small, jnp.ones_like(x), x)
    series = 1 - x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5 - x / 6))))
    return jnp.where(small, series, jnp.log1p(y) / y)
