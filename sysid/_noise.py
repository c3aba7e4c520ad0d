"""The noise of a channel, seen in the channel itself before any model is."""

import numpy as np

_THIRD = np.sqrt(20.0)
"""Standard deviation of the third difference of white noise of unit standard deviation: 1 + 9 + 9 + 1 = 20."""


def quantum(values: np.ndarray) -> float:
    """The smallest step between distinct values, which for a coarse sensor is its resolution; 0 for no two values."""
    distinct = np.unique(values)
    if len(distinct) < 2:
        return 0.0
    gaps = np.diff(distinct)
    return float(np.min(gaps[gaps > 1e-12 * np.ptp(distinct)]))


def sensor_noise(values: np.ndarray, usable: np.ndarray) -> float:
    """Standard deviation of a channel's noise, from its third differences and its resolution.

    A smooth signal has small third differences, and the median does not see the few that a step makes. A channel
    that shows no noise is as good as its resolution, q / sqrt(12), or else as a millionth of its range.
    """
    # Usable samples only, side by side: a slow sensor under a fast logger has no three usable rows in a row.
    seen = values[usable]
    third = np.diff(seen, 3)
    spread = float(1.4826 * np.median(np.abs(third)) / _THIRD) if len(third) else 0.0
    span = float(np.ptp(seen)) if len(seen) else 0.0
    return max(spread, quantum(seen) / np.sqrt(12.0) if len(seen) else 0.0, 1e-6 * span, 1e-12)
