"""Values of a sine that are one torque: A sin(x + phi) is -A sin(x + phi + pi), and phi may turn by 2 pi.

Starts that walk to such images of one another have come to one place, and nothing is open between them.
"""

import jax.numpy as jnp
import numpy as np

from ._bijector import Affine
from ._normal_equations import Point
from ._setup import Setup


def upright(made: Setup, points: Point) -> Point:
    """The points with every amplitude of the sign of its start and every phase [rad] within half a turn of its own.

    Bounded ones stay: their images may lie out of bounds.
    """
    pairs = _pairs(made)
    if not pairs:
        return points
    at = np.array(points.coordinates)
    for amplitude, phase in pairs:
        starts = [made.model.free.parameters[made.problem.owner[k]].start for k in (amplitude, phase)]
        scale = _scale(made, phase)
        over = at[..., amplitude] * (-1.0 if starts[0] < 0 else 1.0) < 0
        at[..., amplitude] = np.where(over, -at[..., amplitude], at[..., amplitude])
        turned = at[..., phase] * scale + np.pi * over - starts[1]
        at[..., phase] = (starts[1] + np.mod(turned + np.pi, 2 * np.pi) - np.pi) / scale
    return Point(jnp.asarray(at), points.initial)


def _pairs(made: Setup) -> list[tuple[int, int]]:
    """Coordinates of amplitudes and phases of one sine, both of all logs or of the same one."""
    free, found = made.model.free.parameters, {}
    for k, (owner, name) in enumerate(zip(made.problem.owner, made.names, strict=True)):
        if isinstance(made.problem.unknowns.bijectors[owner], Affine):
            found[free[owner].place.paths[0], name.removeprefix(free[owner].name)] = k
    amplitudes = [(path, log) for path, log in found if path.endswith(".amplitude")]
    phases = [(path.removesuffix("amplitude") + "phase", log) for path, log in amplitudes]
    return [(found[a], found[p]) for a, p in zip(amplitudes, phases, strict=True) if p in found]


def _scale(made: Setup, coordinate: int) -> float:
    """Size [rad] of one unit of a phase's coordinate."""
    return float(made.problem.unknowns.bijectors[made.problem.owner[coordinate]].value(jnp.asarray(1.0)))
