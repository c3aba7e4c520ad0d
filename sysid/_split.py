"""Pieces of logs divided among devices: every device simulates its own, and only sums over them travel."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array

from ._problem import Problem


def split(problem: Problem, mesh: Mesh | None) -> Problem:
    """The problem with its pieces laid out over the devices of the mesh, this process's own if `None`.

    Each device gets as many pieces as any other, so that no more devices work than divide the number of pieces.
    """
    devices = jax.local_devices() if mesh is None else list(mesh.devices.ravel())
    pieces = len(problem.batch.dt)
    used = max(n for n in range(1, len(devices) + 1) if pieces % n == 0)
    if used == 1:
        return problem
    place = NamedSharding(Mesh(np.array(devices[:used]), ("piece",)), PartitionSpec("piece"))
    return dataclasses.replace(problem, batch=jax.device_put(problem.batch, place))


def gathered(tree: Any) -> Any:
    """What programs left on several devices, as the small arrays that the next of them begins from."""
    return jax.tree_util.tree_map(lambda x: jnp.asarray(np.asarray(x)) if len(x.sharding.device_set) > 1 else x, tree)


def laid_like(array: Array, values: np.ndarray) -> Array:
    """The values on the devices of the array; on a single one without a word of it, as a program was compiled for."""
    if len(array.sharding.device_set) == 1:
        return jnp.asarray(values)
    return jax.device_put(values, array.sharding)
