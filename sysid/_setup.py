"""A model and its logs as one problem."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxmotor as jm

from ._batch import Batch
from ._command_path import AbstractCommandPath, DirectCommand, LateCommand
from ._errors import ModelError
from ._free import Free, read
from ._log import Log
from ._model import Model
from ._problem import Prior, Problem
from ._roles import roles
from ._windows import Piece, Roles, batch, noises, pieces, scales

BEND = 2.0
"""Residuals count linearly from this many standard deviations of the sensor's noise on."""

_ROOM = 25.0
_FEWEST_ROWS = 4


@dataclasses.dataclass(frozen=True, eq=False)
class Setup:
    """A `problem` with what it was made of: `logs` cut into pieces, `roles` and `noise` of the channels; for each
    coordinate its `owner` among the free parameters and its `names`; `window` [s] of the pieces, `None` for whole
    runs."""

    model: Model
    logs: tuple[Log, ...]
    cut: tuple[Piece, ...]
    roles: Roles
    noise: dict[str, float]
    names: tuple[str, ...]
    problem: Problem
    window: float | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Material:
    """What a problem is made of: fields as those of `Setup`, and the `batch` of the logs, of NumPy."""

    logs: tuple[Log, ...]
    cut: tuple[Piece, ...]
    roles: Roles
    noise: dict[str, float]
    owner: tuple[int, ...]
    names: tuple[str, ...]
    batch: Batch
    window: float | None


def predicted_channels(bench: jm.Bench) -> list[str]:
    """The channels of a log that this bench can predict."""
    found = ["position", "velocity", "current"]
    if not isinstance(bench.actuator.motor.thermal, jm.Isothermal):
        found.append("temperature")
    if not isinstance(bench.actuator.supply, jm.IdealSupply):
        found.append("supply_current")
    if isinstance(bench.actuator.controller, jm.TorqueDrive) and isinstance(bench.integrator, jm.Prescribed):
        found.append("voltage")
    return found


def _initial_states(bench: jm.Bench) -> list[str]:
    """Initial states beside the motion, by the channel that shows them."""
    lagging = isinstance(bench.actuator.motor.winding, jm.AbstractLaggingWinding)
    warm = not isinstance(bench.actuator.motor.thermal, jm.Isothermal)
    return ["current"] * lagging + ["temperature"] * warm


def _coordinates(free: Free, logs: Sequence[Log]) -> tuple[tuple[int, ...], list[list[int]], tuple[str, ...]]:
    """Owner and name of each coordinate, and per log the coordinates that are its own: one of each free parameter."""
    owner: list[int] = []
    names: list[str] = []
    picks: list[list[int]] = [[] for _ in logs]
    for index, parameter in enumerate(free.parameters):
        if parameter.per_log:
            for pick, log in zip(picks, logs, strict=True):
                pick.append(len(owner))
                owner.append(index)
                names.append(f"{parameter.name}[{log.name}]")
        else:
            for pick in picks:
                pick.append(len(owner))
            owner.append(index)
            names.append(parameter.name)
    return tuple(owner), picks, tuple(names)


def _prior(free: Free, owner: Sequence[int]) -> Prior:
    known = [free.parameters[k].prior or (0.0, np.inf) for k in owner]
    return Prior(jnp.asarray([m for m, _ in known]), jnp.asarray([w for _, w in known]))


def _ambient(model: Model) -> float:
    thermal = model.params.actuator.motor.thermal
    return float(getattr(thermal, "ambient_temperature", _ROOM))


def setup(
    model: Model,
    logs: Sequence[Log],
    *,
    outputs: Sequence[str] | None = None,
    substeps: int = 1,
    replay: bool = False,
    window: float | None = None,
    like: Setup | None = None,
) -> Setup:
    """The problem of fitting `model` to `logs`; `like` gives roles, noise and window to logs that are only predicted.

    **Arguments:** `window` [s]: logs are cut into pieces of near this length, each with its own initial state.

    **Raises:** `LogError`, `ModelError` for logs that this model cannot be compared with; for a window of less than
    four steps.
    """
    made = material(model, logs, outputs=outputs, replay=replay, window=window, like=like)
    problem = Problem(
        bench=model.bench,
        subject=model.subject,
        unknowns=model.free.unknowns(),
        batch=jax.tree_util.tree_map(jnp.asarray, made.batch),
        scales=scales(made.noise, dict.fromkeys(made.noise, BEND)),
        reset=jnp.zeros(made.batch.dt.shape, bool),
        prior=_prior(model.free, made.owner),
        moves=jnp.ones(len(made.owner)),
        counts=jnp.ones(len(made.cut)),
        owner=made.owner,
        substeps=substeps,
        balanced=model.balanced,
        path=_command_path(model, made.batch),
    )
    return Setup(model, made.logs, made.cut, made.roles, made.noise, made.names, problem, made.window)


def material(
    model: Model,
    logs: Sequence[Log],
    *,
    outputs: Sequence[str] | None = None,
    replay: bool = False,
    window: float | None = None,
    like: Setup | None = None,
) -> Material:
    """What `setup` makes a problem of; arguments and errors as there."""
    if model.grid is not None:
        logs = [log.resample(model.grid) for log in logs]
    if like is None:
        part = roles(logs, model.command, outputs or model.outputs, predicted_channels(model.bench))
        if replay:
            part = dataclasses.replace(
                part, outputs=tuple(o for o in part.outputs if o not in ("position", "velocity"))
            )
        noise = noises(logs, part.outputs)
    else:
        part, noise, window = like.roles, like.noise, like.window
    cut = pieces(logs) if window is None else pieces(logs, _rows(logs, window))
    owner, picks, names = _coordinates(model.free, logs)
    data = batch(
        logs,
        cut,
        part,
        noise=noise,
        initial=_initial_states(model.bench),
        ambient=_ambient(model),
        overrides=[model.overrides(log) for log in logs],
        picks=picks,
    )
    return Material(tuple(logs), tuple(cut), part, noise, owner, names, data, window)


def _command_path(model: Model, data: Batch) -> AbstractCommandPath:
    """A late command where it may be late: where delay or lag is free, is set by a log, or is not zero."""
    places = {"sensors.delay": model.sensors.delay, "sensors.lag": model.sensors.lag}
    moving = {path for parameter in model.free.parameters for path in parameter.place.paths} | set(data.overrides)
    late = moving & places.keys() or any(np.any(np.asarray(value) != 0) for value in places.values())
    return LateCommand() if late else DirectCommand()


def _rows(logs: Sequence[Log], window: float) -> int:
    """Rows of a window."""
    step = float(np.median([log.dt for log in logs]))
    rows = round(window / step) if np.isfinite(window) else 0
    if rows < _FEWEST_ROWS:
        raise ModelError(f"--window {window:g}: a window must hold four steps of the logs or more, {step:.3g} s each")
    return rows


def torque_constant(model: Model) -> float | None:
    """The model's torque constant [N m/A] where a fit holds it, else `None`."""
    path = "bench.actuator.motor.winding.torque_constant"
    moves = any(path in parameter.place.paths for parameter in model.free.parameters)
    return None if moves else float(read(model.subject, path))


def usable_rows(problem: Problem) -> np.ndarray:
    """Which samples count, (segment, channel, time)."""
    return np.stack([np.asarray(channel.usable) for channel in problem.batch.channels.values()], axis=1)


def settings(part: Roles, **others: Any) -> dict[str, Any]:
    """The choices of a fit, as `fit.json` records them."""
    return {"command": part.command, "outputs": list(part.outputs)} | others
