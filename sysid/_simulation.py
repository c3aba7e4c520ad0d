"""A model along the commands of a log."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

import jaxmotor as jm

from ._errors import ModelError
from ._free import write
from ._log import Log
from ._model import Model
from ._prediction import delayed

_CHANNELS = ("voltage", "current", "joint_torque", "temperature", "supply_current")


def simulated(model: Model, log: Log, substeps: int = 1) -> dict[str, np.ndarray]:
    """What the model predicts at every row of `log`, (rows,) each: position [rad], velocity [rad/s], voltage [V],
    current [A], torque [N m] at the joint, temperature [degC], supply_current [A]; what it has no state for is left
    out.

    The run begins at the log's first measured motion, else at rest, and at every break of the log again.

    **Raises:** `ModelError` when the log lacks the command.
    """
    if model.command not in log.channels:
        raise ModelError(
            f"{log.name}: no channel {model.command}, which drives this model (it has {', '.join(log.channels)}); name"
            f" its column with --columns {model.command}=COLUMN"
        )
    subject = write(model.subject, {path: jnp.asarray(value) for path, value in model.overrides(log).items()})
    edges = [0, *(int(row) for row in log.breaks), len(log)]
    runs = [
        _run(model.bench, subject, model.command, log, slice(first, last), substeps)
        for first, last in itertools.pairwise(edges)
        if last > first
    ]
    return {name: np.concatenate([run[name] for run in runs]) for name in runs[0]}


def _first(log: Log, channel: str, rows: slice) -> float:
    usable = np.flatnonzero(log.masks[channel][rows]) if channel in log.channels else np.zeros(0, int)
    return float(log.channels[channel][rows][usable[0]]) if len(usable) else 0.0


def _run(bench: jm.Bench, subject, command: str, log: Log, rows: slice, substeps: int) -> dict[str, np.ndarray]:
    steps = jnp.asarray(log.steps[rows])
    sensors = subject.sensors
    commands = delayed(jnp.asarray(log.channels[command][rows]), steps, sensors.delay) + sensors.torque_offset
    bus = log.channels.get("bus_voltage")
    enabled = log.channels.get("torque_enabled")
    on_bus = not isinstance(bench.actuator.supply, jm.IdealSupply)
    row = jm.Input(
        commands,
        jnp.asarray(bus[rows]) if bus is not None and on_bus else None,
        jnp.asarray(enabled[rows] > 0.5) if enabled is not None else None,
    )
    fine = jax.tree.map(lambda x: jnp.repeat(x, substeps), (row, steps / substeps))
    state = bench.init(subject.bench, _first(log, "position", rows), _first(log, "velocity", rows))
    _, out = jm.rollout(bench, state, subject.bench, *fine)
    found = {"position": out.qpos, "velocity": out.qvel + sensors.velocity_offset}
    found |= {name: getattr(out.actuator, name) for name in _CHANNELS}
    found["torque"] = found.pop("joint_torque")
    found["current"] = sensors.current_gain * found["current"] + sensors.current_offset
    return {name: np.asarray(values)[::substeps] for name, values in found.items() if values is not None}
