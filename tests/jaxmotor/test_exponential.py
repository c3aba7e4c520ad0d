"""The exponential ratios against fifty-digit arithmetic, in both precisions, with their gradients at zero."""

import decimal
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotor._exponential import log1p_ratio, phi1, phi2

decimal.getcontext().prec = 80
POINTS = [s * 10.0**e for e in range(-12, 2) for s in (-1, 1, -3.7, 2.2)] + [
    0.0,
    0.2,
    -0.2,
    0.1999,
    -0.2001,
    30.0,
    -80.0,
]


def reference(name, x):
    """The exact value at the float `x`."""
    x = decimal.Decimal(x)
    if x == 0:
        return {"phi1": 1.0, "phi2": 0.5, "log1p_ratio": 1.0}[name]
    if name == "log1p_ratio":
        return float((1 + x).ln() / x)
    ratio = (x.exp() - 1) / x
    return float(ratio if name == "phi1" else (ratio - 1) / x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [phi1, phi2, log1p_ratio], ids=lambda f: f.__name__)
def test_values(function, dtype):
    points = np.array([x for x in POINTS if function is not log1p_ratio or x > -1], dtype)
    expected = np.array([reference(function.__name__, float(x)) for x in points])
    got = jax.vmap(function)(jnp.asarray(points))
    assert got.dtype == dtype
    # Just outside its series phi2 is a difference that loses one digit.
    ulps = 32 if function is phi2 else 8
    np.testing.assert_allclose(np.asarray(got, float), expected, rtol=ulps * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("function", "slope", "curvature"),
    [(phi1, 1 / 2, 1 / 3), (phi2, 1 / 6, 1 / 12), (log1p_ratio, -1 / 2, 2 / 3)],
    ids=["phi1", "phi2", "log1p_ratio"],
)
def test_derivatives_at_zero(function, slope, curvature, dtype):
    zero = jnp.zeros((), dtype)
    assert jax.grad(function)(zero) == pytest.approx(slope, rel=1e-6)
    assert jax.jacfwd(function)(zero) == pytest.approx(slope, rel=1e-6)
    assert jax.grad(jax.grad(function))(zero) == pytest.approx(curvature, rel=1e-6)


@pytest.mark.parametrize("x", [-700.0, -50.0, -0.2, -1e-9, 1e-9, 0.2, 3.0])
def test_gradient_is_the_derivative(x):
    def slope(f, order):
        """phi_k' = phi_k - k phi_(k+1), written with exact values."""
        y = decimal.Decimal(x)
        one = (y.exp() - 1) / y
        two = (one - 1) / y
        three = (two - decimal.Decimal(1) / 2) / y
        return float(one - two) if order == 1 else float(two - 2 * three)

    assert jax.grad(phi1)(x) == pytest.approx(slope(phi1, 1), rel=1e-11)
    assert jax.grad(phi2)(x) == pytest.approx(slope(phi2, 2), rel=1e-11)


def test_large_arguments_stay_finite():
    x = jnp.asarray([-1e30, -1e10, -1e4], jnp.float32)
    for function in (phi1, phi2):
        assert np.all(np.isfinite(jax.vmap(function)(x)))
        assert np.all(np.isfinite(jax.vmap(jax.grad(function))(x)))
    assert float(log1p_ratio(jnp.asarray(1e30))) == pytest.approx(math.log(1e30) / 1e30)
