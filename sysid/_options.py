"""What the user may say about a log when reading it."""

import dataclasses
import re
from collections.abc import Mapping, Sequence

from sysid._errors import LogError
from sysid._table import split_brackets
from sysid._units import CHANNEL_UNITS

#: Findings on which the reader does something, and may be told not to.
KEEPABLE = (
    *("wrapped_angle", "held_samples", "clipped", "unsigned_current", "unsigned_torque", "current_sign"),
    "position_unrelated",
)

_NEXT = re.compile(r"\s*,\s*(?=\w+\s*=)")


@dataclasses.dataclass(frozen=True)
class Options:
    """Everything that `read_log` takes beside the path; see there."""

    columns: Mapping[str, str] = dataclasses.field(default_factory=dict)
    time_unit: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    flip: Sequence[str] = ()
    keep: Sequence[str] = ()
    hold: Sequence[str] = ()
    limits: Mapping[str, float] = dataclasses.field(default_factory=dict)
    counts_per_turn: float | None = None
    gear: float | None = None
    joint: int | str | None = None
    gap: float | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        for option in ("columns", "flip", "hold", "limits"):
            for channel in getattr(self, option):
                check_channel(channel, option, time=option == "columns")
        for code in self.keep:
            if code not in KEEPABLE:
                raise LogError(f"keep: nothing is done about '{code}'; the codes are: {', '.join(KEEPABLE)}")
        for option in ("counts_per_turn", "gap", "rate"):
            value = getattr(self, option)
            if value is not None and not 0.0 < value < float("inf"):
                raise LogError(f"{option} must be a positive number, not {value}")
        if self.gear is not None and not 0.0 < abs(self.gear) < float("inf"):
            raise LogError(f"gear must be a finite number other than 0, not {self.gear}")
        if self.decimal not in (None, ".", ","):
            raise LogError(f"decimal must be '.' or ',', not '{self.decimal}'")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise LogError(f"delimiter must be one character, not '{self.delimiter}'")


def listed(words: Sequence[str] | str) -> tuple[str, ...]:
    """Words given one by one, or several in one text with commas between."""
    texts = (words,) if isinstance(words, str) else words
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def check_channel(channel: str, option: str, *, time: bool = False) -> None:
    """Raises `LogError` when there is no such channel."""
    if channel not in CHANNEL_UNITS and not (time and channel == "time"):
        allowed = ", ".join((*(("time",) if time else ()), *CHANNEL_UNITS))
        raise LogError(f"{option}: unknown channel '{channel}'; the channels are: {allowed}")


def parse_columns(text: str) -> dict[str, str]:
    """`"velocity=m1vel[rad/s],current=m1cur"` as `{"velocity": "m1vel[rad/s]", "current": "m1cur"}`.

    **Raises:** `LogError` for a part without `=`, a channel named twice, or one that does not exist.
    """
    columns: dict[str, str] = {}
    for part in _NEXT.split(text.strip()):
        channel, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column or not split_brackets(column)[0]:
            raise LogError(f"columns: '{part}' is not channel=column[unit]")
        check_channel(channel, "columns", time=True)
        if channel in columns:
            raise LogError(f"columns: {channel} is named twice")
        columns[channel] = column
    return columns
