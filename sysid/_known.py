"""What is known around one end of a walk."""

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ._estimate import stands_at_bound
from ._identifiability import OPEN, Direction, directions
from ._linearized import each_linearized, each_seen
from ._normal_equations import Point
from ._problem import Jacobian, Problem
from ._setup import Setup, usable_rows
from ._uncertainty import Uncertainty, uncertainty


@dataclasses.dataclass(frozen=True, eq=False)
class Known:
    """Around a point: per coordinate its `value`, whether it stands at a `bound` and whether it is `lively`, which the
    data see; `covered` are the coordinates that `uncertainty` covers; `directions` over `direction_names`, and the
    `correlation` of their errors; `predicted` channels; `step_share` [1] of the residuals, root mean square, that half
    the step would change."""

    value: np.ndarray
    bound: np.ndarray
    lively: np.ndarray
    covered: np.ndarray
    uncertainty: Uncertainty
    directions: list[Direction]
    direction_names: list[str]
    correlation: np.ndarray
    predicted: dict[str, np.ndarray]
    step_share: float

    @property
    def determined(self) -> int:
        """How many combinations the logs fix."""
        return sum(d.spread <= OPEN for d in self.directions)


def known(
    made: Setup, problem: Problem, points: Sequence[Point], lanes: int = 1, around: Sequence[Jacobian] | None = None
) -> list[Known]:
    """What is known around each of the points; `problem` is that of `made` with the last scales and resets, `lanes` as
    for `each_linearized`, `around` its result where that is known already."""
    free, owners = made.model.free.parameters, list(enumerate(problem.owner))
    values = [
        np.array([float(problem.unknowns.bijectors[o].value(point.coordinates[k])) for k, o in owners])
        for point in points
    ]
    bounds = [
        np.array([stands_at_bound(free[o], float(value[k]), free[o].start) for k, o in owners], dtype=bool)
        for value in values
    ]
    here = each_linearized(problem, points, lanes=lanes) if around is None else around
    halved = each_seen(problem, points, finer=2, lanes=lanes)
    # A parameter that ended at a bound has lost its effect there, not its part in a combination: its effect is taken at
    # a typical value.
    stuck = [k for k, bound in enumerate(bounds) if bound.any()]
    off = [_off_bounds(made, problem, points[k], bounds[k]) for k in stuck]
    moved = dict(zip(stuck, zip(off, each_linearized(problem, off, lanes=lanes), strict=True), strict=True))
    return [
        _known(made, problem, point, values[k], bounds[k], here[k], np.asarray(halved[k].residuals), moved.get(k))
        for k, point in enumerate(points)
    ]


def _off_bounds(made: Setup, problem: Problem, point: Point, bound: np.ndarray) -> Point:
    free = made.model.free.parameters
    usual = [free[o].bijector().coordinate(jnp.asarray(free[o].typical)) for o in problem.owner]
    return Point(jnp.where(jnp.asarray(bound), jnp.stack(usual), point.coordinates), point.initial)


def _known(
    made: Setup,
    problem: Problem,
    point: Point,
    value: np.ndarray,
    bound: np.ndarray,
    here: Jacobian,
    halved: np.ndarray,
    moved: tuple[Point, Jacobian] | None,
) -> Known:
    """What is known around a point, from the problem `here`, `halved` in its steps and `moved` off its bounds."""
    residual, derivative = np.asarray(here.residuals), np.asarray(here.derivatives)
    pick = np.asarray(problem.batch.pick)
    lively = _lively(derivative, pick, len(made.names))
    covered = np.flatnonzero(lively & ~bound)
    spread = _covered(residual, halved, derivative, point, problem, covered)
    if moved is None:
        wide, names = spread, covered
        ways = directions(spread.information, spread.covariance, relative_sizes(made, point)[covered])
    else:
        off, there = moved
        inner, columns = np.asarray(there.derivatives), derivative.copy()
        for s, row in enumerate(pick):
            columns[s][..., : len(row)][..., bound[row]] = inner[s][..., : len(row)][..., bound[row]]
        names = np.flatnonzero(_lively(columns, pick, len(made.names)))
        wide = _covered(residual, halved, columns, off, problem, names)
        ways = directions(wide.information, wide.covariance, relative_sizes(made, off)[names])
    errors = np.sqrt(np.maximum(np.diagonal(wide.covariance), 1e-300))
    correlation = wide.covariance / np.outer(errors, errors)
    predicted = {c: np.asarray(v) for c, v in here.predicted.items()}
    step_share = _share(halved - residual, residual)
    called = [made.names[int(k)] for k in names]
    return Known(value, bound, lively, covered, spread, ways, called, correlation, predicted, step_share)


def _share(change: np.ndarray, residual: np.ndarray) -> float:
    """The largest ratio of the two over the channels, root mean square."""
    power = np.sum(residual**2, axis=(0, 2))
    return float(np.sqrt(np.max(np.sum(change**2, axis=(0, 2)) / np.maximum(power, 1e-300))))


def _slope(problem: Problem, point: Point, k: int) -> float:
    """Change of a value per unit of its coordinate."""
    bijector, coordinate, step = problem.unknowns.bijectors[problem.owner[k]], float(point.coordinates[k]), 1e-6
    up, down = (float(bijector.value(jnp.asarray(coordinate + d))) for d in (step, -step))
    return (up - down) / (2 * step)


def relative_sizes(made: Setup, point: Point) -> np.ndarray:
    """Relative change of each coordinate's value per unit of it, (n,)."""
    sizes = []
    for k, owner in enumerate(made.problem.owner):
        parameter = made.model.free.parameters[owner]
        here = float(made.problem.unknowns.bijectors[owner].value(point.coordinates[k]))
        size = abs(here) if parameter.lower >= 0 else max(abs(here), parameter.scale)
        sizes.append(_slope(made.problem, point, k) / max(size, 1e-300))
    return np.array(sizes)


def _lively(derivative: np.ndarray, pick: np.ndarray, total: int) -> np.ndarray:
    """Whether a coordinate has any effect on any residual."""
    power = np.zeros(total)
    np.add.at(power, pick, np.sum(derivative[..., : pick.shape[1]] ** 2, axis=(1, 2)))
    return power > 0


def spreads_of(
    problem: Problem,
    point: Point,
    residual: np.ndarray,
    derivative: np.ndarray,
    covered: np.ndarray,
    segments: np.ndarray,
) -> dict[int, float]:
    """Standard deviations of the `covered` coordinates that `segments` alone leave at `point`, their own best, from the
    residuals there and their derivatives."""
    part = eqx.tree_at(
        lambda p: p.batch, problem, jax.tree_util.tree_map(lambda x: np.asarray(x)[segments], problem.batch)
    )
    lively = _lively(derivative[segments], np.asarray(part.batch.pick), len(problem.owner))
    inner = np.array([k for k in covered if lively[k]], dtype=int)
    found = _covered(residual[segments], residual[segments], derivative[segments], point, part, inner)
    return dict(zip(map(int, inner), np.sqrt(np.maximum(np.diagonal(found.covariance), 0.0)).tolist(), strict=True))


def _covered(
    residual: np.ndarray,
    halved: np.ndarray,
    derivative: np.ndarray,
    point: Point,
    problem: Problem,
    inner: np.ndarray,
) -> Uncertainty:
    """The uncertainty of the coordinates that move freely; one at a bound or without effect is held."""
    pick = np.asarray(problem.batch.pick)
    position = {int(k): n for n, k in enumerate(inner)}
    local = [k for k in range(pick.shape[1]) if any(int(p) in position for p in pick[:, k])]
    own = list(range(pick.shape[1], derivative.shape[-1]))
    renamed = np.array([[position.get(int(p), 0) for p in row[local]] for row in pick], dtype=int).reshape(
        len(pick), -1
    )
    columns = derivative[..., local + own].copy()
    for s, row in enumerate(pick):
        for n, k in enumerate(local):
            if int(row[k]) not in position:
                columns[s, ..., n] = 0.0
    # A prior speaks of the physical value, the covariance of the coordinate.
    width = np.asarray(problem.prior.width)[inner]
    slopes = np.array(
        [_slope(problem, point, int(k)) if np.isfinite(w) else 0.0 for k, w in zip(inner, width, strict=True)]
    )
    prior = (slopes / width) ** 2
    channels = list(problem.batch.channels)
    return uncertainty(
        residual,
        halved,
        columns,
        usable_rows(problem),
        np.array([float(problem.scales.bend[c]) for c in channels]),
        renamed,
        len(inner),
        prior,
        channels,
    )
