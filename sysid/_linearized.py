"""A problem around its points: one program for the walk of many starts, and for what is asked of its end."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ._compiled import compiled
from ._normal_equations import Point
from ._problem import Jacobian, Problem


@compiled
def around(problem: Problem, points: Point) -> Jacobian:
    """The problem around every start."""
    return jax.vmap(problem.jacobian)(points)


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
