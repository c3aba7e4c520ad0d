"""The order of time stamps: sorted, each once, counters continued, runs kept apart."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError
from sysid._finding import Finding
from sysid._gaps import describe_sampling, find_gaps
from sysid._options import Options

_SWAP_REACH = 20.0
_COARSE = 0.3


@dataclasses.dataclass(frozen=True)
class Stamps:
    """Usable time stamps.

    **Attributes:**

    - `time`: [s], strictly increasing, from 0.
    - `rows`: for each stamp its row in the source, from 0.
    - `breaks`: indices of the first row after each interruption.
    """

    time: NDArray[np.float64]
    rows: NDArray[np.intp]
    breaks: NDArray[np.intp]
    findings: tuple[Finding, ...]


def order(time: NDArray[np.float64], repeats: NDArray[np.bool_], options: Options, source: str) -> Stamps:
    """The rows in the order of time, each stamp once, with the interruptions.

    **Arguments:**

    - `time`: [s], NaN where missing.
    - `repeats`: whether a row holds the same cells as the row before it.

    **Raises:** `LogError` when fewer than two stamps remain.
    """
    findings: list[Finding] = []
    rows = np.flatnonzero(np.isfinite(time))
    if len(rows) < len(time):
        lost = np.flatnonzero(~np.isfinite(time)) + 1
        findings.append(
            Finding.at_rows(
                "missing_stamp", f"{len(lost)} rows have no time stamp", lost, action="dropped", severity="warning"
            )
        )
    stray = _stray(time[rows])
    if len(stray):
        message = f"{len(stray)} stamps lie far from those on both sides"
        findings.append(Finding.at_rows("stray_stamp", message, rows[stray] + 1, action="dropped", severity="warning"))
        rows = np.delete(rows, stray)
    time, restarts = _monotone(time[rows], rows, findings)
    time, rows, restarts = _sorted(time, rows, restarts, findings)
    time, rows, restarts = _unique(time, rows, restarts, repeats, findings)
    if len(time) < 2:
        raise LogError(f"{source}: fewer than two different time stamps")
    breaks = find_gaps(time, rows, restarts, options, findings)
    describe_sampling(time, breaks, options, findings)
    return Stamps(time - time[0], rows, breaks, tuple(findings))


def _stray(time: NDArray[np.float64]) -> NDArray[np.intp]:
    """Single stamps far before or after both neighbours, which are themselves in order."""
    if len(time) < 4:
        return np.zeros(0, dtype=np.intp)
    steps = np.diff(time)
    if float(steps.min()) >= 0.0:
        return np.zeros(0, dtype=np.intp)
    reach = _SWAP_REACH * float(np.median(np.abs(steps)))
    falls = np.flatnonzero(steps < -reach) + 1
    low = falls[(falls + 1 < len(time)) & (time[np.minimum(falls + 1, len(time) - 1)] > time[falls - 1])]
    high = np.setdiff1d(falls, low)
    high = high[(high >= 2) & (time[high] > time[high - 2]) & (steps[high - 2] > reach)] - 1
    return np.union1d(low, high).astype(np.intp)


def _monotone(
    time: NDArray[np.float64], rows: NDArray[np.intp], findings: list[Finding]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Counters that rolled over continued, and second runs in the same file put behind the first."""
    steps = np.diff(time)
    falls = np.flatnonzero(steps < 0.0) + 1
    if len(falls) == 0:
        return time, np.zeros(0, dtype=np.intp)
    step = float(np.median(np.abs(steps[steps != 0.0])))
    falls = falls[steps[falls - 1] < -_SWAP_REACH * step]
    rolled, restarted, shift = [], [], np.zeros(len(time))
    for fall in falls:
        span = _rollover(-float(steps[fall - 1]), step)
        if span is not None:
            rolled.append(fall)
            shift[fall:] += span
        else:
            restarted.append(fall)
            shift[fall:] += step - steps[fall - 1]
    if rolled:
        where = rows[np.array(rolled)] + 1
        findings.append(
            Finding.at_rows(
                "time_rollover", f"the time counter rolls over {len(rolled)} times", where, action="continued"
            )
        )
    if restarted:
        where = rows[np.array(restarted)] + 1
        message = f"the time jumps back {len(restarted)} times, as in runs written behind each other"
        findings.append(Finding.at_rows("time_restart", message, where, action="runs kept apart", severity="warning"))
    return time + shift, np.array(restarted, dtype=np.intp)


def _rollover(fall: float, step: float) -> float | None:
    """The span of the counter [s], when the fall of the stamps [s] is that of a known counter less about one step."""
    ticks = (1e-6, 1e-3, 1.0)
    spans = [bits * tick for bits in (2.0**16, 2.0**24, 2.0**31, 2.0**32) for tick in ticks]
    spans.append(86400.0)
    near = [span for span in spans if 0.0 < span - fall < 20.0 * step and span > 100.0 * step]
    return min(near, key=lambda span: abs(span - fall - step)) if near else None


def _sorted(
    time: NDArray[np.float64], rows: NDArray[np.intp], restarts: NDArray[np.intp], findings: list[Finding]
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    if np.all(time[1:] >= time[:-1]):
        return time, rows, restarts
    order = np.argsort(time, kind="stable")
    moved = np.flatnonzero(order != np.arange(len(order)))
    message = f"{len(moved)} rows are out of order"
    findings.append(
        Finding.at_rows("swapped_rows", message, rows[moved] + 1, action="sorted by time", severity="warning")
    )
    return time[order], rows[order], restarts


def _unique(
    time: NDArray[np.float64],
    rows: NDArray[np.intp],
    restarts: NDArray[np.intp],
    repeats: NDArray[np.bool_],
    findings: list[Finding],
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    again = np.concatenate(([False], time[1:] == time[:-1]))
    if not again.any():
        return time, rows, restarts
    neighbours = np.concatenate(([False], rows[1:] == rows[:-1] + 1))
    same = again & neighbours & repeats[rows]
    conflict = again & ~same
    if same.any():
        message = f"{int(same.sum())} rows repeat the row before, stamp and all"
        findings.append(Finding.at_rows("duplicate_rows", message, rows[same] + 1, action="dropped"))
    share = float(conflict.mean())
    if share > _COARSE:
        message = f"the stamps are coarser than the rows: {share:.0%} of the rows carry the stamp of the row before"
        finding = Finding.of_log(
            "coarse_stamps", message, action="spread evenly up to the next stamp", severity="warning"
        )
        findings.append(finding)
        return _spread(time, again), rows, restarts
    if conflict.any():
        message = f"{int(conflict.sum())} rows ({share:.1%}) carry the stamp of the row before, with other values"
        findings.append(
            Finding.at_rows("conflicting_stamps", message, rows[conflict] + 1, action="dropped", severity="warning")
        )
    kept = ~again
    return time[kept], rows[kept], np.unique(np.cumsum(kept)[restarts] - 1).astype(np.intp)


def _spread(time: NDArray[np.float64], again: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rows that share a stamp spread evenly from it to the next one."""
    starts = np.flatnonzero(~again)
    counts = np.diff(starts, append=len(time))
    steps = np.diff(time[starts])
    steps = np.append(steps, np.median(steps)) if len(steps) else np.ones(1)
    place = np.arange(len(time)) - np.repeat(starts, counts)
    return time + place * np.repeat(np.minimum(steps, 2.0 * np.median(steps)) / counts, counts)
