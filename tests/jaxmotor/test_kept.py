"""Values that compiled derivatives keep: nothing changes but the program, and that only where there is a derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotor._kept import kept, kept_sine, kept_value, ready

POINTS = [0.0, -0.0, 0.3, -2.5e7, 1e-30]


@pytest.mark.parametrize("kept", [kept, kept_value, ready])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("like", [1.0, -3.7, 0.0, 1e-30, np.inf])
def test_value_and_derivatives_are_exact(like, dtype, kept):
    like, points = jnp.asarray(like, dtype), jnp.asarray(POINTS, dtype)
    for x in points:
        for value, tangent in (
            (kept(x, like), None),
            jax.jvp(lambda x: kept(x, like), (x,), (jnp.asarray(0.7, dtype),)),
        ):
            assert value == x
            assert value.dtype == dtype
            assert tangent is None or (tangent == dtype(0.7) and tangent.dtype == dtype)
    np.testing.assert_array_equal(jax.jit(jax.vmap(jax.grad(kept), (0, None)))(points, like), np.ones(points.size))
    assert jax.grad(jax.grad(kept))(points[2], like) == 0
    assert jax.grad(kept, argnums=1)(points[2], like) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sine(dtype):
    like, points = jnp.asarray(-2.0, dtype), jnp.linspace(-40, 40, 41, dtype=dtype)
    near = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(jax.vmap(kept_sine, (0, None))(points, like), np.sin(points), atol=near)
    np.testing.assert_allclose(jax.vmap(jax.grad(kept_sine), (0, None))(points, like), np.cos(points), atol=near)
    pushed = jax.vmap(jax.jacfwd(kept_sine), (0, None))(points, like)
    np.testing.assert_allclose(pushed, np.cos(points), atol=near)
    whole = jax.grad(lambda x: jnp.sum(kept_sine(x, jnp.full_like(x, like))))(points)
    np.testing.assert_allclose(whole, np.cos(points), atol=near)
    bent = jax.vmap(jax.grad(jax.grad(kept_sine)), (0, None))(points, like)
    np.testing.assert_allclose(bent, -np.sin(points), atol=near)


@pytest.mark.parametrize("kept", [kept, kept_value])
def test_it_costs_nothing_without_a_derivative_and_survives_the_compiler_with_one(kept):
    def program(function):
        return jax.jit(function).lower(jnp.ones(8), jnp.ones(8)).compile().as_text()

    def run(x, like):
        return jnp.sum(jnp.square(jax.vmap(kept)(3 * x, like)))

    assert "divide" not in program(run)
    assert "divide" in program(jax.grad(run))


def test_what_is_ready_stops_the_sums_of_a_library():
    many = jnp.ones(4096, jnp.float32)

    def program(through):
        def loss(scale, x, like):
            return jnp.sum(jnp.square(scale * jax.vmap(through)(x * x - 3 / x, like)))

        return jax.jit(jax.grad(loss, (0, 1))).lower(jnp.float32(2), many, many).compile().as_text()

    assert " select(" not in program(lambda x, like: x)
    assert " select(" in program(ready)
    assert " select(" not in jax.jit(jax.vmap(lambda x, like: ready(x * x, like))).lower(many, many).compile().as_text()
