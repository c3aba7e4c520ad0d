"""Many actuators side by side: one `vmap` for all that are built alike, however their numbers differ."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ._actuator import Actuator, ActuatorParams, ActuatorState


class ActuatorBank(eqx.Module):
    """Actuators sorted by structure.

    `kinds`: the distinct structures; `members`: for each of them the positions of its actuators. Params and states of a
    bank are a tuple with one entry per kind, stacked along the first axis.
    """

    kinds: tuple[Actuator, ...]
    members: tuple[tuple[int, ...], ...] = eqx.field(static=True)

    @property
    def size(self) -> int:
        """How many actuators there are."""
        return sum(len(positions) for positions in self.members)

    def init(self, params: tuple[ActuatorParams, ...]) -> tuple[ActuatorState, ...]:
        return tuple(jax.vmap(kind.init)(mine) for kind, mine in zip(self.kinds, params, strict=True))

    def each(
        self, function: Callable[..., tuple[PyTree, PyTree]], sorted_by_kind: Sequence[tuple[Any, ...]], *args: PyTree
    ) -> tuple[tuple[Any, ...], PyTree]:
        """`function(actuator, *sorted_by_kind, *args)` for every actuator.

        `args` have the actuators, in order, along their first axis. Of the two results of `function` the first stays
        sorted by kind, the second is put back in the order of the actuators.
        """
        kept, ordered = [], []
        for kind, positions, *mine in zip(self.kinds, self.members, *sorted_by_kind, strict=True):
            chosen = jax.tree.map(lambda x, at=np.array(positions, int): x[at], args) if len(self.kinds) > 1 else args
            stays, returns = jax.vmap(lambda *x, kind=kind: function(kind, *x))(*mine, *chosen)
            kept.append(stays)
            ordered.append(returns)
        return tuple(kept), self._in_order(ordered)

    def _in_order(self, results: list[PyTree]) -> PyTree:
        if len(results) == 1:
            return results[0]
        order = np.argsort(np.concatenate([np.array(positions, int) for positions in self.members]))
        return jax.tree.map(lambda *x: jnp.concatenate(x)[order], *results)


def sort_by_kind(
    actuators: Sequence[Actuator], params: Sequence[ActuatorParams]
) -> tuple[ActuatorBank, tuple[ActuatorParams, ...]]:
    """The bank of these actuators, and its params."""
    kinds: list[Actuator] = []
    members: list[list[int]] = []
    for position, actuator in enumerate(actuators):
        if actuator not in kinds:
            kinds.append(actuator)
            members.append([])
        members[kinds.index(actuator)].append(position)
    stacked = tuple(jax.tree.map(lambda *x: jnp.stack(x), *(params[at] for at in positions)) for positions in members)
    return ActuatorBank(tuple(kinds), tuple(tuple(positions) for positions in members)), stacked
