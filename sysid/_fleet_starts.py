"""Where the motors of a fleet walk from: the points of `begin`, for all of them at once."""

import numpy as np

from ._begin import begin_many
from ._fleet_data import FleetData
from ._fleet_walk import Lanes
from ._setup import torque_constant
from ._start import regressed


def _points(data: FleetData, motors: np.ndarray, starts: int, seed: int) -> np.ndarray:
    """Coordinates (motor, start, local), as those of each motor's own fit."""
    model = data.first.model
    constant, given = torque_constant(model), [parameter.start for parameter in model.free.parameters]
    told = [regressed([data.logs[motor]], constant) for motor in motors]
    return begin_many(model.free, data.problem.owner, given, told, starts, seed)


def _lanes(data: FleetData, motor: np.ndarray, local: np.ndarray) -> Lanes:
    pieces, states = data.batch.dt.shape[1], len(data.batch.initial)
    return Lanes(motor, local, np.zeros((len(motor), pieces, states)), np.zeros(len(motor), bool))


def first_starts(data: FleetData, starts: int, seed: int) -> Lanes:
    """One for each motor: what regression tells, or the given values where there is to be but one start."""
    motors = np.arange(len(data.logs))
    return _lanes(data, motors, _points(data, motors, min(starts, 2), seed)[:, -1])


def other_starts(data: FleetData, motors: np.ndarray, starts: int, seed: int) -> Lanes:
    """All others of these motors."""
    points = np.delete(_points(data, motors, starts, seed), 1, axis=1)
    return _lanes(data, np.repeat(motors, starts - 1), points.reshape(-1, points.shape[-1]))
