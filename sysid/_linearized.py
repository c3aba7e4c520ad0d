"""A problem around its points: one program for the walk of many starts, and for what is asked of its end."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ._compiled import compiled
from ._cores import each
from ._normal_equations import Point
from ._problem import Jacobian, Problem, Seen


@compiled
def _around(
    problem: Problem, local: Float[Array, "start segment local"], initial: Float[Array, "start segment m"]
) -> Jacobian:
    return jax.vmap(problem.jacobian)(local, initial)


_program: Any = _around


def _local(problem: Problem, points: Point) -> Float[Array, "start segment local"]:
    """What every segment has of the coordinates of every start."""
    # By NumPy, which needs no program for each shape.
    return jnp.asarray(np.asarray(points.coordinates)[:, np.asarray(problem.batch.pick)])


@compiled
def _seen(
    problem: Problem, local: Float[Array, "start segment local"], initial: Float[Array, "start segment m"]
) -> Seen:
    return jax.vmap(problem.seen)(local, initial)


_run: Any = _seen


def around(problem: Problem, points: Point) -> Jacobian:
    """The problem around every start."""
    return apart(problem, _local(problem, points), points.initial)


def lower_around(problem: Problem, points: Point) -> Any:
    """The program of `around`, ready to be compiled."""
    return _program.lower(problem, _local(problem, points), points.initial)


def lower_seen(problem: Problem, points: Point) -> Any:
    """The program of `seen`, ready to be compiled."""
    return _run.lower(problem, _local(problem, points), points.initial)


def apart(problem: Problem, local: Any, initial: Any) -> Jacobian:
    """As `around`, with every segment at coordinates of its own, `local` (start, segment, local)."""
    local, initial = jnp.asarray(local), jnp.asarray(initial)
    if not problem.whole or len(local) == 1:
        return _program(problem, local, initial)
    given = np.asarray(local), np.asarray(initial)
    parts = each(
        lambda k: jax.block_until_ready(apart(problem, *(x[k : k + 1] for x in given))), list(range(len(local)))
    )
    return jax.tree_util.tree_map(lambda *x: jnp.asarray(np.concatenate([np.asarray(part) for part in x])), *parts)


def each_seen(problem: Problem, points: Sequence[Point], finer: int = 1, lanes: int = 1) -> list[Seen]:
    """What each of the points predicts; the arguments as for `each_linearized`."""
    if not problem.whole:
        # Another program would take longer to compile than the derivatives take to be computed.
        around_each = each_linearized(problem, points, finer, lanes)
        return [Seen(found.predicted, found.residuals) for found in around_each]
    stepped, found = problem.stepped(finer * int(problem.substeps), reverse=False), []
    for point in points:
        alone = jax.tree_util.tree_map(lambda x: jnp.asarray(np.asarray(x)[None]), point)
        there = _run(stepped, _local(stepped, alone), alone.initial)
        found.append(jax.tree_util.tree_map(lambda x: jnp.asarray(np.asarray(x)[0]), there))
    return found


def seen(problem: Problem, point: Point, finer: int = 1, lanes: int = 1) -> Seen:
    """As `each_seen`, of one point."""
    return each_seen(problem, [point], finer, lanes)[0]


def each_linearized(problem: Problem, points: Sequence[Point], finer: int = 1, lanes: int = 1) -> list[Jacobian]:
    """The problem around each of the points, with `finer` times as many steps per row: one program whatever their
    number.

    **Arguments:** `lanes`: for how many starts `around` has been compiled already; running it for all of them is far
    cheaper than compiling it for fewer.
    """
    stepped, found = problem.stepped(finer * int(problem.substeps), reverse=False), []
    lanes = 1 if problem.whole else lanes
    for first in range(0, len(points), lanes):
        some = list(points[first : first + lanes])
        filled = some + [some[0]] * (lanes - len(some))
        # NumPy stacks and cuts without a program for each shape.
        stacked = jax.tree_util.tree_map(lambda *x: jnp.asarray(np.stack([np.asarray(part) for part in x])), *filled)
        there = jax.tree_util.tree_map(np.asarray, around(stepped, stacked))
        found += [jax.tree_util.tree_map(lambda x, k=k: jnp.asarray(x[k]), there) for k in range(len(some))]
    return found


def linearized(problem: Problem, point: Point, finer: int = 1, lanes: int = 1) -> Jacobian:
    """As `each_linearized`, around one point."""
    return each_linearized(problem, [point], finer, lanes)[0]
