"""Angles that wrap made continuous."""

import numpy as np
from numpy.typing import NDArray

_SLACK = 1e-3
_TURN = 2.0 * np.pi

#: Turns per step beyond which a step of a wrapped angle is in doubt: seen from the other side, this is 0.65 turn.
FAST = 0.35


def unwrap(
    values: NDArray[np.float64],
    period: float = _TURN,
    *,
    time: NDArray[np.float64] | None = None,
    usable: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """A wrapped angle or counter as the continuous one: of counts of 4096, `4090` then `2` is a step of +8.

    Between neighbouring rows the shorter way round is taken. Where readings are missing in between, or the step of time
    is long, the way is the one nearest to what the speed on both sides lets expect.

    **Arguments:**

    - `values`: shape `(rows,)`, finite where usable.
    - `period`: the value of one turn of the register, in the unit of the values.
    - `time`: [s], shape `(rows,)`; the row number stands in for it.
    - `usable`: shape `(rows,)`; rows that are not usable keep the last value.

    **Returns:** shape `(rows,)`; the first usable value is unchanged.
    """
    rows = np.arange(len(values)) if usable is None else np.flatnonzero(usable)
    if len(rows) < 2:
        return values.copy()
    stamps = np.arange(len(values), dtype=np.float64) if time is None else time
    steps = np.diff(values[rows])
    spans = np.diff(stamps[rows])
    steps -= period * np.round(steps / period)
    far = (np.diff(rows) > 1) | (spans > 1.5 * np.median(spans))
    if far.any() and not far.all():
        near = np.flatnonzero(~far)
        places = np.flatnonzero(far)
        rates = steps[near] / spans[near]
        before = rates[np.clip(np.searchsorted(near, places) - 1, 0, len(near) - 1)]
        after = rates[np.clip(np.searchsorted(near, places), 0, len(near) - 1)]
        expected = 0.5 * (before + after) * spans[places]
        steps[places] += period * np.round((expected - steps[places]) / period)
    whole = values.astype(np.float64, copy=True)
    whole[rows[1:]] = values[rows[0]] + np.cumsum(steps)
    return whole


def wraps(values: NDArray[np.float64], period: float = _TURN) -> bool:
    """Whether usable values stay within one period and jump across more than half of it."""
    if len(values) < 2:
        return False
    span = float(values.max() - values.min())
    return span <= period * (1.0 + _SLACK) and bool(np.any(np.abs(np.diff(values)) > 0.5 * period))


def register_period(values: NDArray[np.float64], period: float) -> float | None:
    """The period at which the values wrap: one turn, or that of a 16- or 32-bit register of whole counts; else None.

    **Arguments:**

    - `values`: usable values, shape `(rows,)`, in counts if `period` is.
    - `period`: one turn.
    """
    if wraps(values, period):
        return period
    for bits in (16, 32):
        span = 2.0**bits
        whole = np.array_equal(values, np.round(values))
        if whole and period < span and wraps(values, span) and np.abs(np.diff(values)).max() > 0.9 * span:
            return span
    return None


def fast_steps(values: NDArray[np.float64], usable: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Rows reached by more than 0.35 turn in one step, where the way round is hardly told from the other one."""
    near = usable[1:] & usable[:-1]
    return np.flatnonzero(near & (np.abs(np.diff(values)) > FAST * _TURN)) + 1
