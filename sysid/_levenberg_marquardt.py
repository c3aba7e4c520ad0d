"""Levenberg-Marquardt as an Optax transformation: the same loop runs it, Adam, L-BFGS or a chain of the user's."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from ._normal_equations import NormalEquations, Point

_TRIED = (0.1, 1.0, 10.0, 300.0)
"""Multiples of the present damping that one update tries side by side; batch lanes make them nearly free."""


class LevenbergMarquardtState(eqx.Module):
    """`damping` [1], the share of the diagonal that is added to it; `cost` at the point that the last step led to."""

    damping: Float[Array, ""]
    cost: Float[Array, ""]


def levenberg_marquardt(damping: float = 1e-2, largest_move: float = 2.0) -> optax.GradientTransformationExtraArgs:
    """Damped Gauss-Newton steps that never raise the cost.

    **Arguments:** `damping`: that of the first step; `largest_move`: bound on each coordinate's step (coordinates are
    logarithms or logits, so 2 is a factor of seven).

    Its `update` needs the extra arguments `normal` (`NormalEquations` at the present point), `value` (the cost there)
    and `value_fn` (the cost anywhere).
    """

    def init(params: Any) -> LevenbergMarquardtState:
        dtype = params.coordinates.dtype
        return LevenbergMarquardtState(jnp.asarray(damping, dtype), jnp.asarray(jnp.inf, dtype))

    def update(
        updates: Any,
        state: Any,
        params: Any = None,
        *,
        normal: NormalEquations,
        value: Float[Array, ""],
        value_fn: Callable[[Point], Float[Array, ""]],
        **extra: Any,
    ) -> tuple[Point, LevenbergMarquardtState]:
        del updates, extra
        dampings = state.damping * jnp.asarray(_TRIED, value.dtype)
        steps = jax.vmap(normal.step)(dampings)
        steps = Point(jnp.clip(steps.coordinates, -largest_move, largest_move), steps.initial)
        steps = jax.tree_util.tree_map(lambda x: jnp.where(jnp.isfinite(x), x, jnp.zeros_like(x)), steps)
        values = jax.vmap(lambda step: value_fn(jax.tree_util.tree_map(jnp.add, params, step)))(steps)
        values = jnp.where(jnp.isfinite(values), values, jnp.full_like(values, jnp.inf))
        best = jnp.argmin(values)
        better = values[best] < value
        chosen = jax.tree_util.tree_map(lambda x: jnp.where(better, x[best], jnp.zeros_like(x[best])), steps)
        # All four failed: start the next try beyond the most cautious of them.
        following = jnp.where(better, dampings[best], dampings[-1] * 10)
        cost = jnp.where(better, values[best], value)
        return chosen, LevenbergMarquardtState(jnp.clip(following, 1e-12, 1e12), cost)

    # Optax's types know no Equinox module and no required extra arguments, though both serve it.
    parts: Any = (init, update)
    return optax.GradientTransformationExtraArgs(*parts)
