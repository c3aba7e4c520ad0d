"""The step in which a sensor's numbers are written."""

import numpy as np
from numpy.typing import NDArray

_ENOUGH = 200_000


def resolution(values: NDArray[np.float64]) -> float:
    """The smallest difference between two different values of a channel; 0 for a constant one.

    **Arguments:**

    - `values`: usable measurements, shape `(rows,)`; of long logs a part is looked at.
    """
    levels = np.unique(values[:_ENOUGH])
    if len(levels) < 2:
        return 0.0
    steps = np.diff(levels)
    # Conversions to SI leave levels that differ in the last bits only.
    steps = steps[steps > 1e-9 * max(abs(levels[0]), abs(levels[-1]))]
    return float(steps.min()) if len(steps) else 0.0


def is_coarse(values: NDArray[np.float64]) -> bool:
    """Whether the channel changes by one or two resolutions at most rows where it changes at all."""
    quantum = resolution(values)
    changes = np.abs(np.diff(values[:_ENOUGH]))
    changes = changes[changes > 0.5 * quantum]
    return quantum > 0.0 and len(changes) > 0 and bool(np.median(changes) < 2.5 * quantum)
