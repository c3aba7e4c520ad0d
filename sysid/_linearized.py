"""A problem around its points: one program for the walk of many starts, and for what is asked of its end."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ._compiled import compiled
from ._normal_equations import Point
from ._problem import Jacobian, Problem


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


def around(problem: Problem, points: Point) -> Jacobian:
    """The problem around every start."""
    return _program(problem, _local(problem, points), points.initial)


def lower_around(problem: Problem, points: Point) -> Any:
    """The program of `around`, ready to be compiled."""
    return _program.lower(problem, _local(problem, points), points.initial)


def apart(problem: Problem, local: np.ndarray, initial: np.ndarray) -> Jacobian:
    """As `around`, with every segment at coordinates of its own, `local` (start, segment, local)."""
    return _program(problem, jnp.asarray(local), jnp.asarray(initial))


def each_linearized(problem: Problem, points: Sequence[Point], finer: int = 1, lanes: int = 1) -> list[Jacobian]:
    """The problem around each of the points, with `finer` times as many steps per row: one program whatever their
    number.

    **Arguments:** `lanes`: for how many starts `around` has been compiled already; running it for all of them is far
    cheaper than compiling it for fewer.
    """
    stepped, found = problem.stepped(finer * int(problem.substeps), reverse=False), []
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
