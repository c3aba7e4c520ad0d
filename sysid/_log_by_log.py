"""Every log met best by itself: Levenberg-Marquardt for all of them at once, each with coordinates of its own.

The segments of all logs pass side by side through the program that the joint fit has compiled, each log at its own
coordinates and in every lane of the program with another damping. Between its runs NumPy does the algebra of a few
unknowns, which compiles nothing.
"""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from ._beliefs import believed, slopes
from ._linearized import apart
from ._normal_equations import Point
from ._problem import INITIAL_REACH, Problem
from ._residual import bends, soft_l1, weight
from ._side_by_side import SideBySide, by_log

_ITERATIONS = 40
_PATIENCE = 2
_DAMPING = 1e-2


@dataclasses.dataclass(frozen=True, eq=False)
class Unknowns:
    """`local` coordinates of every log, (log, local), and `initial` states of every segment, (segment, m)."""

    local: np.ndarray
    initial: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Around:
    """At some unknowns: the `cost` of every log, (log,); `residuals` (segment, channel, time) and their `derivatives`
    (segment, channel, time, local + m); values of the priors' residuals, (log, local), and their `slopes`."""

    unknowns: Unknowns
    cost: np.ndarray
    residuals: np.ndarray
    derivatives: np.ndarray
    believed: np.ndarray
    slopes: np.ndarray


class LogByLog:
    """The logs of a `problem`, each a fit of its own; `lanes`: for how many starts its program has been compiled."""

    def __init__(self, problem: Problem, lanes: int):
        self.problem, self.lanes = problem.stepped(int(problem.substeps), reverse=False), lanes
        self.log, pick = np.asarray(problem.batch.log), np.asarray(problem.batch.pick)
        self.pick = pick[np.unique(self.log, return_index=True)[1]]
        self.moves = np.asarray(problem.moves)[self.pick]
        self.bend = bends(problem.batch, problem.scales)

    def start(self, point: Point) -> Unknowns:
        """Every log at the joint `point`."""
        return Unknowns(np.asarray(point.coordinates)[self.pick], np.asarray(point.initial))

    def point(self, joint: Point, unknowns: Unknowns, log: int) -> Point:
        """The `joint` point with the coordinates of one log at its own."""
        coordinates = np.array(joint.coordinates)
        coordinates[self.pick[log]] = unknowns.local[log]
        return Point(jnp.asarray(coordinates), jnp.asarray(unknowns.initial))

    def look(self, tried: list[Unknowns]) -> list[Around]:
        """The problem around each of no more unknowns than there are lanes."""
        filled = tried if self.problem.whole else tried + tried[:1] * (self.lanes - len(tried))
        local = np.stack([unknowns.local[self.log] for unknowns in filled])
        found = apart(self.problem, local, np.stack([unknowns.initial for unknowns in filled]))
        costs = np.asarray(soft_l1(found.residuals, self.bend[None])).sum(axis=(2, 3))
        residuals, derivatives = np.asarray(found.residuals), np.asarray(found.derivatives)
        around = []
        for k, unknowns in enumerate(tried):
            prior = believed(self.problem, self.pick, unknowns.local)
            steep = slopes(self.problem, self.pick, unknowns.local)
            own = costs[k] + np.sum((unknowns.initial / INITIAL_REACH) ** 2, axis=1) / 2
            cost = by_log(self.log, own) + np.sum(prior**2, axis=1) / 2
            cost = np.where(np.isfinite(cost), cost, np.inf)
            around.append(Around(unknowns, cost, residuals[k], derivatives[k], prior, steep))
        return around

    def best(self, around: list[Around]) -> tuple[Around, np.ndarray]:
        """For every log the one of least cost, and which it is."""
        costs = np.stack([one.cost for one in around])
        lane = np.argmin(costs, axis=0)

        def picked(name: str, at: np.ndarray) -> np.ndarray:
            return np.stack([getattr(one, name) for one in around])[at, np.arange(len(at))]

        initial = np.stack([one.unknowns.initial for one in around])[lane[self.log], np.arange(len(self.log))]
        local = np.stack([one.unknowns.local for one in around])[lane, np.arange(len(lane))]
        by_log = {name: picked(name, lane) for name in ("cost", "believed", "slopes")}
        by_segment = {name: picked(name, lane[self.log]) for name in ("residuals", "derivatives")}
        return Around(Unknowns(local, initial), **by_log, **by_segment), lane

    def steps(self, around: Around, dampings: np.ndarray) -> list[Unknowns]:
        """Where steps lead with each row of `dampings`, (lane, log)."""
        weights = np.asarray(weight(jnp.asarray(around.residuals), self.bend))
        columns, start = around.derivatives, around.unknowns
        equations = SideBySide(
            curvature=np.einsum("scta,sct,sctb->sab", columns, weights, columns, optimize=True),
            gradient=np.einsum("scta,sct,sct->sa", columns, weights, around.residuals, optimize=True),
            initial=start.initial,
            log=self.log,
            believed=around.believed,
            slopes=around.slopes,
            moves=self.moves,
        )
        found = [equations.step(damping) for damping in dampings]
        return [Unknowns(start.local + local, start.initial + initial) for local, initial in found]


def ends(each: LogByLog, point: Point, gain: np.ndarray, progress: Callable[[str, int, float], None]) -> Around:
    """Where every log is met best, from the joint `point` on, until a step gains less than its share `gain` of the
    cost, (log,); an infinite cost where none is finite."""
    multiples = 10.0 ** (np.arange(each.lanes) - (each.lanes - 1) // 2)
    (here,) = each.look([each.start(point)])
    damping, quiet = np.full_like(here.cost, _DAMPING), np.zeros_like(here.cost)
    for iteration in range(_ITERATIONS):
        around = each.look(each.steps(here, multiples[:, None] * damping))
        tried, lane = each.best(around)
        better = tried.cost < here.cost
        with np.errstate(invalid="ignore"):
            quiet = np.where(here.cost - tried.cost > gain * tried.cost, 0, quiet + 1)
        damping = np.clip(damping * np.where(better, multiples[lane] / 2, multiples[-1] * 10), 1e-12, 1e12)
        here, _ = each.best([here, tried])
        progress("single logs", iteration, float(here.cost.min()))
        if np.all(quiet >= _PATIENCE):
            break
    return here
