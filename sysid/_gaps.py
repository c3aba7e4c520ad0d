"""Where a log is interrupted, and how evenly it is sampled."""

import numpy as np
from numpy.typing import NDArray

from sysid._finding import Finding
from sysid._options import Options

_GAP = 5.0
_NEIGHBOURS = 10
_ENOUGH = 100_000


def find_gaps(
    time: NDArray[np.float64],
    rows: NDArray[np.intp],
    restarts: NDArray[np.intp],
    options: Options,
    findings: list[Finding],
) -> NDArray[np.intp]:
    """The first row after each interruption.

    A gap is a step much longer than the usual one, and than those on both sides: a logger may change its rate.

    **Arguments:**

    - `time`: [s], increasing.
    - `rows`: for each stamp its row in the source, from 0.
    - `restarts`: where another run begins.
    """
    steps = np.diff(time)
    usual = float(np.median(steps))
    factor = options.gap or _GAP
    found = np.flatnonzero(steps > factor * usual)
    if len(found):
        offsets = np.arange(1, _NEIGHBOURS + 1)
        # Beyond the ends of the log the usual step stands in, so that no side is empty.
        padded = np.pad(steps, _NEIGHBOURS, constant_values=usual)
        before = np.median(padded[found[:, None] + _NEIGHBOURS - offsets], axis=1)
        after = np.median(padded[found[:, None] + _NEIGHBOURS + offsets], axis=1)
        found = found[steps[found] > factor * np.maximum(before, after)]
    if len(found):
        lost = float(np.sum(steps[found]))
        message = f"{len(found)} gap{'s' * (len(found) != 1)} of more than {factor:g} usual steps, {lost:.4g} s in all"
        findings.append(
            Finding.at_rows(
                "gap", message, rows[found + 1] + 1, action="windows end there", option="--gap", severity="warning"
            )
        )
    return np.union1d(found + 1, restarts).astype(np.intp)


def describe_sampling(
    time: NDArray[np.float64], breaks: NDArray[np.intp], options: Options, findings: list[Finding]
) -> None:
    """Reports drift and jitter of the step, and a stated rate that the stamps contradict."""
    steps = np.diff(time)
    if len(breaks):
        steps = np.delete(steps, breaks - 1)
    if len(steps) < 10:
        return
    usual = float(np.median(steps))
    tenth = max(len(steps) // 10, 5)
    first, last = float(np.median(steps[:tenth])), float(np.median(steps[-tenth:]))
    spread = float(np.quantile(steps[:tenth], 0.9) - np.quantile(steps[:tenth], 0.1))
    if abs(last - first) > max(0.05 * usual, 5.0 * spread / np.sqrt(tenth)):
        message = f"the step goes from {first:.4g} s to {last:.4g} s along the log: every row keeps its own step"
        findings.append(Finding("time_drift", message, action="stamps used"))
    low, high = np.quantile(steps[:: max(len(steps) // _ENOUGH, 1)], (0.05, 0.95))
    if (high - low) / usual > 0.1 and "time_drift" not in {item.code for item in findings}:
        message = (
            f"uneven sampling: steps of {low:.4g} to {high:.4g} s, usually {usual:.4g} s: every row keeps its own step"
        )
        findings.append(Finding("time_jitter", message, action="stamps used"))
    if options.rate is not None:
        mean = float(np.mean(steps))
        if abs(mean * options.rate - 1.0) > 0.01:
            message = (
                f"the stamps give {1.0 / mean:.5g} rows per second on average, the stated rate is {options.rate:.5g} "
                f"({mean * options.rate - 1.0:+.1%} in the step): the stamps are used"
            )
            findings.append(Finding("rate_differs", message, action="stamps used", option="--rate", severity="warning"))
