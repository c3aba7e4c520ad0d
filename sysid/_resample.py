"""A log on an even grid of time."""

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError
from sysid._log import INPUT_CHANNELS, Log

_REACH = 1.5
_MOST_ROWS = 100_000_000


def resampled(log: Log, dt: float) -> Log:
    """The log at the instants k·dt.

    Inputs hold the value of the last row. Measurements are interpolated between neighbouring usable rows, and are
    missing elsewhere: never across a break, nor where rows in between are unusable. A held channel is interpolated
    between its fresh rows. Inside a gap nothing is usable, and its end remains a break.

    **Arguments:**

    - `dt`: step of the grid [s].

    **Raises:** `LogError` for a step that is not positive or leaves fewer than two rows.
    """
    if not 0.0 < dt < log.duration:
        raise LogError(f"{log.name}: cannot resample {log.duration:.6g} s at a step of {dt:.6g} s")
    count = int(np.floor(log.duration / dt * (1.0 + 1e-12))) + 1
    if count > _MOST_ROWS:
        raise LogError(f"{log.name}: {count:.3g} rows at a step of {dt:.6g} s: select the rows of one run first")
    grid = np.arange(count, dtype=np.float64) * dt
    before = np.clip(np.searchsorted(log.time, grid * (1.0 + 1e-12) + 1e-12, side="right") - 1, 0, len(log) - 1)
    breaks = np.unique(np.searchsorted(grid, log.time[log.breaks] - 1e-12 * log.duration))
    breaks = breaks[(breaks > 0) & (breaks < count)]
    piece = np.searchsorted(log.breaks, np.arange(len(log)), side="right")
    follows = np.isin(before + 1, log.breaks)
    in_gap = follows & (grid > log.time[before] + 0.5 * dt)
    channels, masks, censored = {}, {}, {}
    for name, values in log.channels.items():
        censored[name] = np.where(in_gap, 0, log.censored[name][before]).astype(np.int8)
        if name in INPUT_CHANNELS:
            channels[name], masks[name] = values[before], log.masks[name][before] & ~in_gap
        else:
            channels[name], masks[name] = _interpolated(log.time, values, log.masks[name], piece, grid)
            masks[name] &= ~in_gap
    return log.replace(
        time=grid, channels=channels, masks=masks, held={}, censored=censored, breaks=breaks.astype(np.intp)
    )


def _interpolated(
    time: NDArray[np.float64],
    values: NDArray[np.float64],
    mask: NDArray[np.bool_],
    piece: NDArray[np.intp],
    grid: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values and mask on the grid, from the usable rows."""
    rows = np.flatnonzero(mask)
    if len(rows) < 2:
        return np.zeros(len(grid)), np.zeros(len(grid), dtype=np.bool_)
    usual = np.median(np.diff(rows))
    right = np.clip(np.searchsorted(time[rows], grid, side="left"), 1, len(rows) - 1)
    left = right - 1
    start, end = time[rows[left]], time[rows[right]]
    between = (grid >= start) & (grid <= end) & (piece[rows[left]] == piece[rows[right]])
    between &= rows[right] - rows[left] <= _REACH * usual
    # A grid instant on a usable row needs no neighbour.
    hit = np.isclose(grid, start, rtol=0.0, atol=1e-9) | np.isclose(grid, end, rtol=0.0, atol=1e-9)
    return np.interp(grid, time[rows], values[rows]), between | hit
