"""The valley of the misfit along one parameter: visited outward from the estimate until its floor has risen enough."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from scipy.special import chdtri

from ._bijector import Logarithm, Logit
from ._known import Known
from ._normal_equations import Point
from ._problem import Problem
from ._setup import Setup
from ._solve import Solver, _advance, _begin, everything

THRESHOLD = float(chdtri(1, 0.05))
"""Rise of the misfit [1] at which a 95 % interval ends."""

_Z95 = float(np.sqrt(THRESHOLD))
_FIRST = (0.5, 1.0, 1.5)
"""Where a side is first looked at, in units of where its end would be on a parabola."""

_OUTWARD = (1.6, 2.6, 4.2)
_DECADES = 3.0
_FARTHEST = 100.0
_ROUNDS = 12
_ITERATIONS = 25
_SETTLED = 0.01
"""Share of the threshold by which an iteration may still lower the misfit when it is called settled."""

_NEAR = 0.05
"""Share of the threshold's root within which a visited point stands for the end of the interval."""


def _white(information: np.ndarray) -> np.ndarray:
    """The covariance that white residuals of unit variance would leave."""
    size = np.sqrt(np.maximum(np.diagonal(information), 1e-300))
    return np.linalg.pinv(information / np.outer(size, size), rcond=1e-12, hermitian=True) / np.outer(size, size)


def _inflation(here: Known, k: int) -> float:
    """Variance of coordinate k's estimate over that of white residuals of unit variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.diagonal(here.uncertainty.covariance) / np.diagonal(_white(here.uncertainty.information))
    ratio = np.where(np.isfinite(ratio) & (ratio > 0), ratio, 1.0)
    place = {int(c): n for n, c in enumerate(here.covered)}
    # One that ended at a bound has no variance of its own: the largest of the others is on the safe side.
    return float(ratio[place[k]] if k in place else ratio.max(initial=1.0))


@dataclasses.dataclass(frozen=True, eq=False)
class Floor:
    """The floor of a valley: all `coordinates` at each visited place (place, n), the `rise` [1] there over the lowest,
    the coordinates of the two `ends` (`None` where the rise stays below the threshold), the `inflation` [1]."""

    coordinates: np.ndarray
    rise: np.ndarray
    ends: tuple[float | None, float | None]
    inflation: float


class Valley:
    """The least cost along one coordinate, visited outward from the estimate until it has risen enough."""

    def __init__(
        self,
        made: Setup,
        problem: Problem,
        point: Point,
        here: Known,
        k: int,
        lanes: int,
        solver: Solver,
        progress: Callable[[str, int, float], None],
    ) -> None:
        self.made, self.k, self.lanes, self.solver, self.progress = made, k, lanes, solver, progress
        self.problem = eqx.tree_at(lambda p: p.moves, problem, problem.moves.at[k].set(0.0))
        self.parameter = made.model.free.parameters[made.problem.owner[k]]
        self.name = made.names[k]
        self.inflation = _inflation(here, k)
        self.centre = float(point.coordinates[k])
        self.visited: dict[float, tuple[float, Point]] = {}
        self.response, spread = self._response(here, point)
        self.low, self.high = self._reach(spread)
        self.iteration = 0
        self._visit([self.centre], point)
        self._visit(self._first(spread, bool(here.bound[k])), point)

    def _response(self, here: Known, point: Point) -> tuple[np.ndarray, float]:
        """How the other coordinates follow this one near the estimate, and its standard deviation."""
        response = np.zeros(point.coordinates.shape[0])
        place = {int(c): n for n, c in enumerate(here.covered)}
        if self.k not in place:
            return response, np.inf
        column = _white(here.uncertainty.information)[:, place[self.k]]
        if column[place[self.k]] > 0:
            response[here.covered] = column / column[place[self.k]]
        return response, float(np.sqrt(here.uncertainty.covariance[place[self.k], place[self.k]]))

    def _reach(self, spread: float) -> tuple[float, float]:
        """The coordinates between which values are looked for."""
        bijector, parameter = self.parameter.bijector(), self.parameter

        def at(value: float) -> float:
            return float(bijector.coordinate(jnp.asarray(value)))

        if isinstance(bijector, Logit):
            low, high = at(parameter.inside(parameter.lower)), at(parameter.inside(parameter.upper))
        elif isinstance(bijector, Logarithm):
            middle = max(self.centre, at(parameter.inside(0.0)))
            low = max(middle - _DECADES * np.log(10), float(jnp.log(bijector.floor)))
            high = middle + _DECADES * np.log(10)
        else:
            wide = _FARTHEST * min(spread, max(abs(self.centre), 1.0))
            low, high = self.centre - wide, self.centre + wide
        return min(low, self.centre), max(high, self.centre)

    def _first(self, spread: float, bound: bool) -> list[float]:
        if bound:
            # Far off in its coordinate and near in its value: no spread tells where to look.
            return [float(x) for x in np.linspace(self.centre, self.high, 8)[1:]] + [self.low]
        room = (self.high - self.low) / 8
        step = min(_Z95 * spread, room)
        return [self.centre + side * share * step for share in _FIRST for side in (-1, 1)]

    def _start(self, target: float, point: Point) -> Point:
        """Where the others are likely to be: on the line through the two nearest visited points."""
        near = sorted(self.visited, key=lambda c: abs(c - target))[:2]
        if not near:
            return point
        first = self.visited[near[0]][1]
        if len(near) == 1:
            coordinates = first.coordinates + (target - near[0]) * jnp.asarray(self.response)
            return Point(coordinates.at[self.k].set(target), first.initial)
        second = self.visited[near[1]][1]
        share = float(np.clip((target - near[0]) / (near[0] - near[1]), -1.0, 1.0))
        coordinates = first.coordinates + share * (first.coordinates - second.coordinates)
        initial = first.initial + share * (first.initial - second.initial)
        return Point(coordinates.at[self.k].set(target), initial)

    def _plain(self, target: float, point: Point) -> Point:
        near = min(self.visited, key=lambda c: abs(c - target), default=None)
        at = point if near is None else self.visited[near][1]
        return Point(at.coordinates.at[self.k].set(target), at.initial)

    def _visit(self, targets: Iterable[float], point: Point) -> None:
        """Fit all others at these values of the coordinate."""
        wanted = sorted({float(np.clip(t, self.low, self.high)) for t in targets} - set(self.visited))
        for first in range(0, len(wanted), self.lanes):
            part = wanted[first : first + self.lanes]
            filled = part + part[-1:] * (self.lanes - len(part))
            points = _stacked([self._start(t, point) for t in filled])
            _, _, costs = _advance(
                self.solver, self.problem, points, _begin(self.solver, points), everything(self.problem, points)
            )
            wild = ~np.isfinite(np.asarray(costs))
            if wild.any():
                plain = [self._plain(t, point) if wild[n] else _of(points, n) for n, t in enumerate(filled)]
                points = _stacked(plain)
            points, costs = self._settled(points)
            for n, target in enumerate(part):
                self.visited[target] = (float(costs[n]), _of(points, n))

    def _settled(self, points: Point) -> tuple[Point, np.ndarray]:
        tolerance = _SETTLED * THRESHOLD * self.inflation / 2
        states, quiet = _begin(self.solver, points), 0
        before = costs = np.full(self.lanes, np.inf)
        for _ in range(_ITERATIONS):
            moved, states, values = _advance(
                self.solver, self.problem, points, states, everything(self.problem, points)
            )
            costs = np.where(np.isfinite(np.asarray(values)), np.asarray(values), np.inf)
            self.progress(f"profile of {self.name}", self.iteration, float(costs.min()))
            self.iteration += 1
            with np.errstate(invalid="ignore"):
                quiet = 0 if np.any(before - costs > tolerance) else quiet + 1
            if quiet >= 2:
                break
            points, before = moved, costs
        return points, costs

    def _rises(self) -> tuple[np.ndarray, np.ndarray]:
        """The visited coordinates in order, and the rise at each."""
        at = np.array(sorted(self.visited))
        costs = np.array([self.visited[c][0] for c in at])
        return at, 2 * (costs - costs.min()) / self.inflation

    def _next(self, side: int) -> list[float]:
        """Where to look next on one side: further out, or between the two points around its end; nowhere if known."""
        at, rises = self._rises()
        middle = float(at[np.argmin(rises)])
        out = [(c, r) for c, r in zip(at, rises, strict=True) if side * (c - middle) >= 0][::side]
        limit = self.high if side > 0 else self.low
        beyond = next((n for n, (_, rise) in enumerate(out) if rise >= THRESHOLD), None)
        if beyond is None:
            last = float(out[-1][0])
            if side * (limit - last) <= 1e-9 * max(1.0, abs(limit)):
                return []
            gone = max(abs(last - middle), 1e-3 * abs(limit - middle))
            return [middle + side * g * gone for g in _OUTWARD]
        (inner, low), (outer, high) = out[beyond - 1], out[beyond]
        roots = np.sqrt([low, high])
        if np.min(np.abs(roots - _Z95)) < _NEAR * _Z95 or abs(outer - inner) < 1e-3 * abs(outer - middle):
            return []
        halfway = (inner + outer) / 2
        if not np.isfinite(high):
            return [halfway]
        share = (_Z95 - roots[0]) / (roots[1] - roots[0])
        return [
            inner + float(np.clip(share, 0.02, 0.98)) * (outer - inner),
            *([halfway] if roots[1] > 2 * _Z95 else []),
        ]

    def _end(self, side: int) -> float | None:
        """The coordinate at which the rise passes the threshold; `None` where it does not."""
        at, rises = self._rises()
        middle = int(np.argmin(rises))
        at, rises = (at[middle:], rises[middle:]) if side > 0 else (at[: middle + 1][::-1], rises[: middle + 1][::-1])
        beyond = np.flatnonzero(rises >= THRESHOLD)
        if len(beyond) == 0:
            return None
        last = int(beyond[0])
        if not np.isfinite(rises[last]):
            return float(at[last])
        # The root of the rise is nearly a line; what lies further out says nothing about the end.
        roots = np.sqrt(rises[: last + 1])
        # Imported where it is used: few fits ask for a profile, and all would wait for it.
        from scipy.interpolate import PchipInterpolator

        fine = np.linspace(0.0, 1.0, 2001)
        away = np.abs(at[: last + 1] - at[0])
        path = PchipInterpolator(away / away[-1], roots)(fine)
        return float(at[0] + side * away[-1] * fine[int(np.argmax(path >= _Z95))])

    def explored(self) -> "Floor":
        """The floor of the valley, after as many visits as both ends need."""
        for _ in range(_ROUNDS):
            targets, before = [*self._next(-1), *self._next(1)], len(self.visited)
            self._visit(targets, self.visited[self.centre][1])
            if len(self.visited) == before:
                break
        at, rise = self._rises()
        there = np.stack([np.asarray(self.visited[c][1].coordinates) for c in at])
        return Floor(there, rise, (self._end(-1), self._end(1)), self.inflation)


def _stacked(points: Sequence[Point]) -> Point:
    return Point(jnp.stack([p.coordinates for p in points]), jnp.stack([p.initial for p in points]))


def _of(points: Point, n: int) -> Point:
    return Point(points.coordinates[n], points.initial[n])
