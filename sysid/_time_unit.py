"""Time stamps of any unit in seconds."""

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError
from sysid._finding import Finding
from sysid._units import target_unit, to_si

_SLOW_STEP = 0.5
_VERY_SLOW_STEP = 60.0
_FAST_STEP = 1e-6
_ENOUGH = 100_000
#: Counts since 1970 between the years 2001 and 2286 are so large in each unit that they can be in no other.
_EPOCHS = {"ms": 1e12, "us": 1e15, "ns": 1e18}


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
    # Of a long log the first rows are enough to tell the unit.
    steps = np.abs(np.diff(present[:_ENOUGH]))
    steps = steps[steps > 0.0]
    step = float(np.median(steps)) if len(steps) else 0.0
    stated = option or unit or _since_1970(present, step)
    if stated is not None and stated is not option and stated is not unit:
        message = f"the time column states no unit; its stamps are {stated} since 1970"
        findings.append(Finding("time_unit_found", message, action=stated, option="--time-unit"))
    if stated is None:
        limit = _SLOW_STEP if moving else _VERY_SLOW_STEP
        if step >= limit or 0.0 < step < _FAST_STEP:
            raise LogError(
                f"{source}: the time column states no unit and its usual step is {step:.6g}, implausible in seconds: "
                "give --time-unit s|ms|us|ns"
            )
        if step >= _SLOW_STEP or (whole and step >= 1.0):
            message = f"the time column states no unit; its usual step of {step:.6g} is taken as seconds"
            findings.append(
                Finding("time_unit_assumed", message, action="seconds", option="--time-unit", severity="warning")
            )
        stated = "s"
    elif target_unit("time", stated) is None:
        raise LogError(f"{source}: '{stated}' is no unit of time: give --time-unit s|ms|us|ns")
    origin = float(present[0])
    if abs(origin) > step:
        start = float(to_si(np.array([origin]), stated, "time")[0])
        findings.append(Finding("time_offset", f"the stamps start at {start:.6g} s: shifted to 0", action="shifted"))
    # The offset goes before the unit does, so that a large one costs no digits of the step.
    return to_si(values - origin, stated, "time"), findings


def _since_1970(present: NDArray[np.float64], step: float) -> str | None:
    """The unit of stamps that count from 1970; None for others, and for stamps in seconds."""
    for unit, least in _EPOCHS.items():
        if least <= float(present[0]) < 10.0 * least and float(present[-1]) < 10.0 * least and step < 1e-3 * least:
            return unit
    return None
