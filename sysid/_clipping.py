"""Sensors that end before the quantity does."""

import numpy as np
from numpy.typing import NDArray

from sysid._resolution import resolution

_FEWEST = 5
_SHARE = 0.002


def clipped_rows(values: NDArray[np.float64]) -> NDArray[np.int8]:
    """Which measurements sit at an end of the sensor's range.

    Elsewhere two equal neighbours are rare, at the end they come in runs that are entered in one stride: a flat top. A
    channel so coarse that it repeats everywhere is not judged: its ends must be stated.

    **Arguments:**

    - `values`: the usable, fresh measurements in the order of time, shape `(rows,)`.

    **Returns:** shape `(rows,)`: +1 at the upper end, -1 at the lower end, 0 elsewhere.
    """
    marks = np.zeros(len(values), dtype=np.int8)
    if len(values) < 4 * _FEWEST:
        return marks
    quantum = resolution(values)
    low, high = float(values.min()), float(values.max())
    needed = max(_FEWEST, _SHARE * len(values))
    if max(np.count_nonzero(values == low), np.count_nonzero(values == high)) < 0.5 * needed:
        return marks
    inner = (values > low) & (values < high)
    pairs = inner[1:] & inner[:-1]
    repeats = np.abs(np.diff(values)) < 0.5 * quantum
    if quantum == 0.0 or not pairs.any() or float(np.mean(repeats[pairs])) > 0.2:
        return marks
    for end, mark in ((high, 1), (low, -1)):
        flat = np.abs(values - end) < 0.5 * quantum
        if _is_flat_top(values, flat, quantum):
            marks[flat] = mark
    return marks


def _is_flat_top(values: NDArray[np.float64], flat: NDArray[np.bool_], quantum: float) -> bool:
    if flat.sum() < max(_FEWEST, _SHARE * len(values)):
        return False
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flat, [False])).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    if int(np.max(ends - starts)) < 3:
        return False
    inside = starts[(starts > 0) & (ends - starts >= 2)]
    strides = np.abs(values[inside] - values[inside - 1])
    return len(strides) > 0 and bool(np.median(strides) > 5.0 * quantum)


def beyond(values: NDArray[np.float64], limit: float, quantum: float) -> NDArray[np.int8]:
    """Which measurements sit at or beyond a stated end of the sensor's range, `-limit` to `limit`."""
    edge = limit - max(0.5 * quantum, 1e-9 * limit)
    return ((values >= edge).astype(np.int8) - (values <= -edge).astype(np.int8)).astype(np.int8)
