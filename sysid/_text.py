"""The bytes of a text table: opened without a copy where possible, and checked for broken rows."""

import dataclasses
import mmap
import pathlib
from typing import Any

import numpy as np

from sysid._dialect import Dialect, cells_of
from sysid._errors import LogError
from sysid._finding import Finding
from sysid._numbers import is_clock, is_missing, is_number

_HEAD = 1 << 16
_BLOCK = 1 << 25
_MARK = b"\xef\xbb\xbf"
_OPENING = 64
"""Zero bytes at most that a serial port yields while it is opened."""


@dataclasses.dataclass(frozen=True)
class Text:
    """A file's bytes in UTF-8.

    **Attributes:**

    - `data`: bytes or a memory map of the file.
    - `start`, `end`: where the rows of numbers begin and end.
    """

    data: Any
    start: int
    end: int

    @property
    def body(self) -> memoryview:
        """The rows of numbers."""
        return memoryview(self.data)[self.start : self.end]


def open_text(path: pathlib.Path) -> tuple[Any, str]:
    """The file's bytes in UTF-8 (mapped, not copied, when it already is), and the lines of its head.

    **Raises:** `LogError` for an empty or a binary file.
    """
    if path.stat().st_size == 0:
        raise LogError(f"{path.name}: the file is empty")
    with path.open("rb") as file:
        data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = bytes(data[:_HEAD])
    zeros = len(start) - len(start.lstrip(b"\0"))
    if 0 < zeros < _OPENING and b"\0" not in start[zeros:]:
        data = data[zeros:]
        start = bytes(data[:_HEAD])
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data[:].decode("utf-16", errors="replace").encode()
    elif b"\0" in start:
        raise LogError(f"{path.name}: not a text table (it holds zero bytes)")
    else:
        try:
            start[: start.rfind(b"\n") + 1].decode()
        except UnicodeDecodeError:
            data = data[:].decode("cp1252", errors="replace").encode()
    if b"\n" not in start and b"\r" in start:
        data = bytes(data).replace(b"\r", b"\n")
    start = bytes(data[:_HEAD])
    head = start if len(data) <= _HEAD else start[: start.rfind(b"\n") + 1]
    return data, head.decode("utf-8-sig", errors="replace")


def rows_of(data: Any, dialect: Dialect) -> tuple[Text, list[Finding]]:
    """The rows of numbers, without a last row that the logger did not finish."""
    start = len(_MARK) if bytes(data[:3]) == _MARK else 0
    for _ in range(dialect.first):
        start = bytes(data[: 2 * _HEAD]).index(b"\n", start) + 1
    whole = Text(data, start, len(data))
    tail = bytes(whole.body[-_HEAD:])
    kept = tail.rstrip(b"\0")
    lines = [line.decode("utf-8", "replace").strip("\r") for line in kept.split(b"\n")]
    if kept.endswith(b"\n") or len(lines) < 6:
        return dataclasses.replace(whole, end=len(data) - (len(tail) - len(kept))), []
    if not _is_cut(lines[-1], lines[-11:-1], dialect):
        return whole, []
    end = len(data) - len(tail) + kept.rindex(b"\n") + 1
    message = f"the last row, '{lines[-1][:60]}', is cut short: dropped"
    finding = Finding("cut_last_row", message, action="dropped", count=1, severity="warning")
    return dataclasses.replace(whole, end=end), [finding]


def _is_cut(last: str, before: list[str], dialect: Dialect) -> bool:
    cells = cells_of(last, dialect.delimiter)
    if len(cells) < len(dialect.sample[0]):
        return True
    if is_clock(cells[-1]) or cells[-1].startswith("["):
        return False
    if not is_number(cells[-1], dialect.decimal):
        return not is_missing(cells[-1]) and is_number(dialect.sample[0][-1], dialect.decimal)
    places = {_places(cells_of(line, dialect.delimiter)[-1], dialect.decimal) for line in before if line.strip()}
    return len(places) == 1 and _places(cells[-1], dialect.decimal) < min(places)


def _places(cell: str, decimal: str) -> int:
    return len(cell.partition(decimal)[2])


def refuse_mixed_marks(name: str, text: Text, dialect: Dialect) -> None:
    """Raises `LogError` when a file of decimal commas holds a dot, which would be read as a decimal point."""
    if dialect.decimal != "," or any(is_clock(cell) for cell in dialect.sample[0]):
        return
    place, data = text.start, text.data
    while 0 <= (place := data.find(b".", place)) < text.end:
        begin, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
        end = end if end >= 0 else text.end
        row = data[begin:end].decode("utf-8", "replace")
        place = end
        cell = next(
            (cell for cell in cells_of(row, dialect.delimiter) if "." in cell and any(map(str.isdigit, cell))), None
        )
        if cell is None or _is_comment(row, dialect):
            continue
        line = data[:begin].count(b"\n") + 1
        raise LogError(
            f"{name}: line {line} holds '{cell[:30]}' in a file of decimal commas; it may carry a thousands mark: "
            "write plain numbers, or give --decimal '.' if the dot is the decimal mark"
        )


def _is_comment(row: str, dialect: Dialect) -> bool:
    return dialect.comment is not None and row.lstrip().startswith(dialect.comment)


def refuse_ragged_rows(name: str, text: Text, dialect: Dialect) -> None:
    """Raises `LogError` for the first row whose number of cells differs from that of the first row."""
    if dialect.delimiter == " ":
        return
    width = len(dialect.sample[0])
    mark, body = ord(dialect.delimiter), np.frombuffer(text.body, dtype=np.uint8)
    line, place = dialect.first, 0
    while place < len(body):
        block = body[place : place + _BLOCK]
        ends = np.flatnonzero(block == ord("\n"))
        if place + len(block) == len(body) and (not len(ends) or ends[-1] != len(block) - 1):
            ends = np.append(ends, len(block))
        if not len(ends):
            raise LogError(f"{name}: line {line + 1} has no end within {_BLOCK} bytes")
        marks = np.diff(np.searchsorted(np.flatnonzero(block == mark), ends), prepend=0)
        for odd in np.flatnonzero(marks != width - 1):
            begin = place + (int(ends[odd - 1]) + 1 if odd else 0)
            row = bytes(text.body[begin : place + int(ends[odd])]).decode("utf-8", "replace").strip()
            count = len(cells_of(row, dialect.delimiter))
            if not row or _is_comment(row, dialect) or count == width:
                continue
            raise LogError(
                f"{name}: line {line + int(odd) + 1} has {count} cell{'s' * (count != 1)} instead of {width}: "
                "correct or remove that row, or give --delimiter and --decimal"
            )
        line += len(ends)
        place += int(ends[-1]) + 1
