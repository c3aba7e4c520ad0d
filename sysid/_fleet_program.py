"""Many fits of one shape as one program: motors side by side, split over the devices of a mesh."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Bool, Float, Shaped

from ._batch import Batch
from ._compiled import compiled
from ._problem import Problem
from ._residual import curvature, difference, soft_l1, weight

_UNROLL = 4
"""Rows that are added up in one turn of a loop: in every row the passage of the sums through memory would cost more."""


class Part(eqx.Module):
    """What motors that run at once are fitted to: their `batch` (motor, piece, ...), and the rows at which the motion
    returns to the measured one, `reset`."""

    batch: Batch
    reset: Bool[Array, "motor piece time"]


class Loss(eqx.Module):
    """In what residuals count: `sigma` and `bend` (motor, channel) as in `Scales`; `near` (motor,) where a motor is so
    near to its optimum that the loss may count with its own second derivative, which is Newton's method."""

    sigma: Float[Array, "motor channel"]
    bend: Float[Array, "motor channel"]
    near: Bool[Array, " motor"]


class Sums(eqx.Module):
    """The misfit of every piece at one point: per channel the sum of `squares` of its residuals, its `cost`, and
    `gradient` and `curvature` in the coordinates of its motor and its own initial states."""

    squares: Float[Array, "motor piece channel"]
    cost: Float[Array, "motor piece"]
    gradient: Float[Array, "motor piece unknown"]
    curvature: Float[Array, "motor piece unknown unknown"]


def _flat(tree: Any) -> Any:
    """Motors and their pieces on one axis."""
    return jax.tree_util.tree_map(lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]), tree)


def _split(function: Callable[..., Any], mesh: Mesh) -> Callable[..., Any]:
    """`function` of a problem and of arrays whose first axis is motors; each device runs it on its own part and talks
    to no other."""
    part = PartitionSpec(mesh.axis_names)

    def parted(problem: Problem, *given: Any) -> Any:
        arrays, structure = eqx.partition(problem, eqx.is_array)

        def own(arrays, *given):
            return function(eqx.combine(arrays, structure), *given)

        specs = (PartitionSpec(), *(part for _ in given))
        return jax.shard_map(own, mesh=mesh, in_specs=specs, out_specs=part, check_vma=False)(arrays, *given)

    return parted


def _residuals(problem: Problem, segment: Batch, reset: Any, sigma: Any, unknown: Any) -> dict[str, Any]:
    size = segment.pick.shape[-1]
    predicted = problem.predict(unknown[:size], unknown[size:], segment, reset)
    return {
        name: difference(predicted[name], channel) / sigma[k]
        for k, (name, channel) in enumerate(segment.channels.items())
    }


def _unknown(local: Float[Array, "motor local"], initial: Float[Array, "motor piece m"]) -> Float[Array, "segment u"]:
    spread = jnp.broadcast_to(local[:, None], (*initial.shape[:2], local.shape[1]))
    return _flat(jnp.concatenate([spread, initial], axis=-1))


def _of_pieces(values: Shaped[Array, "motor *n"], pieces: int) -> Shaped[Array, "segment *n"]:
    return jnp.repeat(values, pieces, axis=0)


def _seen(
    problem: Problem, part: Part, sigma: Any, local: Any, initial: Any
) -> Float[Array, "motor piece channel time"]:
    pieces = initial.shape[1]
    found = jax.vmap(lambda *given: _residuals(problem, *given))(
        _flat(part.batch), _flat(part.reset), _of_pieces(sigma, pieces), _unknown(local, initial)
    )
    return jnp.stack(list(found.values()), axis=1).reshape(-1, pieces, len(found), part.reset.shape[-1])


def _summed(problem: Problem, part: Part, loss: Loss, local: Any, initial: Any) -> Sums:
    pieces = initial.shape[1]
    batch, reset = _flat(part.batch), _flat(part.reset)
    sigma, bend, near = (_of_pieces(x, pieces) for x in (loss.sigma, loss.bend, loss.near))
    unknown = _unknown(local, initial)
    segments, size = unknown.shape

    def residuals(unknown):
        return jax.vmap(lambda *given: _residuals(problem, *given))(batch, reset, sigma, unknown)

    def along(direction):
        return jax.jvp(residuals, (unknown,), (jnp.broadcast_to(direction, unknown.shape),))

    # Unknowns in front and segments behind, so that what does not depend on an unknown is read as it lies in memory.
    values, slopes = jax.vmap(along, out_axes=(None, 0))(jnp.eye(size, dtype=unknown.dtype))

    def add(sums, row):
        squares, cost, gradient, bends = sums
        squares = squares + jnp.stack([value**2 for value, _ in row])
        for k, (value, slope) in enumerate(row):
            by = bend[:, k]
            pulled = weight(value, by)
            cost = cost + soft_l1(value, by)
            counted = jnp.where(near, curvature(value, by), pulled)
            gradient = gradient + slope * (pulled * value)[None]
            bends = bends + (slope * counted[None])[:, None] * slope[None]
        return (squares, cost, gradient, bends), None

    shapes = ((len(values),), (), (size,), (size, size))
    blank = tuple(jnp.zeros((*shape, segments), unknown.dtype) for shape in shapes)
    rows = [(jnp.moveaxis(values[name], -1, 0), jnp.moveaxis(slopes[name], -1, 0)) for name in values]
    sums, _ = jax.lax.scan(add, blank, rows, unroll=_UNROLL)
    return Sums(*(jnp.moveaxis(x, -1, 0).reshape(-1, pieces, *x.shape[:-1]) for x in sums))


@compiled
def residuals(
    problem: Problem,
    part: Part,
    sigma: Float[Array, "motor channel"],
    local: Float[Array, "motor local"],
    initial: Float[Array, "motor piece m"],
    mesh: Mesh,
) -> Float[Array, "motor piece channel time"]:
    """Residuals of every motor at its point, in its `sigma`."""
    return _split(_seen, mesh)(problem, part, sigma, local, initial)


@compiled
def summed(
    problem: Problem,
    part: Part,
    loss: Loss,
    local: Float[Array, "motor local"],
    initial: Float[Array, "motor piece m"],
    mesh: Mesh,
) -> Sums:
    """Cost, gradient and curvature of the misfit of every motor at its point, by forward mode and summed row by row."""
    return _split(_summed, mesh)(problem, part, loss, local, initial)
