"""The one loop that moves parameters, whatever transformation moves them."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from ._compiled import compiled
from ._cores import each
from ._linearized import around
from ._normal_equations import Point
from ._problem import Jacobian, Problem
from ._split import gathered

_PATIENCE = 100
"""Iterations without a gain after which a solver that follows the gradient is at rest: such a one may climb first."""


@dataclasses.dataclass(frozen=True)
class Solver:
    """An Optax transformation and what it asks of the problem.

    `normal_equations`: its update takes `normal`, built by forward mode; else a reverse-mode gradient serves it.
    """

    name: str
    transformation: optax.GradientTransformationExtraArgs
    normal_equations: bool


@dataclasses.dataclass(frozen=True)
class Stage:
    """One leg of the walk: `reset` rows as data, at most `iterations`, until `patience` steps one after the other gain
    less than `gain` of the cost."""

    words: str
    reset: np.ndarray
    iterations: int
    gain: float
    patience: int = 2


def begin(solver: Solver, points: Any) -> Any:
    """The solver's state at every start."""
    return jax.vmap(solver.transformation.init)(points)


def _tree(value: Any) -> Any:
    """Optax's types know no Equinox module, though any pytree serves it."""
    return value


def advance(
    solver: Solver, problem: Problem, points: Point, states: Any, counts: Float[Array, "start segment"]
) -> tuple[Any, Any, Float[Array, " start"]]:
    """One update of every start, of which each counts its own segments; the returned costs are those before it."""
    local = points.coordinates[:, problem.batch.pick]
    found = jax.vmap(problem.jacobian)(local, points.initial) if solver.normal_equations else None
    return updated(solver, problem, points, states, counts, found)


def updated(
    solver: Solver,
    problem: Problem,
    points: Point,
    states: Any,
    counts: Float[Array, "start segment"],
    found: Jacobian | None,
) -> tuple[Any, Any, Float[Array, " start"]]:
    """As `advance`, with the problem around every start already `found`."""

    def one(point, state, counted, found):
        ours = dataclasses.replace(problem, counts=counted)
        if solver.normal_equations:
            value, normal = ours.normal(point, found)
            gradient, extra = _tree(Point(normal.shared_gradient, normal.own_gradient)), {"normal": normal}
        else:
            value, gradient = _tree(jax.value_and_grad(ours.value)(point))
            extra = {"grad": gradient}
        updates, state = solver.transformation.update(gradient, state, point, value=value, value_fn=ours.value, **extra)
        return optax.apply_updates(point, updates), state, value

    # Optax mixes weak and strong types, which strict promotion refuses.
    with jax.numpy_dtype_promotion("standard"):
        return jax.vmap(one)(points, states, counts, found)


_begin = compiled(begin)
_updated: Any = compiled(updated)


def everything(problem: Problem, points: Point) -> Float[Array, "start segment"]:
    """The counts with which every start sees what the problem counts."""
    # By NumPy, which needs no program for each shape.
    return jax.device_put(np.repeat(np.asarray(problem.counts)[None], points.coordinates.shape[0], axis=0))


def _advance(
    solver: Solver, problem: Problem, points: Point, states: Any, counts: Float[Array, "start segment"]
) -> tuple[Any, Any, Float[Array, " start"]]:
    """`advance` in two programs: the larger one also serves whoever asks what is known around a point."""
    points, states = gathered(points), gathered(states)
    if problem.whole and points.coordinates.shape[0] > 1:
        return _one_by_one(solver, problem, points, states, counts)
    found = around(problem, points) if solver.normal_equations else None
    return _updated(solver, problem, points, states, counts, found)


def _one_by_one(
    solver: Solver, problem: Problem, points: Point, states: Any, counts: Float[Array, "start segment"]
) -> tuple[Any, Any, Float[Array, " start"]]:
    """`_advance` of starts by the program of one, on as many cores."""
    given = jax.tree_util.tree_map(np.asarray, (points, states, counts))

    def one(k: int) -> tuple[Any, Any, Any]:
        point, state, counted = jax.tree_util.tree_map(lambda x: jnp.asarray(x[k : k + 1]), given)
        return jax.block_until_ready(_advance(solver, problem, point, state, counted))

    return _joined(each(one, range(points.coordinates.shape[0])))


def lower_update(solver: Solver, problem: Problem, points: Point) -> Any:
    """The program of an update beside `around`, ready to be compiled."""
    starts, (segments, rows) = points.coordinates.shape[0], problem.batch.dt.shape
    channels, unknowns = len(problem.batch.channels), problem.batch.pick.shape[-1] + points.initial.shape[-1]

    def blank(*shape: int) -> Array:
        return jnp.asarray(np.zeros((starts, segments, *shape), points.coordinates.dtype))

    found = Jacobian(
        {name: blank(rows) for name in problem.batch.channels},
        blank(channels, rows),
        blank(channels, rows, unknowns),
    )
    return _updated.lower(solver, problem, points, _begin(solver, points), everything(problem, points), found)


def _begun(solver: Solver, problem: Problem, points: Point) -> Any:
    """The solver's state at every start; starts that move one by one share the program of one."""
    if not problem.whole:
        return _begin(solver, points)
    given = jax.tree_util.tree_map(np.asarray, points)
    parts = [
        _begin(solver, jax.tree_util.tree_map(lambda x, k=k: jnp.asarray(x[k : k + 1]), given))
        for k in range(points.coordinates.shape[0])
    ]
    return _joined(parts)


def _joined(parts: list[Any]) -> Any:
    return jax.tree_util.tree_map(lambda *x: jax.device_put(np.concatenate([np.asarray(part) for part in x])), *parts)


def _lower(points: Point, values: np.ndarray, others: Point, costs: np.ndarray) -> Point:
    """Per start, the point of lower cost."""
    lower = jnp.asarray(values < costs)
    return jax.tree_util.tree_map(
        lambda new, old: jnp.where(jnp.expand_dims(lower, tuple(range(1, new.ndim))), new, old), points, others
    )


def solve(
    solver: Solver,
    problem: Problem,
    points: Point,
    stages: list[Stage],
    progress: Callable[[str, int, float], None],
) -> tuple[Point, np.ndarray, list[tuple[str, int, float]]]:
    """Walk every start through the stages.

    **Arguments:** `points` with a leading axis of starts; `progress(words, iteration, cost)` is called after each
    iteration with the best cost.

    **Returns:** the points, their costs, and the trace of (stage, iteration, best cost).
    """
    trace: list[tuple[str, int, float]] = []
    costs = np.full(points.coordinates.shape[0], np.inf)
    counts = everything(problem, points)
    for stage in stages:
        staged = eqx.tree_at(lambda p: p.reset, problem, jnp.asarray(stage.reset))
        states, least, quiet = _begun(solver, staged, points), np.inf, 0
        patience, gain = stage.patience, stage.gain
        if not solver.normal_equations:
            patience, gain = _PATIENCE, stage.gain / _PATIENCE
        kept, costs = points, np.full(points.coordinates.shape[0], np.inf)
        for iteration in range(stage.iterations):
            before = points
            points, states, values = _advance(solver, staged, points, states, counts)
            now = np.asarray(values)
            if solver.normal_equations:
                least = min(least, float(np.nanmin(now)))
                kept, costs = points, np.asarray(states.cost)
                now = costs
            else:
                # Where a step may climb, the last point need not be the best.
                kept, costs = _lower(before, now, kept, costs), np.fmin(now, costs)
            best = float(np.nanmin(now))
            trace.append((stage.words, iteration, best))
            progress(stage.words, iteration, best)
            gained, least = least - best, min(least, best)
            # One rejected step is no rest: the damping may only have been too small for it.
            quiet = quiet + 1 if gained <= gain * abs(best) else 0
            if quiet >= patience:
                break
        points = kept
    return points, costs, trace
