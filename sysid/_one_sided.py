"""Channels that stop at an end of their readings which the model passes."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ._begin import begin
from ._conclude import chosen
from ._linearized import seen
from ._log import Log
from ._normal_equations import Point
from ._problem import Problem
from ._rounding import short
from ._setup import Setup, torque_constant, usable_rows
from ._solve import Stage, solve
from ._solvers import solver_named
from ._start import regressed
from ._verdict import Caution

BEND = 3.0
"""Sigmas from which a residual counts linearly here: all of a shape is to be seen, not only what the fit believes."""

_BAND = 6.0
"""Standard deviations of the noise [1] within which readings of one level lie."""

_FEWEST, _LEAST = 8, 0.005
"""Rows, and share of all rows, that an end must have to be one."""

_FELL = 0.5
"""Share of the excess misfit that must remain at most when the rows at the end count as one-sided."""

_BEYOND = 0.3
"""Share of those rows that the model must pass by three standard deviations."""


def one_sided(made: Setup, problem: Problem, point: Point, lanes: int) -> tuple[list[Caution], Problem, Point]:
    """What stops at an end, and the problem and its point when those rows are counted as one-sided.

    The rows at the ends of a channel are taken for ones where the sensor says only "at least so much", and the fit goes
    on from `point`: where that takes most of the misfit away, and the model then passes the end, it was one.

    **Arguments:** `lanes`: as many as the fit had starts, so that its program serves.
    """
    found: list[Caution] = []
    problem = problem.stepped(int(problem.substeps), reverse=False)
    for channel in problem.batch.channels:
        sides = _ends(made, problem, channel)
        if not sides.any():
            continue
        marked = _marked(problem, channel, sides)
        ahead = _refitted(made, marked, point, sides, lanes)
        predicted = np.asarray(seen(marked, ahead, lanes=lanes).predicted[channel])
        measured = np.asarray(problem.batch.channels[channel].measured)
        beyond = (predicted - measured) * sides > 3 * made.noise[channel]
        fell = excess(made, marked, ahead, lanes) < _FELL * excess(made, problem, point, lanes)
        if fell and beyond[sides != 0].mean() > _BEYOND:
            problem, point = marked, ahead
            found.append(_told(made, channel, measured, sides * beyond))
    return found, problem, point


def _told(made: Setup, channel: str, measured: np.ndarray, sides: np.ndarray) -> Caution:
    levels = [float(np.median(measured[sides == s])) for s in (-1, 1) if (sides == s).any()]
    unit = made.logs[0].units.get(channel, "")
    words = " and ".join(f"{short(level)} {unit}".rstrip() for level in levels)
    return Caution(
        "one_sided_residuals",
        f"residuals of the {channel} are one-sided: it stops at {words} where the model goes on; its sensor clips (say"
        f" --limit {channel}={short(max(map(abs, levels)))}) or the drive limits it (put that into the model)",
    )


def _ends(made: Setup, problem: Problem, channel: str) -> np.ndarray:
    """+1 and -1 where a channel is as near to the upper or lower end of its readings as noise about one level."""
    data = problem.batch.channels[channel]
    measured, usable = np.asarray(data.measured), np.asarray(data.usable) & (np.asarray(data.censored) == 0)
    sides = np.zeros(measured.shape, np.int32)
    width = _BAND * made.noise[channel]
    if not usable.any() or np.ptp(measured[usable]) < 4 * width:
        return sides
    for side, end in ((1, measured[usable].max()), (-1, measured[usable].min())):
        near = usable & (side * (measured - end) > -width)
        if near.sum() >= max(_FEWEST, _LEAST * usable.sum()):
            sides[near] = side
    return sides


def _marked(problem: Problem, channel: str, sides: np.ndarray) -> Problem:
    old = problem.batch.channels[channel].censored
    new = jnp.asarray(np.where(sides != 0, sides, np.asarray(old)), old.dtype)
    return eqx.tree_at(lambda p: p.batch.channels[channel].censored, problem, new)


def _refitted(made: Setup, problem: Problem, point: Point, sides: np.ndarray, lanes: int) -> Point:
    """The fit from where it ended, and from what the other rows tell: an end taken at its word pulls far away."""
    free, states = made.model.free, point.initial.shape[-1]
    given = [parameter.start for parameter in free.parameters]
    told = regressed(_without(made, sides), torque_constant(made.model))
    points = begin(free, made.problem.owner, given, told, len(made.cut), states, lanes, seed=0)
    points = Point(points.coordinates.at[0].set(point.coordinates), points.initial.at[0].set(point.initial))
    stage = Stage("one-sided", np.asarray(problem.reset), 40, 1e-4)
    points, values, _ = solve(solver_named("levenberg-marquardt"), problem, points, [stage], lambda *_: None)
    return chosen(points, values)


def _without(made: Setup, sides: np.ndarray) -> list[Log]:
    """The logs without the rows at an end."""
    logs = []
    for number, log in enumerate(made.logs):
        kept = np.ones(len(log), bool)
        for s, piece in enumerate(made.cut):
            if piece.log == number:
                kept[piece.first : piece.last] = sides[s, : piece.last - piece.first] == 0
        masks = {name: mask & kept if name in made.noise else mask for name, mask in log.masks.items()}
        logs.append(log.replace(masks=masks))
    return logs


def excess(made: Setup, problem: Problem, point: Point, lanes: int) -> float:
    """The weighted sum of squares beyond what the sensors' noise explains [1]."""
    residual, usable, total = np.asarray(seen(problem, point, lanes=lanes).residuals), usable_rows(problem), 0.0
    for k, channel in enumerate(problem.batch.channels):
        values = residual[:, k][usable[:, k]]
        noise = made.noise[channel] / float(problem.scales.sigma[channel])
        weights = 1 / np.sqrt(1 + (values / max(BEND, float(problem.scales.bend[channel]))) ** 2)
        total += float(np.sum(weights * (values**2 - noise**2)))
    return max(total, 0.0)
