"""What is known around many points at once: the program of a fleet, run block by block."""

import concurrent.futures
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ._cores import as_caller
from ._fleet_data import FleetData
from ._fleet_program import Loss, Part, Sums, residuals, summed
from ._problem import INITIAL_REACH

_IN_FLIGHT = 2
"""Blocks under way at once: while one is gathered and handed over, another computes."""


class Look:
    """The motors of `data`, looked at in blocks of `block` per device of `mesh`. Points are lanes: a motor's number,
    its coordinates (lane, local) and initial states (lane, piece, m); a motor may have several."""

    def __init__(self, data: FleetData, mesh: Mesh, block: int) -> None:
        self.data, self.mesh, self.size = data, mesh, block * mesh.devices.size
        self.compiled: set[str] = set()
        self.pool = concurrent.futures.ThreadPoolExecutor(_IN_FLIGHT)
        self.place = NamedSharding(mesh, PartitionSpec(mesh.axis_names))

    def spread(self, motor: np.ndarray, every: np.ndarray, local: np.ndarray, initial: np.ndarray) -> np.ndarray:
        """Robust standard deviation of the residuals of every lane and channel in sensor noise, at least one; infinite
        where one is not finite."""

        def spread(part: Part, noise: Any, local: Any, initial: Any) -> Any:
            return residuals(self.data.problem, part, noise, local, initial, self.mesh)

        found = self._run(spread, motor, every, self.data.noise[motor], local, initial)
        deviation = np.ones(found.shape[:3:2])
        for lane, channel in np.ndindex(deviation.shape):
            seen = found[lane, :, channel][self.data.usable[motor[lane], :, channel]]
            if not np.isfinite(seen).all():
                deviation[lane, channel] = np.inf
            elif len(seen):
                deviation[lane, channel] = max(1.0, 1.4826 * float(np.median(np.abs(seen))))
        return deviation

    def sums(
        self,
        motor: np.ndarray,
        every: np.ndarray,
        sigma: np.ndarray,
        bend: np.ndarray,
        near: np.ndarray,
        local: np.ndarray,
        initial: np.ndarray,
    ) -> tuple[np.ndarray, Sums]:
        """The whole cost of every lane, (lane,), infinite where it is not finite, and the sums of its misfit as NumPy
        arrays; `sigma` in sensor noise."""

        def sums(part: Part, sigma: Any, bend: Any, near: Any, local: Any, initial: Any) -> Any:
            return summed(self.data.problem, part, Loss(sigma, bend, near), local, initial, self.mesh)

        found = self._run(sums, motor, every, self.data.noise[motor] * sigma, bend, near, local, initial)
        believed, _ = self.data.believed(local)
        prior = np.sum(believed**2, axis=1) + np.sum((initial / INITIAL_REACH) ** 2, axis=(1, 2))
        cost = found.cost.sum(axis=1) + prior / 2
        return np.where(np.isfinite(cost), cost, np.inf), found

    def _run(self, call: Callable[..., Any], motor: np.ndarray, every: np.ndarray, *arrays: np.ndarray) -> Any:
        """`call` over blocks of lanes, and the results side by side."""
        size = min(self.size, -(-len(self.data.logs) // self.mesh.devices.size) * self.mesh.devices.size)

        def block(first: int) -> Any:
            lanes = np.arange(first, min(first + size, len(motor)))
            # The last lane is repeated until every device has as many.
            filled = np.concatenate([lanes, np.full(size - len(lanes), lanes[-1])])
            given = (self.data.part(motor[filled], every[filled]), *(jnp.asarray(x[filled]) for x in arrays))
            found = call(*jax.device_put(given, self.place))
            return jax.tree_util.tree_map(lambda x: np.asarray(x)[: len(lanes)], found)

        firsts = list(range(0, len(motor), size))
        # What has to be compiled is run once by itself.
        alone = [] if call.__name__ in self.compiled else [block(firsts.pop(0))]
        self.compiled.add(call.__name__)
        done = alone + list(self.pool.map(as_caller(block), firsts))
        return jax.tree_util.tree_map(lambda *x: np.concatenate(x), *done)
