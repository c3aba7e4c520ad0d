"""A model along the commands of a log."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxmotor as jm

from ._batch import Batch
from ._command_path import AbstractCommandPath
from ._compiled import compiled
from ._free import Subject, write
from ._log import Log
from ._model import Model
from ._prediction import predict
from ._setup import setup


@compiled
def _predictions(
    bench: jm.Bench, subject: Subject, batch: Batch, substeps: int, balanced: bool, path: AbstractCommandPath
):
    def one(segment: Batch):
        states = {name: initial.value for name, initial in segment.initial.items()}
        reset = jnp.zeros(segment.dt.shape, bool)
        return predict(bench, write(subject, segment.overrides), segment, states, reset, substeps, balanced, path)

    return jax.vmap(one)(batch)


def _started(log: Log) -> Log:
    """The log, with a first speed of zero where it measures no motion at all."""
    if {"position", "velocity"} & log.channels.keys():
        return log
    first = np.arange(len(log)) == 0
    return log.replace(
        channels=log.channels | {"velocity": np.zeros(len(log))},
        masks=log.masks | {"velocity": first},
        units={**log.units, "velocity": "rad/s"},
    )


def simulated(model: Model, log: Log, substeps: int = 1) -> dict[str, np.ndarray]:
    """What the model predicts at every row of `log`, (rows,) each: position [rad], velocity [rad/s], voltage [V],
    current [A], torque [N m] at the joint, temperature [degC], supply_current [A]; what it has no state for is left
    out. Rows in pieces too short to be run are NaN.

    A run begins at the log's first measured motion, else at rest, and at every break of the log again.

    **Raises:** `LogError`, `ModelError` when the log lacks the command or a condition of the model.
    """
    made = setup(model, [_started(log)], substeps=substeps)
    problem = made.problem
    found = _predictions(model.bench, model.subject, problem.batch, substeps, model.balanced, problem.path)
    run = made.logs[0]
    whole = {name: np.full(len(run), np.nan) for name in found}
    for index, piece in enumerate(made.cut):
        for name, values in found.items():
            whole[name][piece.first : piece.last] = np.asarray(values)[index, : piece.last - piece.first]
    if model.grid is None:
        return whole
    # The model runs on its own grid; what was asked for are the rows of the log.
    return {name: np.interp(log.time, run.time, values) for name, values in whole.items()}
