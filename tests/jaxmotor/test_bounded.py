"""A clip and its derivative: inside, beyond either bound, on a bound, with bounds that are infinite or move."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotor._bounded import bounded


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("x", "lower", "upper", "slopes"),
    [
        (0.5, -1.0, 2.0, (1, 0, 0)),
        (-3.0, -1.0, 2.0, (0, 1, 0)),
        (7.0, -1.0, 2.0, (0, 0, 1)),
        # On a bound it still moves, both to the inside and, as a limit is reached, with the bound left aside.
        (-1.0, -1.0, 2.0, (1, 0, 0)),
        (2.0, -1.0, 2.0, (1, 0, 0)),
        # Without room it does not move: symmetric bounds leave nothing, two that move alike take it along.
        (0.0, 0.0, 0.0, (0, 0.5, 0.5)),
        (-3.0, -3.0, -3.0, (0, 0.5, 0.5)),
        (7.0, -np.inf, np.inf, (1, 0, 0)),
        (np.inf, -1.0, 2.0, (0, 0, 1)),
    ],
)
def test_value_and_slopes(x, lower, upper, slopes, dtype):
    at = [jnp.asarray(v, dtype) for v in (x, lower, upper)]
    assert bounded(*at) == np.clip(*at)
    assert bounded(*at).dtype == dtype
    every = (0, 1, 2)
    for derivative in (jax.grad(bounded, every), jax.jit(jax.grad(bounded, every)), jax.jacfwd(bounded, every)):
        assert tuple(float(slope) for slope in derivative(*at)) == slopes


def test_no_number_stays_none():
    assert np.isnan(bounded(*map(jnp.asarray, (jnp.nan, -1.0, 1.0))))
    assert np.isnan(bounded(*map(jnp.asarray, (0.0, jnp.nan, 1.0))))


def test_a_batch_and_difference_quotients():
    rng = np.random.default_rng(0)
    x, lower, width = rng.normal(0, 2, 200), rng.normal(-1, 0.3, 200), rng.uniform(0.5, 2, 200)

    def total(x, lower, width):
        return jnp.sum(jnp.sin(jax.vmap(bounded)(x, lower, lower + width)))

    got = jax.grad(total, (0, 1, 2))(x, lower, width)
    h = 1e-6
    for k in range(3):
        for j in range(0, 200, 7):
            moved = [np.array(v) for v in (x, lower, width)]
            moved[k][j] += h
            ahead = total(*moved)
            moved[k][j] -= 2 * h
            assert float(got[k][j]) == pytest.approx(float(ahead - total(*moved)) / (2 * h), abs=1e-7)
