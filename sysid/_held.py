"""Samples that a fast logger repeats from a slow sensor."""

import numpy as np
from numpy.typing import NDArray

from sysid._resolution import resolution

_FEWEST_RUNS = 8
_ENOUGH = 200_000


def held_rows(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows repeat an older sample.

    A sensor frame slower than the logger shows as runs of equal values of nearly one length, between steps of any size.
    A quantised channel also repeats, but changes by one quantum, and at once again when it moves fast; a constant
    channel shows no regular runs. Neither is touched.

    **Arguments:**

    - `values`: the usable measurements in the order of time, shape `(rows,)`.

    **Returns:** shape `(rows,)`, all False when the channel is not held.
    """
    fresh = np.zeros(len(values), dtype=np.bool_)
    if len(values) > _ENOUGH and _shows_none(values[:_ENOUGH]):
        return fresh
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))) if len(values) else np.zeros(0, int)
    if len(starts) < _FEWEST_RUNS:
        return fresh
    period = frame_length(values, starts)
    if period is None:
        return fresh
    fresh[starts] = True
    lengths = np.diff(starts, append=len(values))
    # In a long run of one value every frame brought that value anew.
    long = lengths > max(1.5 * period, period + 1.0)
    for start, length in zip(starts[long], lengths[long], strict=True):
        fresh[np.round(np.arange(start, start + length - 0.5 * period, period)).astype(int)] = True
    return ~fresh


def _shows_none(part: NDArray[np.float64]) -> bool:
    """Whether a part of a long log has changes enough to tell, and tells that nothing is held."""
    starts = np.flatnonzero(np.concatenate(([True], part[1:] != part[:-1])))
    return len(starts) > 0.01 * len(part) and frame_length(part, starts) is None


def _in_step(starts: NDArray[np.intp], lengths: NDArray[np.intp]) -> bool:
    """Whether all changes fall on every n-th row, which a channel that changes when it likes does not do for long."""
    frame = int(np.min(lengths))
    if frame < 2 or len(starts) < 4 * _FEWEST_RUNS:
        return False
    return float(np.max(np.bincount(starts[1:] % frame))) > 0.97 * (len(starts) - 1)


def frame_length(values: NDArray[np.float64], starts: NDArray[np.intp]) -> float | None:
    """Rows per sensor frame, or None when the channel is fresh at every row.

    **Arguments:**

    - `values`: usable measurements, shape `(rows,)`.
    - `starts`: the first row of every run of equal values.
    """
    lengths = np.diff(starts)[1:]
    typical = float(np.median(lengths))
    moving = lengths[lengths <= max(1.5 * typical, typical + 1.0)]
    period = float(np.mean(moving))
    quantum = resolution(values)
    changes = np.abs(np.diff(values[starts]))
    if period < 1.1 or quantum == 0.0:
        return None
    small = float(np.mean(changes < 1.5 * quantum))
    if _in_step(starts, lengths) and small < 0.9:
        return float(np.min(lengths))
    if typical >= 2.0:
        singles = float(np.mean(lengths == 1)) if typical > 2.0 else float(np.mean(lengths == 1)) - 0.2
        regular = float(np.mean(np.abs(moving - typical) <= max(1.0, 0.3 * typical)))
        return period if small < 0.6 and singles < 0.05 and regular > 0.8 and len(moving) > 0.5 * len(lengths) else None
    # Fewer than two rows per frame: single repeats all over the log of a channel too fine to repeat by chance.
    fine = float(np.median(changes)) > 20.0 * quantum
    doubles = float(np.mean(moving == 2))
    return period if fine and doubles > 0.1 and len(moving) > 0.9 * len(lengths) else None
