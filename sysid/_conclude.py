"""From the best point of a walk to a result that says what it is worth."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ._compiled import compiled
from ._estimate import Estimate, estimate
from ._free import Subject, write
from ._known import Known, known
from ._log import Log
from ._metrics import Comparison, comparisons
from ._mirror import upright
from ._normal_equations import Point
from ._problem import Jacobian, Problem
from ._result import Fit
from ._settle import settled
from ._setup import Setup, setup, usable_rows
from ._verdict import cautions, confounded, held_out_cautions

_EQUAL_COST = 3.0
"""Half the change of a sum of squares [1] by which ends may differ and still be called equally good."""

_ROUGH = 0.02
_ENTANGLED = 100.0
"""Ratio of a standard error [1] to the one that all other parameters known would leave."""

_FEWER = 4
_OUTSIDE = 4.0
"""Standard errors apart from which two ends are not one."""


@compiled
def _predictions(problem: Problem, point: Point):
    return problem.predictions(point)


def chosen(points: Point, values: np.ndarray) -> Point:
    """The start of least cost."""
    best = int(np.nanargmin(values))
    return Point(jnp.asarray(np.asarray(points.coordinates)[best]), jnp.asarray(np.asarray(points.initial)[best]))


def _estimates(made: Setup, point: Point, here: Known, disagreeing: Mapping[str, float]) -> list[Estimate]:
    """Every coordinate's estimate; none has an interval where equally good starts lie outside of it."""
    found, place = [], {int(k): n for n, k in enumerate(here.covered)}
    for k, (name, owner) in enumerate(zip(made.names, made.problem.owner, strict=True)):
        variance = float(here.uncertainty.covariance[place[k], place[k]]) if k in place else 0.0
        single = estimate(
            made.model.free.parameters[owner],
            name,
            float(point.coordinates[k]),
            variance,
            float(here.lively[k]),
            bool(here.bound[k]),
        )
        information = float(here.uncertainty.information[place[k], place[k]]) if k in place else 0.0
        if single.relative is not None and single.relative > _ROUGH and variance * information > _ENTANGLED**2:
            # Known by what others are taken to be: no number to rely on by itself.
            single = dataclasses.replace(single, flag="weak" if single.flag == "identified" else single.flag)
        if name in disagreeing:
            single = dataclasses.replace(single, std_error=None, ci95=None, flag="open", relative=None)
        found.append(single)
    return found


def _equal(problem: Problem, points: Point, values: np.ndarray, here: Known) -> list[Point]:
    """The ends whose cost exceeds the least by no more than chance would explain."""
    rows = max(int(usable_rows(problem).sum()), 1)
    least = float(np.nanmin(values))
    # A difference of costs scales with the size of the residuals, and with their memory.
    scale = 2 * least / rows * max([1.0, *here.uncertainty.inflation.values()])
    close = np.flatnonzero(values <= least + max(_EQUAL_COST * scale, 1e-9 * least))
    # NumPy cuts without a program for each shape.
    coordinates, initial = np.asarray(points.coordinates), np.asarray(points.initial)
    return [Point(jnp.asarray(coordinates[k]), jnp.asarray(initial[k])) for k in close]


def _disagreeing(made: Setup, ends: Sequence[Point], point: Point, here: Known) -> dict[str, float]:
    """Parameters in which equally good ends differ by more than a tenth and lie far outside the interval, as the ratio
    of extremes."""
    found, place = {}, {int(k): n for n, k in enumerate(here.covered)}
    for k, (name, owner) in enumerate(zip(made.names, made.problem.owner, strict=True)):
        if k not in place:
            continue
        parameter, bijector = made.model.free.parameters[owner], made.problem.unknowns.bijectors[owner]
        at = np.array([float(end.coordinates[k]) for end in ends])
        values = np.array([float(bijector.value(end.coordinates[k])) for end in ends])
        low, high = float(np.min(values)), float(np.max(values))
        apart = high > 1.1 * low if parameter.lower >= 0 else high - low > 0.1 * parameter.scale
        width = np.sqrt(here.uncertainty.covariance[place[k], place[k]])
        if apart and np.max(np.abs(at - float(point.coordinates[k]))) > _OUTSIDE * width:
            found[name] = high / low if low > 0 else float("inf")
    return found


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """The best `point` of a walk: what is known `here`, the `ends` that are equally good, the parameters in which they
    are `disagreeing` (the ratio of extremes), every `estimate`; by how many standard errors halving the step would move
    each identified parameter, `shifts`."""

    point: Point
    here: Known
    ends: list[Point]
    disagreeing: dict[str, float]
    estimates: list[Estimate]
    shifts: dict[str, float]

    @property
    def shift(self) -> float:
        """By how many standard errors halving the step would move an identified parameter at most."""
        return max(self.shifts.values(), default=0.0)


def judge(
    made: Setup, problem: Problem, points: Point, values: np.ndarray, ended: Jacobian | None = None, lanes: int = 1
) -> Judged:
    """What the best of `points` is worth; `problem` is that of `made` with the last scales and resets, `ended` the
    problem around the best point where that is known already, `lanes` as for `linearized`."""
    point = chosen(points, values)
    (here,) = known(made, problem, [point], lanes, None if ended is None else [ended])
    ends = _equal(problem, points, values, here)
    disagreeing = _disagreeing(made, [upright(made, end) for end in ends], upright(made, point), here)
    found = _estimates(made, point, here, disagreeing)
    names = [made.names[int(k)] for k in here.covered]
    shifts = dict(zip(names, np.abs(here.uncertainty.step_shift) / _errors(here), strict=True))
    identified = {e.name for e in found if e.flag == "identified"}
    settled = {name: float(shift) for name, shift in shifts.items() if name in identified}
    return Judged(point, here, ends, disagreeing, found, settled)


def _errors(here: Known) -> np.ndarray:
    return np.sqrt(np.maximum(np.diagonal(here.uncertainty.covariance), 1e-300))


def conclude(
    made: Setup,
    problem: Problem,
    judged: Judged,
    held: Sequence[Log],
    sensor_misfit: dict[str, float],
    trace: list[tuple[str, int, float]],
    settings: dict[str, Any],
    lanes: int = 1,
) -> Fit:
    """The result at a point that was judged; `problem` and `lanes` as there."""
    here, found, channels = judged.here, judged.estimates, list(problem.batch.channels)
    # On a curved ridge one end may look better determined than the log allows: the least of the ends counts.
    others = [end for end in judged.ends if not _same(end, judged.point)] if judged.disagreeing else []
    # Derivatives by fewer steps tell as well which combinations the logs fix.
    rough = problem.stepped(max(1, int(problem.substeps) // _FEWER), reverse=False)
    alike = known(made, rough, others, lanes) if others else []
    least = min([here, *alike], key=_determined)
    warnings = cautions(
        found,
        least.directions,
        least.direction_names,
        sensor_misfit,
        here.uncertainty.correlation,
        here.uncertainty.inflation,
        judged.shifts,
        judged.disagreeing,
    )
    compared = _compared(made, problem, judged.point, here.predicted, held)
    warnings += confounded(found, here.direction_names, here.correlation)
    warnings += held_out_cautions(compared, made.noise)
    fitted = made.model.with_subject(_placed(made, problem, here.value.tolist()))
    errors = _errors(here)
    return Fit(
        model=fitted,
        estimates=tuple(found),
        directions=tuple(least.directions),
        direction_names=tuple(least.direction_names),
        correlation=here.uncertainty.covariance / np.outer(errors, errors),
        comparisons=tuple(compared),
        cautions=tuple(warnings),
        noise={c: float(problem.scales.sigma[c]) for c in channels},
        columns={c: made.logs[0].columns[c] for c in (made.roles.command, *channels) if c in made.logs[0].columns},
        timing={},
        trace=tuple(trace),
        settings=settings,
    )


def _determined(known: Known) -> int:
    return known.determined


def _same(one: Point, other: Point) -> bool:
    return bool(np.array_equal(one.coordinates, other.coordinates) and np.array_equal(one.initial, other.initial))


def _placed(made: Setup, problem: Problem, values: list[float]) -> Subject:
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
        ahead_of = eqx.tree_at(lambda p: (p.reset, p.scales), other.problem, (reset, problem.scales))
        start = start if made.window is None else settled(ahead_of, start)
        values = _predictions(ahead_of, start)
        ahead = {c: np.asarray(v) for c, v in values.items()}
        found += comparisons(list(other.logs), list(other.cut), ahead, sigma, "hold-out")
    return found
