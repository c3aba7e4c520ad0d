"""The legs of a walk: for how long the motion is simulated before it returns to the measured one."""

from collections.abc import Sequence

from ._log import Log
from ._setup import Setup
from ._solve import Stage
from ._windows import Piece, resets


def legs(made: Setup, replay: bool, budget: int) -> list[Stage]:
    """Short windows first, then longer, then whole pieces; replay returns to the measured motion at every row.

    **Arguments:** `budget`: iterations of the last leg.
    """
    shape = made.problem.batch.dt.shape
    whole = resets(shape, shape[-1] + 1)
    if replay:
        return [Stage("replay", ~whole, budget, 1e-9)]
    staged = [Stage(words, resets(shape, rows), 12, 1e-3) for words, rows in windows(made.logs, made.cut)]
    last = "whole runs" if made.window is None else f"windows of {made.window:g} s"
    return [*staged, Stage(last, whole, budget, 1e-6)]


def windows(logs: Sequence[Log], cut: Sequence[Piece]) -> list[tuple[str, int]]:
    """The windows on the way to whole pieces, and their rows; none where no log has the motion to return to."""
    moving = any(c in log.channels for log in logs for c in ("position", "velocity"))
    length = max(piece.last - piece.first for piece in cut)
    walk = [("short windows", max(25, length // 12)), ("longer windows", max(25, length // 3))]
    return [(words, rows) for words, rows in walk if moving and rows < length]
