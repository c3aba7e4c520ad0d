"""Sensors mounted the other way round, and sensors without a sign."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

_FEWEST = 20
_DELAYS = (0, 2, 5)


@dataclasses.dataclass(frozen=True)
class CurrentSign:
    """What says that the current has the wrong sign.

    **Attributes:**

    - `power`: mean of voltage times current [W].
    - `alignment`: the same, over the product of their root mean squares; within -1 and 1.
    - `jumps`: correlation of the jumps of the voltage with those of the current right after them; None when the voltage
      hardly jumps.
    """

    power: float
    alignment: float
    jumps: float | None

    @property
    def suspicious(self) -> bool:
        """Whether the motor would feed its supply most of the time, or the current jumps against the voltage."""
        return self.alignment < -0.2 or (self.jumps is not None and self.jumps < -0.8)

    @property
    def certain(self) -> bool:
        """Whether the two agree: no load can make the current jump against the voltage."""
        return self.suspicious and self.alignment < 0.0 and self.jumps is not None and self.jumps < -0.5


def current_sign(voltage: NDArray[np.float64], current: NDArray[np.float64]) -> CurrentSign | None:
    """The evidence on the sign of the current; None without enough of it.

    **Arguments:**

    - `voltage` [V], `current` [A]: neighbouring rows where both are usable, shape `(rows,)`.
    """
    agreement = alignment(voltage, current)
    if agreement is None:
        return None
    strides = np.diff(voltage)
    big = np.flatnonzero(np.abs(strides) > 0.2 * np.abs(voltage).max())
    jumps = None
    if len(big) >= 2:
        # An inductance delays the current by some rows: of a few delays, the one with the largest response counts.
        later = [np.minimum(big + 1 + delay, len(current) - 1) for delay in _DELAYS]
        answers = [current[rows] - current[big] for rows in later]
        follow = max(answers, key=lambda answer: abs(float(np.sum(strides[big] * answer))))
        norm = float(np.sqrt(np.sum(strides[big] ** 2) * np.sum(follow**2)))
        jumps = float(np.sum(strides[big] * follow)) / norm if norm > 0.0 else None
    return CurrentSign(float(np.mean(voltage * current)), agreement, jumps)


def alignment(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """Correlation about zero of two quantities: near -1 when one of them has the wrong sign; None without motion.

    **Arguments:**

    - `one`, `other`: rows where both are usable, shape `(rows,)`.
    """
    size = float(np.sqrt(np.mean(one**2) * np.mean(other**2))) if len(one) >= _FEWEST else 0.0
    return float(np.mean(one * other)) / size if size > 0.0 else None


def is_unsigned(values: NDArray[np.float64], direction: NDArray[np.float64]) -> bool:
    """Whether a channel is never negative although the motor turns both ways.

    **Arguments:**

    - `values`: rows of the current or torque, shape `(rows,)`.
    - `direction`: speed or voltage at the same rows.
    """
    if len(values) < _FEWEST or float(values.min()) < 0.0 or float(values.max()) == 0.0:
        return False
    size = 0.1 * float(np.abs(direction).max())
    shown = values > 0.02 * float(values.max())
    forward, backward = float(np.mean(direction[shown] > size)), float(np.mean(direction[shown] < -size))
    return min(forward, backward) > 0.05
