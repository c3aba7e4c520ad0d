"""The noise of a channel, seen in the channel itself before any model is."""

import numpy as np

from ._resolution import is_coarse, resolution

_THIRD = np.sqrt(20.0)
"""Standard deviation of the third difference of white noise of unit standard deviation: 1 + 9 + 9 + 1 = 20."""

_FEW = 12
"""Levels up to which a channel may be a set-point rather than a coarse sensor."""


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
    sensor = len(np.unique(seen)) > _FEW or is_coarse(seen)
    return max(spread, resolution(seen) / np.sqrt(12.0) if sensor else 0.0, 1e-6 * span, 1e-12)
