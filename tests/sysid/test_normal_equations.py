"""Shared unknowns and those of single segments, solved apart as if together."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sysid._normal_equations import NormalEquations


def _made(segments=5, shared=4, own=2, seed=0, scale=1.0):
    generator = np.random.default_rng(seed)
    rows = 30
    size = np.geomspace(1, scale, shared)
    left = generator.standard_normal((segments, rows, shared)) * size
    right = generator.standard_normal((segments, rows, own))
    residual = generator.standard_normal((segments, rows))
    normal = NormalEquations(
        jnp.asarray(np.einsum("sra,srb->ab", left, left)),
        jnp.asarray(np.einsum("sra,srb->sab", left, right)),
        jnp.asarray(np.einsum("sra,srb->sab", right, right)),
        jnp.asarray(np.einsum("sra,sr->a", left, residual)),
        jnp.asarray(np.einsum("sra,sr->sa", right, residual)),
    )
    dense = np.zeros((segments * rows, shared + segments * own))
    for s in range(segments):
        part = slice(s * rows, (s + 1) * rows)
        dense[part, :shared] = left[s]
        dense[part, shared + s * own : shared + (s + 1) * own] = right[s]
    return normal, dense, residual.reshape(-1)


@pytest.mark.parametrize("damping", [0.0, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1.0, 1e8])
def test_step_is_that_of_the_dense_system(damping, scale):
    normal, dense, residual = _made(scale=scale)
    hessian = dense.T @ dense
    size = np.sqrt(np.diagonal(hessian))
    damped = hessian / np.outer(size, size) + damping * np.eye(len(size))
    expected = -np.linalg.solve(damped, dense.T @ residual / size) / size
    step = normal.step(jnp.asarray(damping))
    found = np.concatenate([np.asarray(step.coordinates), np.asarray(step.initial).reshape(-1)])
    np.testing.assert_allclose(found * size, expected * size, rtol=1e-8, atol=1e-10)


def test_a_coordinate_without_effect_stays():
    normal, _, _ = _made()
    dead = NormalEquations(
        normal.shared.at[1].set(0.0).at[:, 1].set(0.0),
        normal.mixed.at[:, 1].set(0.0),
        normal.own,
        normal.shared_gradient.at[1].set(0.0),
        normal.own_gradient,
    )
    step = dead.step(jnp.asarray(1e-2))
    assert float(step.coordinates[1]) == 0.0
    assert np.all(np.isfinite(np.asarray(step.coordinates)))


def test_without_initial_states():
    normal, dense, residual = _made(own=1)
    bare = NormalEquations(
        normal.shared,
        normal.mixed[..., :0],
        normal.own[..., :0, :0],
        normal.shared_gradient,
        normal.own_gradient[:, :0],
    )
    left = dense[:, :4]
    expected = -np.linalg.lstsq(left, residual, rcond=None)[0]
    np.testing.assert_allclose(bare.step(jnp.asarray(0.0)).coordinates, expected, rtol=1e-8)


def test_many_starts_at_once():
    normals = [_made(seed=s)[0] for s in range(3)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *normals)
    together = jax.vmap(lambda n: n.step(jnp.asarray(0.1)))(stacked)
    for s, normal in enumerate(normals):
        np.testing.assert_allclose(together.coordinates[s], normal.step(jnp.asarray(0.1)).coordinates, rtol=1e-10)
