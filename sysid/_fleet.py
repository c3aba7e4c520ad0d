"""Fit one model to the logs of many motors, each motor by itself, all in one program."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

import jaxmotor as jm

from ._begin import begin
from ._conclude import conclude
from ._errors import LogError, ModelError
from ._fit import _NOISE_LIKE, _model
from ._fleet_walk import End, Walk, least_cost
from ._free import Free
from ._log import Log
from ._model import Model
from ._normal_equations import Point
from ._result import Fit
from ._setup import Setup, settings, setup, torque_constant
from ._start import regressed


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
    ends: tuple[End, ...] = dataclasses.field(repr=False)

    def motor(self, index: int) -> Fit:
        """One motor's `Fit` with error bars and verdicts, which are worked out when asked for."""
        end = self.ends[index]
        return conclude(end.made, end.problem, end.points, end.values, [], end.misfit, [], self.settings)[0]


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
    block: int = 64,
) -> FleetFit:
    """Fit the free parameters of one model to each of many logs, as `fit` would fit each by itself.

    **Arguments:** as those of `fit`, with one log per motor and Levenberg-Marquardt as solver; and

    - `substeps`: of the bench per row, the same for all.
    - `mesh`: devices among which the motors are divided; all of this process's devices if `None`. Each works on its own
      motors and talks to no other.
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
    made = [setup(model, [log], outputs=outputs, substeps=substeps, replay=replay) for log in logs]
    _alike(made)
    rows = max(m.problem.batch.dt.shape[-1] for m in made)
    points = [_starts(m, starts, seed) for m in made]
    several, ends = block * mesh.devices.size, []
    size = min(several, -(-len(made) // mesh.devices.size) * mesh.devices.size)
    for first in range(0, len(made), size):
        part = list(range(first, min(first + size, len(made))))
        # The last motor is repeated until every device has as many.
        whole = part + part[-1:] * (size - len(part))
        walk = Walk([made[k] for k in whole], rows, replay, iterations, substeps, mesh)
        ends += walk.ends([points[k] for k in whole], substeps)[: len(part)]
    choices = {"seed": seed, "starts": starts, "iterations": iterations, "substeps": substeps, "replay": replay}
    return _told(model, logs, ends, settings(made[0].roles, **choices, solver="levenberg-marquardt"))


def _alike(made: Sequence[Setup]) -> None:
    """Refuse logs that do not make the same program as the first."""
    first = made[0]
    for other in made:
        pieces, name = len(other.cut), other.logs[0].name
        if pieces != len(first.cut):
            raise LogError(
                f"{name} is in {pieces} pieces and {first.logs[0].name} in {len(first.cut)}: cut the logs of a fleet "
                "alike, or fit them one by one"
            )
        for what in ("bus_voltage", "enabled"):
            if (getattr(other.problem.batch, what) is None) != (getattr(first.problem.batch, what) is None):
                raise LogError(f"{name} and {first.logs[0].name} do not both have {what}: give it to both or to none")
        if other.roles != first.roles:
            raise LogError(
                f"{name} has the channels {', '.join(other.roles.outputs)} to compare and {first.logs[0].name} "
                f"{', '.join(first.roles.outputs)}: name those that all have by outputs"
            )


def _starts(made: Setup, starts: int, seed: int) -> Point:
    return begin(
        made.model.free,
        made.problem.owner,
        [parameter.start for parameter in made.model.free.parameters],
        regressed(list(made.logs), torque_constant(made.model)),
        len(made.cut),
        len(made.problem.batch.initial),
        starts,
        seed,
    )


def _told(model: Model, logs: Sequence[Log], ends: Sequence[End], chosen: dict[str, Any]) -> FleetFit:
    free, channels = model.free.parameters, list(ends[0].made.problem.batch.channels)
    misfits = {c: np.array([end.misfit[c] for end in ends]) for c in channels}
    values, costs, statuses = np.full((len(ends), len(free)), np.nan), np.full(len(ends), np.nan), []
    for k, end in enumerate(ends):
        cost = float(least_cost(end.values[None])[0])
        if not np.isfinite(cost):
            statuses.append("failed")
            continue
        at = end.points.coordinates[int(np.nanargmin(end.values))]
        bijectors = end.problem.unknowns.bijectors
        values[k] = [float(bijectors[o].value(at[n])) for n, o in enumerate(end.problem.owner)]
        costs[k] = cost
        rough = max(misfits[c][k] for c in channels) > _NOISE_LIKE**2
        statuses.append("warning" if rough or not end.rested else "ok")
    return FleetFit(
        tuple(log.name for log in logs),
        tuple(p.name for p in free),
        tuple(p.place.unit for p in free),
        values,
        costs,
        misfits,
        tuple(statuses),
        chosen,
        tuple(ends),
    )
