"""Levenberg-Marquardt as an Optax transformation, on problems whose answers are known."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from sysid._levenberg_marquardt import levenberg_marquardt
from sysid._normal_equations import NormalEquations, Point


def _walk(residual, start, steps=40, **options):
    """Every iterate and its cost for a problem without initial states."""
    solver = levenberg_marquardt(**options)

    def value(point):
        return jnp.sum(residual(point.coordinates) ** 2) / 2

    @jax.jit
    def advance(point, state):
        found, slope = residual(point.coordinates), jax.jacfwd(residual)(point.coordinates)
        none = jnp.zeros((1, 0))
        normal = NormalEquations(
            slope.T @ slope, jnp.zeros((1, slope.shape[1], 0)), jnp.zeros((1, 0, 0)), slope.T @ found, none
        )
        gradient = Point(normal.shared_gradient, none)
        updates, state = solver.update(gradient, state, point, normal=normal, value=value(point), value_fn=value)
        return optax.apply_updates(point, updates), state

    point = Point(jnp.asarray(start, float), jnp.zeros((1, 0)))
    state, costs, points = solver.init(point), [], []
    for _ in range(steps):
        costs.append(float(value(point)))
        points.append(np.asarray(point.coordinates))
        point, state = advance(point, state)
    return np.array(points), np.array(costs), state


def _rosenbrock(x):
    return jnp.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def test_rosenbrock():
    points, costs, _ = _walk(_rosenbrock, [-1.2, 1.0])
    np.testing.assert_allclose(points[-1], [1.0, 1.0], rtol=1e-8)
    assert np.all(np.diff(costs) <= 0)


def test_a_linear_problem_takes_few_steps():
    matrix = jnp.asarray(np.random.default_rng(0).standard_normal((20, 3)) * [1, 1e3, 1e-3])
    wanted = jnp.asarray([0.5, -0.2, 0.8])
    points, _, _ = _walk(lambda x: matrix @ (x - wanted), [0.0, 0.0, 0.0], steps=8)
    np.testing.assert_allclose(points[-1], wanted, rtol=1e-6)


def test_no_step_is_longer_than_it_may():
    points, costs, _ = _walk(lambda x: x - 100.0, [0.0], steps=20, largest_move=2.0)
    assert np.max(np.abs(np.diff(points, axis=0))) <= 2.0 + 1e-12
    assert np.all(np.diff(costs) <= 0)


def test_a_wall_of_nan_is_stepped_around():
    points, costs, _ = _walk(lambda x: jnp.where(x < 3.0, x - 2.5, jnp.nan), [0.0], damping=1e-6)
    np.testing.assert_allclose(points[-1], [2.5], atol=1e-6)
    assert np.all(np.isfinite(costs))


def test_a_flat_problem_stays_and_stays_finite():
    points, _, state = _walk(lambda x: jnp.zeros_like(x) + 1.0, [0.3, 0.4])
    np.testing.assert_array_equal(points[-1], [0.3, 0.4])
    assert np.isfinite(float(state.damping))
