"""From the best point of a walk to a result that says what it is worth."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ._estimate import Estimate, estimate, stands_at_bound
from ._free import Subject, write
from ._identifiability import Direction, directions
from ._log import Log
from ._metrics import Comparison, comparisons
from ._normal_equations import Point
from ._problem import Jacobian, Problem
from ._result import Fit
from ._setup import Setup, setup, usable_rows
from ._uncertainty import Uncertainty, uncertainty
from ._verdict import cautions

_EQUAL_COST = 1.005


@eqx.filter_jit
def _linearized(problem: Problem, point: Point) -> Jacobian:
    return problem.jacobian(point)


def linearized(problem: Problem, point: Point, finer: int = 1) -> Jacobian:
    """The problem around a point, with `finer` times as many steps per row: one program whatever their number."""
    return _linearized(problem.stepped(finer * int(problem.substeps), reverse=False), point)


@eqx.filter_jit
def _predictions(problem: Problem, point: Point):
    return problem.predictions(point)


def chosen(points: Point, values: np.ndarray) -> Point:
    """The start of least cost."""
    best = int(np.nanargmin(values))
    return Point(points.coordinates[best], points.initial[best])


def _slope(problem: Problem, point: Point, k: int) -> float:
    """Change of a value per unit of its coordinate."""
    bijector, coordinate, step = problem.unknowns.bijectors[problem.owner[k]], float(point.coordinates[k]), 1e-6
    up, down = (float(bijector.value(jnp.asarray(coordinate + d))) for d in (step, -step))
    return (up - down) / (2 * step)


def _sizes(made: Setup, point: Point) -> np.ndarray:
    """Relative change of each coordinate's value per unit of the coordinate."""
    sizes = []
    for k, owner in enumerate(made.problem.owner):
        parameter = made.model.free.parameters[owner]
        here = float(made.problem.unknowns.bijectors[owner].value(point.coordinates[k]))
        size = abs(here) if parameter.lower >= 0 else max(abs(here), parameter.scale)
        sizes.append(_slope(made.problem, point, k) / max(size, 1e-300))
    return np.array(sizes)


def _estimates(
    made: Setup, point: Point, known: Uncertainty, inner: np.ndarray, lively: np.ndarray, bound: np.ndarray
) -> list[Estimate]:
    """Every coordinate's estimate; `inner` are those that the covariance covers, `lively` those the data see, `bound`
    those that ended at a bound."""
    found, place = [], {int(k): n for n, k in enumerate(inner)}
    for k, (name, owner) in enumerate(zip(made.names, made.problem.owner, strict=True)):
        variance = float(known.covariance[place[k], place[k]]) if k in place else 0.0
        found.append(
            estimate(
                made.model.free.parameters[owner],
                name,
                float(point.coordinates[k]),
                variance,
                float(lively[k]),
                bool(bound[k]),
            )
        )
    return found


def _disagreeing(made: Setup, points: Point, values: np.ndarray, open_names: set[str]) -> dict[str, float]:
    """Parameters in which starts of equal cost differ by more than a tenth, as the ratio of extremes."""
    equal = values <= _EQUAL_COST * np.nanmin(values)
    if equal.sum() < 2:
        return {}
    found = {}
    for k, (name, owner) in enumerate(zip(made.names, made.problem.owner, strict=True)):
        ends = np.asarray(made.problem.unknowns.bijectors[owner].value(points.coordinates[equal, k]))
        low, high = float(np.min(np.abs(ends))), float(np.max(np.abs(ends)))
        if made.model.free.parameters[owner].lower >= 0 and high > 1.1 * low and name not in open_names:
            found[name] = high / max(low, 1e-300)
    return found


def conclude(
    made: Setup,
    problem: Problem,
    points: Point,
    values: np.ndarray,
    held: Sequence[Log],
    sensor_misfit: dict[str, float],
    trace: list[tuple[str, int, float]],
    settings: dict[str, Any],
) -> tuple[Fit, float]:
    """The result at the best of `points`, and by how many standard errors halving the step would move an identified
    parameter at most; `problem` is that of `made` with the last scales and resets."""
    point = chosen(points, values)
    around = linearized(problem, point)
    residual, derivative = np.asarray(around.residuals), np.asarray(around.derivatives)
    halved = np.asarray(linearized(problem, point, finer=2).residuals)
    channels = list(problem.batch.channels)
    pick, total = np.asarray(problem.batch.pick), len(made.names)
    sizes = _sizes(made, point)
    free = made.model.free.parameters
    at_values = [float(problem.unknowns.bijectors[o].value(point.coordinates[k])) for k, o in enumerate(problem.owner)]
    bound = np.array(
        [stands_at_bound(free[o], v, free[o].start) for o, v in zip(problem.owner, at_values, strict=True)]
    )
    lively = _lively(derivative, pick, total)
    inner = np.flatnonzero(lively & ~bound)
    known = _covered(residual, halved, derivative, point, problem, pick, inner)
    found = _estimates(made, point, known, inner, lively, bound)
    names = [made.names[k] for k in inner]
    ways, way_names = _ways(made, problem, point, bound, (residual, halved, derivative), known, sizes, inner)
    errors = np.sqrt(np.maximum(np.diagonal(known.covariance), 1e-300))
    shifts = dict(zip(names, np.abs(known.step_shift) / errors, strict=True))
    identified = {e.name for e in found if e.flag == "identified"}
    loose = {e.name for e in found if not e.identifiable}
    settled = {name: float(shift) for name, shift in shifts.items() if name in identified}
    warnings = cautions(
        found,
        ways,
        way_names,
        sensor_misfit,
        known.correlation,
        known.inflation,
        settled,
        _disagreeing(made, points, values, loose),
    )
    fitted = made.model.with_subject(_placed(made, problem, point, at_values))
    result = Fit(
        model=fitted,
        estimates=tuple(found),
        directions=tuple(ways),
        direction_names=tuple(way_names),
        correlation=known.covariance / np.outer(errors, errors),
        comparisons=tuple(
            _compared(made, problem, point, {c: np.asarray(v) for c, v in around.predicted.items()}, held)
        ),
        cautions=tuple(warnings),
        noise={c: float(problem.scales.sigma[c]) for c in channels},
        columns={c: made.logs[0].columns[c] for c in (made.roles.command, *channels) if c in made.logs[0].columns},
        timing={},
        trace=tuple(trace),
        settings=settings,
    )
    return result, max(settled.values(), default=0.0)


def _lively(derivative: np.ndarray, pick: np.ndarray, total: int) -> np.ndarray:
    """Whether a coordinate has any effect on any residual."""
    power = np.zeros(total)
    np.add.at(power, pick, np.sum(derivative[..., : pick.shape[1]] ** 2, axis=(1, 2)))
    return power > 0


def _ways(
    made: Setup,
    problem: Problem,
    point: Point,
    bound: np.ndarray,
    around: tuple[np.ndarray, np.ndarray, np.ndarray],
    known: Uncertainty,
    sizes: np.ndarray,
    inner: np.ndarray,
) -> tuple[list[Direction], list[str]]:
    """What the logs fix and leave open, and the names that this is said of.

    A parameter that ended at a bound has lost its effect there, not its part in a combination: its effect is taken at a
    typical value, with the residuals of the best point.
    """
    if not bound.any():
        return directions(known.information, known.covariance, sizes[inner]), [made.names[k] for k in inner]
    residual, halved, derivative = around
    free = made.model.free.parameters
    usual = [p.bijector().coordinate(jnp.asarray(p.typical)) for p in (free[o] for o in problem.owner)]
    off = Point(jnp.where(jnp.asarray(bound), jnp.stack(usual), point.coordinates), point.initial)
    pick = np.asarray(problem.batch.pick)
    columns = derivative.copy()
    moved = np.asarray(linearized(problem, off).derivatives)
    for s, row in enumerate(pick):
        columns[s][..., : len(row)][..., bound[row]] = moved[s][..., : len(row)][..., bound[row]]
    every = np.flatnonzero(_lively(columns, pick, len(made.names)))
    wide = _covered(residual, halved, columns, off, problem, pick, every)
    return directions(wide.information, wide.covariance, _sizes(made, off)[every]), [made.names[k] for k in every]


def _covered(
    residual: np.ndarray,
    halved: np.ndarray,
    derivative: np.ndarray,
    point: Point,
    problem: Problem,
    pick: np.ndarray,
    inner: np.ndarray,
) -> Uncertainty:
    """The uncertainty of the coordinates that move freely; one at a bound or without effect is held."""
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
    slopes = np.array([_slope(problem, point, int(k)) for k in inner])
    prior = (slopes / np.asarray(problem.prior.width)[inner]) ** 2
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


def _placed(made: Setup, problem: Problem, point: Point, values: list[float]) -> Subject:
    """The subject at the fitted values; a parameter of each log stands at the mean over the logs."""
    placed: dict[str, Any] = {}
    for index, parameter in enumerate(made.model.free.parameters):
        own = [v for v, owner in zip(values, problem.owner, strict=True) if owner == index]
        placed |= dict.fromkeys(parameter.place.paths, jnp.asarray(float(np.mean(own))))
    return write(made.model.subject, placed)


def _compared(
    made: Setup, problem: Problem, point: Point, predicted: dict[str, np.ndarray], held: Sequence[Log]
) -> list[Comparison]:
    sigma = {c: float(s) for c, s in problem.scales.sigma.items()}
    found = comparisons(list(made.logs), list(made.cut), predicted, sigma, "train")
    if held:
        other = setup(made.model, held, substeps=int(problem.substeps), like=made)
        # A log that was not fitted has no own values of per-log parameters: it gets their mean.
        owned = list(zip(np.asarray(point.coordinates), problem.owner, strict=True))
        means = [np.mean([c for c, o in owned if o == k]) for k in range(len(made.model.free.parameters))]
        start = Point(
            jnp.asarray([means[o] for o in other.problem.owner]),
            jnp.zeros((len(other.cut), point.initial.shape[-1])),
        )
        replayed = bool(np.asarray(problem.reset)[:, 1:].all())
        reset = jnp.full(other.problem.batch.dt.shape, replayed)
        values = _predictions(eqx.tree_at(lambda p: p.reset, other.problem, reset), start)
        ahead = {c: np.asarray(v) for c, v in values.items()}
        found += comparisons(list(other.logs), list(other.cut), ahead, sigma, "hold-out")
    return found
