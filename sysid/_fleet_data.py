"""The logs of a fleet as one stack of arrays, from which any of its motors are taken."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._batch import Batch, Channel
from ._beliefs import believed, slopes
from ._errors import LogError
from ._fleet_program import Part
from ._legs import windows
from ._log import Log
from ._model import Model
from ._problem import Problem
from ._setup import Material, Setup, material, setup
from ._windows import resets


@dataclasses.dataclass(frozen=True, eq=False)
class FleetData:
    """`first` of the motors, whose problem stands for all; `logs` of all as they are fitted; `batch` of NumPy arrays
    (motor, piece, ...), its `usable` samples (motor, piece, channel, time), `noise` (motor, channel) in the channels'
    units, and `windows` (leg, motor): the rows of each, 0 where a short log has none."""

    first: Setup
    logs: tuple[Log, ...]
    batch: Batch
    usable: np.ndarray
    noise: np.ndarray
    windows: np.ndarray
    replay: bool

    @property
    def problem(self) -> Problem:
        """The structure that all motors share."""
        return self.first.problem

    @property
    def rows(self) -> int:
        """Rows of every piece, padding included."""
        return self.batch.dt.shape[-1]

    def part(self, motors: np.ndarray, every: np.ndarray) -> Part:
        """These motors for one run; `every` (motor,): rows after which each returns to the measured motion, 0 for
        none."""
        batch = jax.tree_util.tree_map(lambda x: x[motors], self.batch)
        pieces = batch.dt.shape[1]
        reset = [resets((pieces, self.rows), int(n) if n else self.rows + 1) for n in every]
        return Part(batch, jnp.asarray(np.ones_like(reset) if self.replay else np.stack(reset)))

    def believed(self, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of the priors and their slopes at coordinates (motor, local)."""
        pick = np.broadcast_to(np.arange(local.shape[1]), local.shape)
        return believed(self.problem, pick, local), slopes(self.problem, pick, local)


def fleet_data(
    model: Model, logs: Sequence[Log], outputs: Sequence[str] | None, substeps: int, replay: bool
) -> FleetData:
    """The stack of these logs.

    **Raises:** `LogError` for logs that do not make the same program as the first.
    """
    first = setup(model, logs[:1], outputs=outputs, substeps=substeps, replay=replay)
    made = [material(model, [log], outputs=outputs, replay=replay) for log in logs]
    for log in made:
        _alike(log, first)
    rows = max(m.batch.dt.shape[-1] for m in made)
    batches = [_lengthened(m.batch, rows) for m in made]
    batch = jax.tree_util.tree_map(lambda *x: np.stack(x), *batches)
    of_log = [[rows for _, rows in ([] if replay else windows(m.logs, m.cut))] for m in made]
    legs = max(len(found) for found in of_log)
    return FleetData(
        first,
        tuple(m.logs[0] for m in made),
        batch,
        np.stack([batch.channels[c].usable for c in batch.channels], axis=2),
        np.array([[m.noise[c] for c in batch.channels] for m in made]),
        np.array([[0] * (legs - len(found)) + found for found in of_log], int).reshape(len(made), legs).T,
        replay,
    )


def _alike(made: Material, first: Setup) -> None:
    pieces, name, other = len(made.cut), made.logs[0].name, first.logs[0].name
    if pieces != len(first.cut):
        raise LogError(
            f"{name} is in {pieces} pieces and {other} in {len(first.cut)}: cut the logs of a fleet alike, or fit them "
            "one by one"
        )
    for what in ("bus_voltage", "enabled"):
        if (getattr(made.batch, what) is None) != (getattr(first.problem.batch, what) is None):
            raise LogError(f"{name} and {other} do not both have {what}: give it to both or to none")
    if made.roles != first.roles:
        raise LogError(
            f"{name} has the channels {', '.join(made.roles.outputs)} to compare and {other} "
            f"{', '.join(first.roles.outputs)}: name those that all have by outputs"
        )


def _lengthened(batch: Batch, rows: int) -> Batch:
    """The batch padded to so many rows, as `batch` pads: rows of no duration that nothing is compared with."""
    if batch.dt.shape[-1] == rows:
        return batch
    more = ((0, 0), (0, rows - batch.dt.shape[-1]))

    def held(x: Any) -> Any:
        return None if x is None else np.pad(x, more, mode="edge")

    def empty(x: Any) -> Any:
        return np.pad(x, more)

    channels = batch.channels.items()
    return dataclasses.replace(
        batch,
        dt=empty(batch.dt),
        command=held(batch.command),
        bus_voltage=held(batch.bus_voltage),
        enabled=held(batch.enabled),
        ambient=held(batch.ambient),
        channels={name: Channel(held(c.measured), empty(c.usable), empty(c.censored)) for name, c in channels},
        reset_position=held(batch.reset_position),
        reset_velocity=held(batch.reset_velocity),
    )
