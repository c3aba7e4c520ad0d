"""What is left of the logs when a fit is done, told by its shape: one-sided, late, or drifting.

The last two are score tests: how much of the misfit one more unknown would take away, were it in the model. Its column
is what the residuals would change by, less what the fitted parameters can do themselves, so that a delay which the
inertia has swallowed in part is still found. A delay of whole rows is also tried out.
"""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ._known import Known
from ._linearized import linearized, seen
from ._normal_equations import Point
from ._one_sided import BEND, one_sided
from ._problem import INITIAL_REACH, Problem
from ._rounding import short
from ._setup import Setup, usable_rows
from ._split import laid_like
from ._verdict import Caution

_QUIET_MISFIT, _QUIET_MEMORY = 1.15, 0.15
"""Mean square residual in sensor noise, and lag-one correlation: below both nothing is left to explain."""

_SHARE = 0.4
"""Share of what exceeds the noise that one unknown must explain to be named."""

_SURE = 40.0
"""Fall of a sum of squares in standard deviations of the noise [1] below which a name may be chance."""

_LATER = (1, 2, 4, 8, 16)
"""Rows by which a command is tried later."""

_MOST_NAMES = 2
_WARM = ("resistance", "motor_constant", "torque_constant", "back_emf_constant")


@dataclasses.dataclass(frozen=True)
class _Suspect:
    """One more unknown: its `kind`, how an amount of it is told, its `column` (segment, channel, time); by how much the
    misfit was seen to `fall` with a `tried` amount and all else as it was."""

    kind: str
    told: Callable[[float], Caution]
    column: np.ndarray
    least: float = -np.inf
    tried: float = 0.0
    fall: float = 0.0


def named(
    made: Setup, problem: Problem, point: Point, here: Known, misfit: dict[str, float], lanes: int
) -> list[Caution]:
    """The shapes that are recognised in the residuals at `point`; none where they are white and as small as the noise.

    **Arguments:** `misfit`: mean square residual of each channel in its sensor's noise; `lanes`: see `one_sided`.
    """
    memory = max(map(abs, here.uncertainty.correlation.values()), default=0.0)
    if max(misfit.values(), default=0.0) < _QUIET_MISFIT and memory < _QUIET_MEMORY:
        return []
    found, problem, point = one_sided(made, problem, point, lanes)
    around = linearized(problem, point, lanes=lanes)
    residual, derivative = np.asarray(around.residuals), np.asarray(around.derivatives)
    predicted = {c: np.asarray(v) for c, v in around.predicted.items()}
    suspects = [
        *_late_commands(made, problem, point, residual, lanes),
        *_late_sensors(made, problem, predicted),
        *_drifts(made, problem, point, here, derivative),
    ]
    return found + _convicted(made, problem, here, residual, derivative, suspects)


def _rows(made: Setup, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Time of every row [s], and where in its log it stands, from -1/2 to 1/2; (segment, time)."""
    shape = problem.batch.dt.shape
    time, place = np.zeros(shape), np.zeros(shape)
    for s, piece in enumerate(made.cut):
        log, rows = made.logs[piece.log], piece.last - piece.first
        time[s, :rows] = log.time[piece.first : piece.last]
        place[s, :rows] = (time[s, :rows] - log.time[0]) / max(log.time[-1] - log.time[0], 1e-300) - 0.5
    return time, place


def _late_commands(made: Setup, problem: Problem, point: Point, residual: np.ndarray, lanes: int) -> list[_Suspect]:
    """The command some rows later, as a secant: a stepped command has hardly a slope in its delay."""
    row = float(np.median([log.dt for log in made.logs]))
    free = {parameter.name for parameter in made.model.free.parameters}
    if "delay" in free:
        return []
    found = []
    for rows in _LATER:
        # Late as data, so that the program of the fit serves, which may know of no delay.
        later = eqx.tree_at(lambda p: p.batch.command, problem, _later(problem, rows * row))
        moved = np.asarray(seen(later, point, lanes=lanes).residuals)
        column = (moved - residual) / (rows * row)

        def told(amount: float) -> Caution:
            return Caution(
                "lagging_residuals",
                f"the residuals lag: the motor acts about {_milliseconds(amount)} later than commanded, a delay that"
                " the model lacks; free it with --free delay (and --free lag), or check the stamps of the command",
                ("delay",),
            )

        # Pulses of many sigmas, which a late command leaves, are no straight line in the delay: they go all at once.
        fall = _power(problem, residual) - _power(problem, moved)
        found.append(_Suspect("late", told, column, least=0.25 * row, tried=rows * row, fall=fall))
    return found


def _later(problem: Problem, delay: float) -> Array:
    """The commands of all pieces so much later [s]."""
    commands, steps = np.asarray(problem.batch.command), np.asarray(problem.batch.dt)
    times = np.cumsum(steps, axis=1) - steps
    late = [np.interp(time - delay, time, command) for time, command in zip(times, commands, strict=True)]
    return laid_like(problem.batch.command, np.stack(late))


def _milliseconds(seconds: float) -> str:
    return f"{short(1e3 * seconds, 2 if seconds < 0.1 else 3)} ms"


def _late_sensors(made: Setup, problem: Problem, predicted: dict[str, np.ndarray]) -> list[_Suspect]:
    """A channel that is read late: what was true then is read now."""
    time, _ = _rows(made, problem)
    usable, found = usable_rows(problem), []
    for k, channel in enumerate(problem.batch.channels):
        column = np.zeros(usable.shape)
        for s, piece in enumerate(made.cut):
            rows = piece.last - piece.first
            slope = np.gradient(predicted[channel][s, :rows], time[s, :rows])
            # A later reading is a smaller prediction where the truth rises.
            column[s, k, :rows] = -slope / float(problem.scales.sigma[channel]) * usable[s, k, :rows]

        def told(amount: float, channel: str = channel) -> Caution:
            late = "late" if amount > 0 else "early"
            return Caution(
                "lagging_residuals",
                f"residuals of the {channel} lag: it is read about {_milliseconds(abs(amount))} too {late}, by a filter"
                " or a delay of its sensor that the model lacks; shift its stamps, or compare fewer channels",
            )

        found.append(_Suspect("late", told, column))
    return found


def _drifts(made: Setup, problem: Problem, point: Point, here: Known, derivative: np.ndarray) -> list[_Suspect]:
    """A parameter, or the zero of a sensor, that changes steadily over each log, or is off from the start."""
    _, place = _rows(made, problem)
    usable, pick, found = usable_rows(problem), np.asarray(problem.batch.pick), []
    for k in map(int, here.covered):
        column = np.zeros(usable.shape)
        for s, row in enumerate(pick):
            for n in np.flatnonzero(row == k):
                column[s] += derivative[s, ..., n] * place[s]
        owner, at = problem.owner[k], float(point.coordinates[k])

        def told(amount: float, k: int = k, owner: int = owner, at: float = at) -> Caution:
            low, high = (
                float(problem.unknowns.bijectors[owner].value(jnp.asarray(at + a * amount))) for a in (-0.5, 0.5)
            )
            name, unit = made.names[k], made.model.free.parameters[owner].place.unit
            warm = " as a motor that warms up does; use a thermal model, with the temperature logged if it can be,"
            plain = " (warming grease, a load that changes);"
            return Caution(
                "drifting_residuals",
                f"the residuals drift: as if {name} went from {short(low)} to {short(high)} {unit} over the log,"
                f"{warm if name in _WARM else plain} or fit shorter logs",
                (name,),
            )

        found.append(_Suspect("drift", told, column))
    for c, channel in enumerate(problem.batch.channels):
        constant = np.zeros(usable.shape)
        constant[:, c] = usable[:, c] / float(problem.scales.sigma[channel])

        def off(amount: float, channel: str = channel) -> Caution:
            unit, name = made.logs[0].units.get(channel, ""), f"{channel}_offset"
            return Caution(
                "offset_residuals",
                f"residuals of the {channel} are off by {short(amount)} {unit} throughout: its sensor has an offset"
                f" that the model lacks; free it with --free {name}, or log a second at rest first",
                (name,),
            )

        def zero(amount: float, channel: str = channel) -> Caution:
            unit = made.logs[0].units.get(channel, "")
            return Caution(
                "drifting_residuals",
                f"residuals of the {channel} drift: its sensor's zero moves by {short(amount)} {unit} over the log",
            )

        # A zero drifts from where it was set: from the start on.
        found.append(_Suspect("drift", zero, constant * (place + 0.5)[:, None, :]))
        found.append(_Suspect("offset", off, constant))
    return found


def _convicted(
    made: Setup, problem: Problem, here: Known, residual: np.ndarray, derivative: np.ndarray, suspects: list[_Suspect]
) -> list[Caution]:
    """The suspects that explain most, one after the other, as long as they explain enough of what is left."""
    gram, floor = _gram(made, problem, here, residual, derivative, [s.column for s in suspects])
    shared = len(here.covered)
    known, target = list(range(shared)), shared
    found: list[Caution] = []
    kinds: set[str] = set()
    while len(found) < _MOST_NAMES:
        left, best = _left(gram, known), None
        for n, suspect in enumerate(suspects):
            k = target + 1 + n
            # What the fitted parameters can do themselves is rounding.
            if suspect.kind in kinds or left[k, k] <= 1e-6 * gram[k, k] or gram[k, k] == 0:
                continue
            amount, fall = -left[k, target] / left[k, k], left[k, target] ** 2 / left[k, k]
            amount, fall = max([(amount, fall), (suspect.tried, suspect.fall)], key=lambda pair: pair[1])
            if amount > suspect.least and (best is None or fall > best[0]):
                best = (fall, n, amount)
        if best is None or best[0] < max(_SHARE * (left[target, target] - floor), _SURE * floor / _count(problem)):
            break
        fall, n, amount = best
        found.append(suspects[n].told(float(amount)))
        kinds.add(suspects[n].kind)
        known.append(target + 1 + n)
    return found


def _bend(problem: Problem) -> np.ndarray:
    """From how many sigmas on residuals count linearly, (channel, 1)."""
    return np.array([max(BEND, float(problem.scales.bend[c])) for c in problem.batch.channels])[:, None]


def _power(problem: Problem, residual: np.ndarray) -> float:
    """Sum of squares of residuals, of which large ones count as little as they do in a fit."""
    weights = usable_rows(problem) / np.sqrt(1 + (residual / _bend(problem)) ** 2)
    return float(np.sum(weights * residual**2))


def _count(problem: Problem) -> int:
    return max(int(usable_rows(problem).sum()), 1)


def _left(gram: np.ndarray, known: list[int]) -> np.ndarray:
    """The products of the columns less their parts along the known ones."""
    size = np.sqrt(np.maximum(np.diagonal(gram)[known], 1e-300))
    inner = np.linalg.pinv(gram[np.ix_(known, known)] / np.outer(size, size), rcond=1e-10, hermitian=True)
    across = gram[:, known] / size
    return gram - across @ inner @ across.T


def _gram(
    made: Setup,
    problem: Problem,
    here: Known,
    residual: np.ndarray,
    derivative: np.ndarray,
    columns: list[np.ndarray],
) -> tuple[np.ndarray, float]:
    """Products of fitted columns, residuals and `columns`, less the segments' initial states; and the part of the
    residuals' own that is noise."""
    usable, pick = usable_rows(problem), np.asarray(problem.batch.pick)
    channels = list(problem.batch.channels)
    bend = _bend(problem)
    noise = np.array([made.noise[c] / float(problem.scales.sigma[c]) for c in channels])[:, None]
    place = {int(k): n for n, k in enumerate(here.covered)}
    total, floor = np.zeros((len(place) + 1 + len(columns),) * 2), 0.0
    for s, row in enumerate(pick):
        weights = usable[s] / np.sqrt(1 + (residual[s] / bend) ** 2)
        floor += float(np.sum(weights * noise**2))
        kept, root = usable[s].reshape(-1), np.sqrt(weights).reshape(-1)
        flat = derivative[s].reshape(-1, derivative.shape[-1])
        fitted = np.zeros((len(root), len(place)))
        for n, k in enumerate(row):
            if int(k) in place:
                fitted[:, place[int(k)]] += flat[:, n]
        all_columns = [fitted, residual[s].reshape(-1, 1), *(c[s].reshape(-1, 1) for c in columns)]
        x = (np.concatenate(all_columns, axis=1) * root[:, None])[kept]
        own = (flat[:, len(row) :] * root[:, None])[kept]
        inner = own.T @ own + np.eye(own.shape[1]) / INITIAL_REACH**2
        total += x.T @ x - (x.T @ own) @ np.linalg.solve(inner, own.T @ x)
    return total, floor
