"""Weighted least squares in two groups of unknowns: shared coordinates, and initial states of single segments.

The second group meets the first only through its own segment, so it is eliminated segment by segment (Schur
complement): a thousand windows cost no more than a thousand small solves.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Point(eqx.Module):
    """The unknowns: `coordinates` of the free parameters, and `initial` states of each segment in units of their
    width; several starts in front."""

    coordinates: Float[Array, "*start n"]
    initial: Float[Array, "*start segment m"]


class NormalEquations(eqx.Module):
    """H = [[A, B_s], [B_s', C_s]] and g of a weighted least-squares problem, segments s apart."""

    shared: Float[Array, "n n"]
    mixed: Float[Array, "segment n m"]
    own: Float[Array, "segment m m"]
    shared_gradient: Float[Array, " n"]
    own_gradient: Float[Array, "segment m"]

    def step(self, damping: Float[Array, ""]) -> Point:
        """-(H + damping diag(H))^-1 g (Marquardt's scaling: the same whatever the units)."""
        own = self.own + _diagonal(self.own, damping)
        # Both right sides at once: each solve is a program of its own to compile.
        right = jnp.concatenate([jnp.swapaxes(self.mixed, -1, -2), self.own_gradient[..., None]], axis=-1)
        both = jnp.linalg.solve(own, right)
        solved, solved_gradient = both[..., :-1], both[..., -1]
        shared = self.shared + _diagonal(self.shared, damping)
        reduced = shared - jnp.einsum("snm,smk->nk", self.mixed, solved)
        gradient = self.shared_gradient - jnp.einsum("snm,sm->n", self.mixed, solved_gradient)
        # In units of the diagonal the matrix is a correlation, which a plain solve takes at any scale of parameters.
        size = 1 / jnp.sqrt(jnp.maximum(jnp.diagonal(reduced), jnp.finfo(gradient.dtype).tiny))
        scaled = reduced * size[:, None] * size[None, :] + jnp.eye(size.shape[0], dtype=size.dtype) * 1e-13
        coordinates = -size * jnp.linalg.solve(scaled, size * gradient)
        initial = -solved_gradient - jnp.einsum("smn,n->sm", solved, coordinates)
        return Point(coordinates, initial)


def _diagonal(matrix: Float[Array, "*s n n"], damping: Float[Array, ""]) -> Float[Array, "*s n n"]:
    diagonal = jnp.diagonal(matrix, axis1=-2, axis2=-1)
    # A parameter without effect has a zero row: a floor keeps it where it is instead of dividing by zero.
    floor = jnp.finfo(matrix.dtype).tiny ** 0.5
    added = damping * diagonal + floor
    return jax.vmap(jnp.diag)(added) if added.ndim > 1 else jnp.diag(added)
