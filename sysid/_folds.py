"""Cross-validation: fit without a group of logs, predict the group.

The logs of a group stay in the batch and only stop counting, so that every fold is data of one compiled program.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ._begin import begin
from ._errors import ModelError
from ._halves import better, side_by_side, solve_in_parts
from ._linearized import linearized
from ._log import Log
from ._model import Model
from ._normal_equations import Point
from ._problem import Problem
from ._settle import settled
from ._setup import BEND, Setup, usable_rows
from ._solve import Solver, Stage
from ._windows import scales

LOG = "log"


@dataclasses.dataclass(frozen=True)
class Group:
    """Logs that are held out together: those of one `name`, by their numbers."""

    name: str
    members: tuple[int, ...]


def groups(logs: Sequence[Log], by: str) -> list[Group]:
    """The logs apart by a condition, or each by itself (`by="log"`).

    **Raises:** `ModelError` when there are not two groups, or a log lacks the condition.
    """
    if by == LOG:
        found = {log.name: [number] for number, log in enumerate(logs)}
    else:
        found: dict[str, list[int]] = {}
        for number, log in enumerate(logs):
            if by not in log.conditions:
                has = ", ".join(sorted(log.conditions)) or "none"
                raise ModelError(f"--by {by}: {log.name} has no such condition (it has: {has}); use --by log")
            found.setdefault(f"{by} {log.conditions[by]:g}", []).append(number)
    if len(found) < 2:
        raise ModelError(f"cross-validation by {by} needs two groups of logs or more: there is one")
    return [Group(name, tuple(members)) for name, members in found.items()]


def usual_split(model: Model, logs: Sequence[Log]) -> str:
    """The condition that sets a parameter and differs between the logs, else each log by itself.

    A model is asked for what it will be used for: other settings, rather than more of the same.
    """
    for condition in model.conditions:
        if len({log.conditions.get(condition.condition) for log in logs}) > 1:
            return condition.condition
    return LOG


def without(problem: Problem, left_out: np.ndarray) -> Problem:
    """The problem in which the segments that `left_out` marks do not count."""
    counts = jnp.asarray(~left_out)[:, None]
    channels = {
        name: dataclasses.replace(channel, usable=channel.usable & counts)
        for name, channel in problem.batch.channels.items()
    }
    return dataclasses.replace(problem, batch=dataclasses.replace(problem.batch, channels=channels))


def held_out(
    made: Setup,
    group: Group,
    walk: Sequence[Stage],
    mover: Solver,
    begun: tuple[Mapping[str, float], int, int],
    progress: Callable[[str, int, float], None],
) -> dict[str, np.ndarray]:
    """Predictions (segment, time) of every channel with the model that all logs but those of `group` give.

    **Arguments:** `begun`: regressed values, number of starts and seed, as in `begin`.
    """
    regressed, starts, seed = begun
    left_out = np.isin(np.asarray(made.problem.batch.log), group.members)
    problem = without(made.problem, left_out).stepped(1, not mover.normal_equations)
    given = [parameter.start for parameter in made.model.free.parameters]
    states = len(problem.batch.initial)
    points = begin(made.model.free, problem.owner, given, regressed, len(made.cut), states, starts, seed)
    lanes, values = side_by_side(mover, starts, len(walk)), np.zeros(starts)
    at = Point(points.coordinates[-1], points.initial[-1])
    for number, stage in enumerate((*walk, walk[-1])):
        if number == len(walk) - 1:
            points = better(points, values, lanes)
        problem = eqx.tree_at(lambda p: p.reset, problem, jnp.asarray(stage.reset))
        spread = _spread(problem, np.asarray(linearized(problem, at, lanes=lanes).residuals))
        sigma = {c: made.noise[c] * s for c, s in spread.items()}
        problem = eqx.tree_at(lambda p: p.scales, problem, scales(sigma, dict.fromkeys(sigma, BEND)))
        points, values, _ = solve_in_parts(mover, problem, points, stage, progress, lanes)
        problem = eqx.tree_at(lambda p: p.scales, problem, made.problem.scales)
        best = int(np.nanargmin(values))
        at = Point(points.coordinates[best], points.initial[best])
    at = _with_means(made, at, left_out)
    at = at if made.window is None else settled(without(made.problem, ~left_out).stepped(1, False), at)
    return {c: np.asarray(v) for c, v in linearized(problem, at, lanes=lanes).predicted.items()}


def _spread(problem: Problem, values: np.ndarray) -> dict[str, float]:
    """Robust size of the residuals of each channel in sensor noise, at least one."""
    usable, found = usable_rows(problem), {}
    for k, channel in enumerate(problem.batch.channels):
        seen = values[:, k][usable[:, k]]
        seen = seen[np.isfinite(seen)]
        found[channel] = max(1.0, float(1.4826 * np.median(np.abs(seen)))) if len(seen) else 1.0
    return found


def _with_means(made: Setup, point: Point, left_out: np.ndarray) -> Point:
    """Logs left out get the mean over the others of what each log has for itself, and start as measured."""
    pick, coordinates = np.asarray(made.problem.batch.pick), np.array(point.coordinates)
    seen, unseen = set(pick[~left_out].ravel().tolist()), set(pick[left_out].ravel().tolist())
    for k in unseen - seen:
        same = [n for n, owner in enumerate(made.problem.owner) if owner == made.problem.owner[k] and n in seen]
        coordinates[k] = np.mean(coordinates[same])
    initial = jnp.where(jnp.asarray(left_out)[:, None], 0.0, point.initial)
    return Point(jnp.asarray(coordinates), initial)
