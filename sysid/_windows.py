"""From logs to the batch of a fit: cut at gaps, pad to one length, say from where each piece starts."""

import dataclasses
import itertools
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from ._batch import Batch, Channel, Initial, Scales
from ._errors import LogError
from ._log import Log
from ._noise import sensor_noise

LONGEST = 4096
"""Rows of the longest piece [1]: longer runs are cut, and the pieces run side by side."""

_SHORTEST = 4
_BUCKET = 64
_STRIDES = (1.0, 1.25, 1.5, 1.75)
"""Steps within an octave to which rows are padded: logs of nearly one length share a program."""


@dataclasses.dataclass(frozen=True)
class Roles:
    """Which channel drives the bench, and which are compared."""

    command: str
    outputs: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Piece:
    """Rows `first` to `last` (exclusive) of the log number `log`."""

    log: int
    first: int
    last: int


def pieces(logs: Sequence[Log], longest: int = LONGEST) -> list[Piece]:
    """The logs cut at their breaks, long runs into near-equal parts; scraps below four rows are left out."""
    found = []
    for number, log in enumerate(logs):
        starts = [int(r) for r in np.flatnonzero(log.resets)]
        for first, last in zip(starts, [*starts[1:], len(log)], strict=True):
            parts = max(1, -(-(last - first) // longest))
            edges = np.linspace(first, last, parts + 1).astype(int)
            found += [Piece(number, int(a), int(b)) for a, b in itertools.pairwise(edges) if b - a >= _SHORTEST]
    if not found:
        options = {item.option for log in logs for item in log.findings if item.code == "missing_input"}
        todo = f"; its inputs have gaps: {', '.join(sorted(options))} fills them" if options else ""
        raise LogError(f"no log has a piece of four rows between gaps: nothing can be fitted{todo}")
    return found


def noises(logs: Sequence[Log], channels: Sequence[str]) -> dict[str, float]:
    """Noise of each channel [its unit], the median over the logs that have it."""
    found = {}
    for channel in channels:
        seen = [sensor_noise(log.channels[channel], log.masks[channel]) for log in logs if channel in log.channels]
        found[channel] = float(np.median(seen))
    return found


def scales(sigma: dict[str, float], bend: dict[str, float]) -> Scales:
    """The scales of a problem from plain numbers."""
    return Scales({c: jnp.asarray(s) for c, s in sigma.items()}, {c: jnp.asarray(bend[c]) for c in sigma})


def _slope(log: Log) -> np.ndarray:
    """Speed [rad/s] from the angle over five rows: good enough to begin from, never fitted to."""
    speed = np.gradient(log.channels["position"], log.time)
    padded = np.pad(speed, 2, mode="edge")
    return np.convolve(padded, np.ones(5) / 5, mode="valid")


def motion(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Angle [rad] and speed [rad/s] at every row, as far as measured; zero where the log has neither."""
    zero = np.zeros(len(log))
    position = log.channels.get("position", zero)
    if "velocity" in log.channels:
        rows = np.arange(len(log))
        usable = log.masks["velocity"]
        velocity = np.interp(rows, rows[usable], log.channels["velocity"][usable]) if usable.any() else zero
    else:
        velocity = _slope(log) if "position" in log.channels else zero
    return position, velocity


def _initial(
    log: Log,
    row: int,
    moved: tuple[np.ndarray, np.ndarray],
    noise: dict[str, float],
    wanted: Sequence[str],
    ambient: float,
) -> dict[str, tuple]:
    """Value and width of each initial state of a piece that begins at `row` of a log with the motion `moved`."""
    position, velocity = moved
    fixed = 1e-9
    speed_width = noise.get("velocity", noise["position"] / log.dt if "position" in noise else fixed)
    found = {
        "position": (position[row], noise.get("position", fixed)),
        "velocity": (velocity[row], speed_width),
    }
    if "current" in wanted:
        known = "current" in log.channels
        found["current"] = (log.channels["current"][row] if known else 0.0, noise.get("current", 1.0))
    if "temperature" in wanted:
        known = "temperature" in log.channels
        found["temperature"] = (
            log.channels["temperature"][row] - ambient if known else 0.0,
            noise.get("temperature", fixed),
        )
    return found


def batch(
    logs: Sequence[Log],
    cut: Sequence[Piece],
    roles: Roles,
    *,
    noise: dict[str, float],
    initial: Sequence[str] = (),
    ambient: float = 25.0,
    overrides: Sequence[dict[str, float]],
    picks: Sequence[Sequence[int]],
) -> Batch:
    """The arrays of these pieces, of NumPy.

    **Arguments:** `noise` of each compared channel [its unit]; `initial`: states beside angle and speed (`current`,
    `temperature`, as the rise over `ambient`); `overrides` and `picks`: per log, params by path, and which coordinates
    are its own.
    """
    longest = max(piece.last - piece.first for piece in cut)
    rows = padded_rows(longest)

    def padded(values: np.ndarray, piece: Piece, fill: float | int | bool | None = None) -> np.ndarray:
        part = values[piece.first : piece.last]
        last = part[-1] if fill is None else fill
        return np.concatenate([part, np.full(rows - len(part), last, dtype=part.dtype)])

    def stacked(name: str) -> np.ndarray | None:
        if not all(name in logs[piece.log].channels for piece in cut):
            return None
        return np.stack([padded(logs[p.log].channels[name], p) for p in cut])

    def channel(name: str) -> Channel:
        measured, usable, censored = [], [], []
        for piece in cut:
            log = logs[piece.log]
            zero = np.zeros(len(log))
            measured.append(padded(log.channels.get(name, zero), piece))
            ends = log.censored.get(name, zero.astype(np.int8))
            # A clipped sample still says on which side the truth lies.
            usable.append(padded(log.masks.get(name, zero.astype(bool)) | (ends != 0), piece, False))
            censored.append(padded(ends, piece, 0))
        return Channel(np.stack(measured), np.stack(usable), np.stack(censored).astype(np.int32))

    missing = [logs[p.log].name for p in cut if roles.command not in logs[p.log].channels]
    if missing:
        raise LogError(
            f"{missing[0]}: no channel {roles.command}, which drives this model; name its column by --columns"
        )
    # Once per log: a long one has hundreds of pieces.
    of_log = [motion(log) for log in logs]
    motions = [of_log[piece.log] for piece in cut]
    starts = [_initial(logs[p.log], p.first, of_log[p.log], noise, initial, ambient) for p in cut]
    enabled = stacked("torque_enabled")
    return Batch(
        dt=np.stack([padded(logs[p.log].steps, p, 0.0) for p in cut]),
        command=np.stack([padded(logs[p.log].channels[roles.command], p) for p in cut]),
        bus_voltage=stacked("bus_voltage"),
        enabled=None if enabled is None else enabled > 0.5,
        ambient=None,
        channels={name: channel(name) for name in roles.outputs},
        initial={
            name: Initial(np.array([s[name][0] for s in starts], float), np.array([s[name][1] for s in starts], float))
            for name in starts[0]
        },
        reset_position=np.stack([padded(m[0], p) for m, p in zip(motions, cut, strict=True)]),
        reset_velocity=np.stack([padded(m[1], p) for m, p in zip(motions, cut, strict=True)]),
        overrides={
            path: np.array([overrides[p.log][path] for p in cut], float) for path in (overrides[0] if overrides else {})
        },
        log=np.array([p.log for p in cut], dtype=np.int32),
        pick=np.array([picks[p.log] for p in cut], dtype=np.int32).reshape(len(cut), -1),
    )


def padded_rows(rows: int) -> int:
    """The length to which a piece of so many rows is padded."""
    if rows <= _BUCKET:
        return _BUCKET
    octave = 2 ** int(np.floor(np.log2(rows)))
    return next((int(octave * s) for s in _STRIDES if octave * s >= rows), 2 * octave)


def resets(shape: tuple[int, ...], every: int) -> np.ndarray:
    """Rows at which windows of `every` rows begin anew; the first row starts from its own initial state."""
    rows = np.arange(shape[-1])
    return np.broadcast_to((rows % every == 0) & (rows > 0), shape).copy()
