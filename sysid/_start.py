"""Where a fit begins: closed-form regression on what the log shows, never on differentiated signals."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from ._log import Log
from ._windows import motion, pieces

_LATEST_ROWS = 13


def _electrical(logs: Sequence[Log]) -> dict[str, float]:
    """R [ohm] and K [V s/rad] from v = R i + K w by least squares over all usable rows."""
    rows, right = [], []
    for log in logs:
        usable = log.masks["current"] & log.masks["voltage"]
        _, velocity = motion(log)
        rows.append(np.stack([log.channels["current"], velocity], 1)[usable])
        right.append(log.channels["voltage"][usable])
    (resistance, constant), *_ = np.linalg.lstsq(np.concatenate(rows), np.concatenate(right), rcond=None)
    return {"resistance": float(resistance), "motor_constant": float(constant)}


def _mechanical(logs: Sequence[Log], torques: Sequence[np.ndarray]) -> dict[str, float]:
    """J, B and Coulomb torque from J (w2 - w1) = integral of (torque - B w - tc sgn w), over spans of rows.

    Integrals are kind to noise where derivatives are not; all three are not negative.
    """
    rows, right = [], []
    velocities = [motion(log)[1] for log in logs]
    for piece in pieces(logs):
        log, torque, velocity = logs[piece.log], torques[piece.log], velocities[piece.log]
        span = slice(piece.first, piece.last)
        steps, speed = log.steps[span], velocity[span]
        impulse = np.concatenate([[0.0], np.cumsum(torque[span] * steps)])
        angle = np.concatenate([[0.0], np.cumsum(speed * steps)])
        sense = np.concatenate([[0.0], np.cumsum(np.sign(speed) * steps)])
        length = max(2, min(20, (piece.last - piece.first) // 4))
        ends = np.arange(length, piece.last - piece.first)
        begins = ends - length
        rows.append(
            np.stack([speed[ends] - speed[begins], angle[ends] - angle[begins], sense[ends] - sense[begins]], axis=1)
        )
        right.append(impulse[ends] - impulse[begins])
    matrix, known = np.concatenate(rows), np.concatenate(right)
    size = np.linalg.norm(matrix, axis=0)
    size[size == 0] = 1.0
    solved = nnls(matrix / size, known)[0] / size
    return dict(zip(("inertia", "viscous_damping", "coulomb_friction"), map(float, solved), strict=True))


def regressed(logs: Sequence[Log], motor_constant: float | None = None) -> dict[str, float]:
    """Starting values that the logs give in closed form; a name is absent where its data are.

    Needs voltage and current for the electrical part; current (or torque) and motion for the mechanical part.
    """
    found: dict[str, float] = {}
    moving = all("velocity" in log.channels or "position" in log.channels for log in logs)
    if not moving or not logs:
        return found
    if all("current" in log.channels and "voltage" in log.channels for log in logs):
        found |= {name: value for name, value in _electrical(logs).items() if value > 0}
    constant = motor_constant or found.get("motor_constant")
    if constant and all("current" in log.channels for log in logs):
        found |= _mechanical(logs, [constant * log.channels["current"] for log in logs])
    elif all("torque" in log.channels for log in logs):
        found |= _mechanical(logs, [log.channels["torque"] for log in logs])
    return {name: value for name, value in found.items() if value > 0}


def electrical_lag(log: Log) -> float | None:
    """Electrical time constant L/R [s] that the current shows, or `None` where it follows the voltage at once.

    For each trial t_e, i[k+1] - e i[k] = (1 - e) (v[k] - K w[k]) / R with e = exp(-h/t_e) is regressed and compared
    with t_e = 0 read at the same row; a lag below half a step does not show.
    """
    usable = log.masks["current"] & log.masks["voltage"]
    current, voltage = log.channels["current"], log.channels["voltage"]
    _, speed = motion(log)
    pairs = usable[1:] & usable[:-1] & ~log.resets[1:]
    if pairs.sum() < 8:
        return None

    def misfit(columns: np.ndarray, right: np.ndarray) -> float:
        solved, *_ = np.linalg.lstsq(columns, right, rcond=None)
        return float(np.mean((columns @ solved - right) ** 2))

    at_once = misfit(np.stack([voltage, speed], 1)[1:][pairs], current[1:][pairs])
    # A voltage that is logged before it acts is late, not lagging.
    late = [
        misfit(np.stack([voltage[:-rows], speed[rows:]], 1)[usable[rows:]], current[rows:][usable[rows:]])
        for rows in range(1, min(_LATEST_ROWS, len(log) // 4))
    ]
    trials = log.dt * np.geomspace(0.3, 300, 61)
    found = []
    for trial in trials:
        decay = np.exp(-log.steps[:-1] / trial)
        columns = (1 - decay)[:, None] * np.stack([voltage[:-1], speed[:-1]], 1)
        found.append(misfit(columns[pairs], (current[1:] - decay * current[:-1])[pairs]) / (1 + np.median(decay) ** 2))
    best = int(np.argmin(found))
    shown = found[best] < 0.5 * at_once and found[best] < min(late, default=np.inf)
    return float(trials[best]) if shown and trials[best] > 0.5 * log.dt else None
