"""Motors on their walks, side by side: what `fit` does with one, done with many."""

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from ._fit import _LEAST_BEND, _NOISE_LIKE
from ._fleet_program import advance, begin as begin_solver, lengthened, residuals, stacked
from ._legs import legs
from ._normal_equations import Point
from ._problem import Problem
from ._setup import BEND, Setup, usable_rows
from ._solve import Solver, Stage
from ._solvers import solver_named
from ._windows import scales


@dataclasses.dataclass(frozen=True, eq=False)
class End:
    """Where the starts of one motor ended: `points` and their cost `values` in `problem`; per channel the mean square
    residual `misfit` in sensor noise; whether it `rested` before its iterations ran out."""

    made: Setup
    problem: Problem
    points: Point
    values: np.ndarray
    misfit: dict[str, float]
    rested: bool


class Walk:
    """One block of motors on its walk."""

    def __init__(
        self, made: Sequence[Setup], rows: int, replay: bool, budget: int, substeps: int, mesh: Mesh | None
    ) -> None:
        self.made, self.rows, self.mesh, self.solver = made, rows, mesh, solver_named("levenberg-marquardt")
        walks = [legs(m, replay, budget) for m in made]
        most = max(len(walk) for walk in walks)
        # A short log has no legs of short windows: it waits until the others have caught up.
        self.walks: list[list[Stage | None]] = [[None] * (most - len(walk)) + walk for walk in walks]
        self.last = [walk[-1] for walk in walks]
        self.usable = np.stack([_padded(usable_rows(m.problem), rows) for m in made])
        problems = [m.problem.stepped(substeps, reverse=False) for m in made]
        self.problems = [dataclasses.replace(p, batch=lengthened(p.batch, rows)) for p in problems]

    def ends(self, points: Sequence[Point], substeps: int) -> list[End]:
        """Every motor walked through its legs, as `fit` walks a single one."""
        solver, mesh = self.solver, self.mesh
        at, costs = stacked(points, mesh), np.zeros((len(points), 1))
        here = Point(at.coordinates[:, -1], at.initial[:, -1])
        for number in range(len(self.walks[0])):
            stages = [walk[number] for walk in self.walks]
            problems = stacked(self._reset(number), mesh)
            _, spread = self._off(np.asarray(residuals(problems, here, mesh)))
            problems = self._scaled(problems, spread, np.full(spread.shape, BEND))
            at, costs, _ = self._walked(solver, problems, at, stages)
            here = _best(at, costs)
        plain = stacked(self._reset(-1), mesh)
        _, spread = self._off(np.asarray(residuals(plain, here, mesh)))
        spread = np.where(spread.max(axis=1, keepdims=True) > _NOISE_LIKE, spread, 1.0)
        problems = self._scaled(plain, spread, np.maximum(_LEAST_BEND, BEND / spread))
        at, costs, rested = self._walked(solver, problems, at, self.last)
        misfit, _ = self._off(np.asarray(residuals(plain, _best(at, costs), mesh)))
        coordinates, initial = np.asarray(at.coordinates), np.asarray(at.initial)
        ends = []
        for k, made in enumerate(self.made):
            reset, channels = self.last[k].reset, made.problem.batch.channels
            sigma = {c: made.noise[c] * float(spread[k, n]) for n, c in enumerate(channels)}
            bend = {c: max(_LEAST_BEND, BEND / float(spread[k, n])) for n, c in enumerate(channels)}
            problem = made.problem.stepped(substeps, reverse=False)
            problem = dataclasses.replace(problem, reset=jnp.asarray(reset), scales=scales(sigma, bend))
            point = Point(jnp.asarray(coordinates[k]), jnp.asarray(initial[k]))
            off = dict(zip(channels, misfit[k].tolist(), strict=True))
            ends.append(End(made, problem, point, costs[k], off, bool(rested[k])))
        return ends

    def _reset(self, number: int) -> list[Problem]:
        """The problems with the resets of this leg; a motor without it has none, and does not move."""
        found = []
        for problem, walk, last in zip(self.problems, self.walks, self.last, strict=True):
            stage = walk[number] or last
            found.append(dataclasses.replace(problem, reset=jnp.asarray(_padded(np.asarray(stage.reset), self.rows))))
        return found

    def _scaled(self, problems: Problem, spread: np.ndarray, bend: np.ndarray) -> Problem:
        channels = list(problems.batch.channels)
        noise = np.array([[m.noise[c] for c in channels] for m in self.made])
        found = [
            scales(dict(zip(channels, sigma, strict=True)), dict(zip(channels, bends, strict=True)))
            for sigma, bends in zip(noise * spread, bend, strict=True)
        ]
        return eqx.tree_at(lambda p: p.scales, problems, stacked(found, self.mesh))

    def _off(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per motor and channel: mean square residual in sensor noise, and its robust standard deviation."""
        misfit, spread = np.zeros(values.shape[:3:2]), np.ones(values.shape[:3:2])
        for motor, channel in np.ndindex(misfit.shape):
            seen = values[motor, :, channel][self.usable[motor, :, channel]]
            seen = seen[np.isfinite(seen)]
            if len(seen):
                misfit[motor, channel] = np.mean(seen**2)
                spread[motor, channel] = max(1.0, 1.4826 * float(np.median(np.abs(seen))))
        return misfit, spread

    def _walked(
        self, solver: Solver, problems: Problem, points: Point, stages: Sequence[Stage] | Sequence[Stage | None]
    ) -> tuple[Point, np.ndarray, np.ndarray]:
        """One leg: points, costs (motor, start), and which motors came to rest before their iterations ran out."""
        budget = np.array([0 if stage is None else stage.iterations for stage in stages])
        gain = np.array([0.0 if stage is None else stage.gain for stage in stages])
        quiet, least = np.zeros(len(stages), int), np.full(len(stages), np.inf)
        states = begin_solver(solver, points, self.mesh)
        for iteration in range(int(budget.max())):
            resting = (quiet >= 2) | (iteration >= budget)
            if resting.all():
                break
            points, states, values = advance(solver, problems, points, states, jnp.asarray(resting), self.mesh)
            best = least_cost(np.asarray(values))
            with np.errstate(invalid="ignore"):
                still = least - best <= gain * np.abs(best)
            quiet = np.where(resting, quiet, np.where(still, quiet + 1, 0))
            least = np.minimum(least, best)
        none = jnp.ones(len(stages), bool)
        _, _, costs = advance(solver, problems, points, begin_solver(solver, points, self.mesh), none, self.mesh)
        return points, np.asarray(costs), quiet >= 2


def _padded(values: np.ndarray, rows: int) -> np.ndarray:
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, rows - values.shape[-1])])


def least_cost(costs: np.ndarray) -> np.ndarray:
    """The least finite cost of each motor, infinite where there is none."""
    return np.min(np.where(np.isfinite(costs), costs, np.inf), axis=1)


def _best(points: Point, costs: np.ndarray) -> Point:
    """Every motor's start of least cost."""
    best = np.argmin(np.where(np.isfinite(costs), costs, np.inf), axis=1)

    def pick(x):
        return jnp.take_along_axis(x, jnp.asarray(best).reshape((-1,) + (1,) * (x.ndim - 1)), axis=1)[:, 0]

    return Point(pick(points.coordinates), pick(points.initial))
