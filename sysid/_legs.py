"""The legs of a walk: from where the motion is simulated, and for how long."""

import numpy as np

from ._errors import ModelError
from ._setup import Setup
from ._solve import Stage
from ._windows import resets


def legs(made: Setup, replay: bool, budget: int, window: float | None = None) -> list[Stage]:
    """Short windows first, then longer, then whole pieces; replay returns to the measured motion at every row.

    **Arguments:** `budget`: iterations of the last leg; `window` [s]: the last leg is made of windows this long.

    **Raises:** `ModelError` for a window that is not longer than a step.
    """
    shape = made.problem.batch.dt.shape
    whole = resets(shape, shape[-1] + 1)
    if replay:
        return [Stage("replay", ~whole, budget, 1e-9)]
    moving = any(c in log.channels for log in made.logs for c in ("position", "velocity"))
    length = max(piece.last - piece.first for piece in made.cut)
    if window is not None:
        length = min(length, _rows(made, window))
    walk = [("short windows", max(25, length // 12)), ("longer windows", max(25, length // 3))]
    staged = [Stage(words, resets(shape, rows), 12, 1e-3) for words, rows in walk if moving and rows < length]
    if window is None:
        return [*staged, Stage("whole runs", whole, budget, 1e-6)]
    return [*staged, Stage(f"windows of {window:g} s", resets(shape, length), budget, 1e-6)]


def every(reset: np.ndarray) -> int:
    """Rows between two returns to the measured motion, more than there are where it never returns."""
    marked = np.flatnonzero(reset[0, 1:])
    return int(marked[0]) + 1 if len(marked) else reset.shape[-1] + 1


def _rows(made: Setup, window: float) -> int:
    step = float(np.median([log.dt for log in made.logs]))
    rows = round(window / step) if np.isfinite(window) else 0
    if rows < 2:
        raise ModelError(f"--window {window:g}: a window must be longer than a step of the logs, {step:.3g} s")
    return rows
