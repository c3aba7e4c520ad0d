"""Fit one model to the logs of many motors, each motor by itself, all in one program."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

import jaxmotor as jm

from ._channel_scales import NOISE_LIKE
from ._conclude import conclude, judge
from ._errors import ModelError
from ._fit import _model
from ._fleet_data import fleet_data
from ._fleet_look import Look
from ._fleet_starts import first_starts, other_starts
from ._fleet_walk import Ends, Lanes, bends, costs, settled, walked
from ._free import Free
from ._log import Log
from ._model import Model
from ._normal_equations import Point
from ._result import Fit
from ._setup import settings, setup
from ._windows import scales

_GAIN = 1e-6
"""Share of its cost by which another start must end lower to be taken for another optimum."""


@dataclasses.dataclass(frozen=True, eq=False)
class FleetFit:
    """Motors fitted side by side, in the order of their logs.

    - `motors`: names of the logs; `names`, `units` of the parameters; `values` (motor, parameter) [`units`].
    - `costs` (motor,): the least cost; `misfits`: per channel the mean square residual in sensor noise (motor,).
    - `statuses`: per motor `ok`; `warning` where the residuals are larger than the sensors' noise or the iterations
      ran out; `failed` where no start has a finite cost, and the values are NaN. `settings`: the choices of the fit.
    """

    motors: tuple[str, ...]
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: np.ndarray
    costs: np.ndarray
    misfits: dict[str, np.ndarray]
    statuses: tuple[str, ...]
    settings: dict[str, Any]
    model: Model = dataclasses.field(repr=False)
    logs: tuple[Log, ...] = dataclasses.field(repr=False)
    ends: Ends = dataclasses.field(repr=False)

    def motor(self, index: int) -> Fit:
        """One motor's `Fit` with error bars and verdicts, which are worked out when asked for."""
        chosen, ends = self.settings, self.ends
        options = {"outputs": chosen["outputs"], "substeps": chosen["substeps"], "replay": chosen["replay"]}
        made = setup(self.model, [self.logs[index]], **options)
        spread = dict(zip(made.problem.batch.channels, ends.spread[index].tolist(), strict=True))
        sigma = {c: made.noise[c] * s for c, s in spread.items()}
        bend = dict(zip(spread, bends(ends.spread[index]).tolist(), strict=True))
        problem = made.problem.stepped(chosen["substeps"], reverse=False)
        reset = jnp.full(problem.reset.shape, chosen["replay"])
        problem = dataclasses.replace(problem, reset=reset, scales=scales(sigma, bend))
        point = Point(jnp.asarray(ends.lanes.local[index])[None], jnp.asarray(ends.lanes.initial[index])[None])
        misfit = {c: float(values[index]) for c, values in self.misfits.items()}
        judged = judge(made, problem, point, ends.cost[index][None])
        return conclude(made, problem, judged, [], misfit, [], chosen)


def fit_fleet(
    logs: Sequence[Log],
    bench: jm.Bench | None = None,
    params: jm.BenchParams | None = None,
    free: Free | Iterable[str] | None = None,
    *,
    model: Model | None = None,
    command: str | None = None,
    outputs: Sequence[str] | None = None,
    fix: Mapping[str, float] | None = None,
    seed: int = 0,
    starts: int = 6,
    iterations: int = 60,
    substeps: int = 1,
    replay: bool = False,
    mesh: Mesh | None = None,
    block: int = 32,
) -> FleetFit:
    """Fit the free parameters of one model to each of many logs, as `fit` would fit each by itself.

    **Arguments:** as those of `fit`, with one log per motor and Levenberg-Marquardt as solver; and

    - `substeps`: of the bench per row, the same for all.
    - `mesh`: devices among which the motors are divided; all of this process's devices if `None`. Each works on its own
      motors and talks to no other.
    - `starts`: a motor whose residuals end as the noise of its sensors has no need of more than the first of them.
    - `block`: motors per device that run at once; bounds the memory, not the result.

    **Returns:** a `FleetFit`.

    **Raises:** `ModelError`, `LogError` for what cannot be fitted, and for logs that do not have the channels of the
    first one or are in more pieces.
    """
    if not jax.config.read("jax_enable_x64"):
        raise ModelError('fit_fleet needs float64: run jax.config.update("jax_enable_x64", True) before it')
    logs = list(logs)
    if not logs:
        raise ModelError("no log to fit")
    model = _model(logs, model, bench, params, free, command, fix, None)
    mesh = Mesh(np.array(jax.local_devices()), ("motor",)) if mesh is None else mesh
    data = fleet_data(model, logs, outputs, substeps, replay)
    look = Look(data, mesh, block)
    ends = settled(look, *walked(look, first_starts(data, starts, seed), iterations), iterations)
    short = np.flatnonzero(~(ends.misfit.max(axis=1) <= NOISE_LIKE**2))
    if len(short) and starts > 1:
        others = walked(look, other_starts(data, short, starts, seed), iterations)
        ends = _bettered(look, ends, short, *others, iterations)
    choices = {"seed": seed, "starts": starts, "iterations": iterations, "substeps": substeps, "replay": replay}
    return _told(model, data.logs, ends, settings(data.first.roles, **choices, solver="levenberg-marquardt"))


def _bettered(look: Look, ends: Ends, motors: np.ndarray, others: Lanes, spread: np.ndarray, iterations: int) -> Ends:
    """Ends where the best of the `others`, of this `spread`, that cost less than where these `motors` ended has taken
    their place."""
    place = np.searchsorted(motors, others.motor)
    cost = costs(look, others, ends.spread[motors][place])
    best = np.array([np.flatnonzero(place == k)[np.argmin(cost[place == k])] for k in range(len(motors))])
    better = cost[best] < ends.cost[motors] * (1 - _GAIN)
    if not better.any():
        return ends
    found = settled(look, others.taken(best[better]), spread[best[better]], iterations)
    which, made = motors[better], Ends(ends.lanes, ends.cost.copy(), ends.spread.copy(), ends.misfit.copy())
    made.cost[which], made.spread[which], made.misfit[which] = found.cost, found.spread, found.misfit
    return dataclasses.replace(made, lanes=ends.lanes.put(which, found.lanes))


def _told(model: Model, logs: Sequence[Log], ends: Ends, chosen: dict[str, Any]) -> FleetFit:
    free = model.free.parameters
    failed = ~np.isfinite(ends.cost)
    bijectors = model.free.unknowns().bijectors
    at = jnp.asarray(ends.lanes.local)
    values = np.stack([np.asarray(bijector.value(at[:, k])) for k, bijector in enumerate(bijectors)], axis=1)
    rough = ~(ends.misfit.max(axis=1) <= NOISE_LIKE**2)
    statuses = np.where(failed, "failed", np.where(rough | ~ends.lanes.rested, "warning", "ok"))
    return FleetFit(
        tuple(log.name for log in logs),
        tuple(p.name for p in free),
        tuple(p.place.unit for p in free),
        np.where(failed[:, None], np.nan, values),
        np.where(failed, np.nan, ends.cost),
        dict(zip(chosen["outputs"], ends.misfit.T, strict=True)),
        tuple(statuses.tolist()),
        chosen,
        model,
        tuple(logs),
        ends,
    )
