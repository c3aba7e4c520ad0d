"""Starts that stand whole rows of delay away from an end."""

import jax.numpy as jnp
import numpy as np

from ._normal_equations import Point
from ._setup import Setup


def hopped(made: Setup, point: Point, starts: int) -> Point | None:
    """`starts` points around `point` whose delays differ by whole rows; `None` where no delay is free.

    The cost has a kink in a pure delay at every row, since that is where a stepped command moves on to the next
    measurement: a walk may end in one, and only a hop tells whether the next is lower.
    """
    free = made.model.free.parameters
    late = [k for k, owner in enumerate(made.problem.owner) if free[owner].name == "delay"]
    if not late or starts < 2:
        return None
    row = float(np.median([log.dt for log in made.logs]))
    hops = np.array([(n + 1) // 2 * (1 if n % 2 else -1) for n in range(starts)]) * row
    coordinates = np.repeat(np.asarray(point.coordinates)[None], starts, axis=0)
    for k in late:
        parameter = free[made.problem.owner[k]]
        bijector = parameter.bijector()
        value = float(bijector.value(point.coordinates[k]))
        for n, hop in enumerate(hops):
            if n > 0:
                coordinates[n, k] = float(bijector.coordinate(jnp.asarray(parameter.inside(value + float(hop)))))
    return Point(jnp.asarray(coordinates), jnp.repeat(point.initial[None], starts, axis=0))
