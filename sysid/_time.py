"""Time stamps: their unit, their order, and where the log is interrupted."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError
from sysid._finding import Finding
from sysid._options import Options
from sysid._units import target_unit, to_si

_GAP = 5.0
_SLOW_STEP = 0.5
_VERY_SLOW_STEP = 60.0
_FAST_STEP = 1e-6
_SWAP_REACH = 50.0
_NEIGHBOURS = 10


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


def seconds(
    values: NDArray[np.float64], unit: str | None, *, whole: bool, moving: bool, source: str, option: str | None
) -> tuple[NDArray[np.float64], list[Finding]]:
    """Stamps in seconds from the first one.

    **Arguments:**

    - `values`: as in the file, NaN where missing.
    - `unit`: as the header states it; None when it states none.
    - `whole`: whether the stamps are written as whole numbers.
    - `moving`: whether the log holds a position or a speed, which makes steps of a second implausible.
    - `option`: the unit the user gave, which wins.

    **Raises:** `LogError` for an unknown unit, and when no unit is stated and the step is implausible in seconds.
    """
    present = values[np.isfinite(values)]
    if len(present) == 0:
        raise LogError(f"{source}: the time column is empty")
    findings: list[Finding] = []
    steps = np.abs(np.diff(present))
    steps = steps[steps > 0.0]
    step = float(np.median(steps)) if len(steps) else 0.0
    stated = option or unit
    if stated is None:
        limit = _SLOW_STEP if moving else _VERY_SLOW_STEP
        if step >= limit or 0.0 < step < _FAST_STEP:
            raise LogError(
                f"{source}: the time column states no unit and its usual step is {step:.6g}, implausible in seconds: "
                "give --time-unit s|ms|us"
            )
        if step >= _SLOW_STEP or (whole and step >= 1.0):
            message = f"the time column states no unit; its usual step of {step:.6g} is taken as seconds"
            findings.append(
                Finding("time_unit_assumed", message, action="seconds", option="--time-unit", severity="warning")
            )
        stated = "s"
    elif target_unit("time", stated) is None:
        raise LogError(f"{source}: '{stated}' is no unit of time: give --time-unit s|ms|us")
    origin = float(present[0])
    if abs(origin) > step:
        start = float(to_si(np.array([origin]), stated, "time")[0])
        findings.append(Finding("time_offset", f"the stamps start at {start:.6g} s: shifted to 0", action="shifted"))
    # The offset goes before the unit does, so that a large one costs no digits of the step.
    return to_si(values - origin, stated, "time"), findings


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
    breaks = _gaps(time, rows, restarts, options, findings)
    _describe(time, breaks, options, findings)
    return Stamps(time - time[0], rows, breaks, tuple(findings))


def _stray(time: NDArray[np.float64]) -> NDArray[np.intp]:
    """Single stamps far before or after both neighbours, which are themselves in order."""
    if len(time) < 4:
        return np.zeros(0, dtype=np.intp)
    steps = np.diff(time)
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
    spans += [60.0, 3600.0, 86400.0, 1000.0, 100.0, 10.0, 1.0]
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
    if conflict.any():
        share = conflict.mean()
        message = f"{int(conflict.sum())} rows ({share:.1%}) carry the stamp of the row before, with other values"
        findings.append(
            Finding.at_rows("conflicting_stamps", message, rows[conflict] + 1, action="dropped", severity="warning")
        )
    kept = ~again
    return time[kept], rows[kept], np.unique(np.cumsum(kept)[restarts] - 1).astype(np.intp)


def _gaps(
    time: NDArray[np.float64],
    rows: NDArray[np.intp],
    restarts: NDArray[np.intp],
    options: Options,
    findings: list[Finding],
) -> NDArray[np.intp]:
    """Steps much longer than the usual one, and than those on both sides (a logger may change its rate)."""
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


def _describe(time: NDArray[np.float64], breaks: NDArray[np.intp], options: Options, findings: list[Finding]) -> None:
    steps = np.delete(np.diff(time), breaks - 1)
    if len(steps) < 10:
        return
    usual = float(np.median(steps))
    tenth = max(len(steps) // 10, 5)
    first, last = float(np.median(steps[:tenth])), float(np.median(steps[-tenth:]))
    spread = float(np.quantile(steps[:tenth], 0.9) - np.quantile(steps[:tenth], 0.1))
    if abs(last - first) > max(0.05 * usual, 5.0 * spread / np.sqrt(tenth)):
        message = f"the step goes from {first:.4g} s to {last:.4g} s along the log: every row keeps its own step"
        findings.append(Finding("time_drift", message, action="stamps used"))
    low, high = np.quantile(steps, (0.05, 0.95))
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
