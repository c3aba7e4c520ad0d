"""Many fits of one shape as one program: motors side by side, split over the devices of a mesh."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Float

from ._batch import Batch, Channel
from ._normal_equations import Point
from ._problem import Problem
from ._solve import Solver, advance as advance_one, begin as begin_one


def lengthened(batch: Batch, rows: int) -> Batch:
    """The batch padded to so many rows, as `batch` pads: rows of no duration that nothing is compared with."""
    more = ((0, 0), (0, rows - batch.dt.shape[-1]))

    def held(x: Any) -> Any:
        return None if x is None else jnp.asarray(np.pad(np.asarray(x), more, mode="edge"))

    def empty(x: Any) -> Any:
        return jnp.asarray(np.pad(np.asarray(x), more))

    return dataclasses.replace(
        batch,
        dt=empty(batch.dt),
        command=held(batch.command),
        bus_voltage=held(batch.bus_voltage),
        enabled=held(batch.enabled),
        ambient=held(batch.ambient),
        channels={
            name: Channel(held(c.measured), empty(c.usable), empty(c.censored)) for name, c in batch.channels.items()
        },
        reset_position=held(batch.reset_position),
        reset_velocity=held(batch.reset_velocity),
    )


def stacked(trees: Sequence[Any], mesh: Mesh | None) -> Any:
    """Trees of one structure with their arrays stacked in front, one motor beside the other, and split over `mesh`."""
    arrays = [eqx.filter(tree, eqx.is_array) for tree in trees]
    joined = jax.tree_util.tree_map(lambda *x: np.stack([np.asarray(a) for a in x]), *arrays)
    place = None if mesh is None else NamedSharding(mesh, PartitionSpec(mesh.axis_names))
    return eqx.combine(jax.device_put(joined, place), eqx.filter(trees[0], eqx.is_array, inverse=True))


def _split(function: Callable[..., Any], mesh: Mesh | None) -> Callable[..., Any]:
    """`function` of arrays whose first axis is motors; each device runs it on its own part and talks to no other."""
    if mesh is None:
        return function
    part = PartitionSpec(mesh.axis_names)
    return jax.shard_map(function, mesh=mesh, in_specs=part, out_specs=part, check_vma=False)


@eqx.filter_jit
def begin(solver: Solver, points: Point, mesh: Mesh | None) -> Any:
    """The solver's state at every start of every motor."""
    return _split(jax.vmap(lambda p: begin_one(solver, p)), mesh)(points)


@eqx.filter_jit
def advance(
    solver: Solver, problems: Problem, points: Point, states: Any, resting: Bool[Array, " motor"], mesh: Mesh | None
) -> tuple[Point, Any, Float[Array, "motor start"]]:
    """One update of every start of every motor that does not rest; the costs are those before it."""
    arrays, structure = eqx.partition(problems, eqx.is_array)

    def one(arrays, points, states, rests):
        problem = eqx.combine(arrays, structure)
        counts = jnp.repeat(problem.counts[None], points.coordinates.shape[0], axis=0)
        moved, following, values = advance_one(solver, problem, points, states, counts)

        def kept(new, old):
            return jnp.where(rests, old, new)

        return jax.tree_util.tree_map(kept, moved, points), jax.tree_util.tree_map(kept, following, states), values

    return _split(jax.vmap(one), mesh)(arrays, points, states, resting)


@eqx.filter_jit
def residuals(problems: Problem, points: Point, mesh: Mesh | None) -> Float[Array, "motor segment channel time"]:
    """Residuals of every motor at its one point."""
    arrays, structure = eqx.partition(problems, eqx.is_array)

    def one(arrays, point):
        return eqx.combine(arrays, structure).residuals(point)

    return _split(jax.vmap(one), mesh)(arrays, points)
