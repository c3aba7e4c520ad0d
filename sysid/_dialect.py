"""How a text table is written: encoding, comment mark, delimiter, decimal mark, header rows."""

import csv
import dataclasses
import re

from sysid._errors import LogError
from sysid._numbers import is_clock, is_missing, is_number
from sysid._options import Options
from sysid._words import looks_like_unit

_COMMENTS = ("#", "%", "//")
_DELIMITERS = (";", "\t", ",", "|")
_COMMA_CELL = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_TITLE_ROWS = 3


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How one file is written.

    **Attributes:**

    - `delimiter`: one character; a blank stands for any run of blanks.
    - `decimal`: `"."` or `","`.
    - `comment`: the mark that opens a comment line, if there is one.
    - `first`: index of the first line of numbers, in all lines of the file.
    - `names`, `aliases`, `units`: one per column, empty where the file gives none.
    - `sample`: the cells of the first rows.
    - `remarks`: lines before the header and comment lines, without their mark.
    """

    delimiter: str
    decimal: str
    comment: str | None
    first: int
    names: tuple[str, ...]
    aliases: tuple[str, ...]
    units: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of one line."""
    if delimiter == " ":
        return line.split()
    try:
        cells = next(csv.reader([line.replace("\r", " ")], delimiter=delimiter), [])
    except csv.Error:  # a cell of more than 100 kB: an open quote, most likely
        cells = line.split(delimiter)
    return [cell.strip() for cell in cells]


def _is_data(cells: list[str], decimal: str) -> bool:
    """Whether a line is a row of measurements: at least one number or clock, and no more words than numbers."""
    told = [cell for cell in cells if not is_missing(cell)]
    good = sum(
        is_number(cell, decimal) or is_number(cell, ".") or is_clock(cell) or cell.startswith("[") for cell in told
    )
    return good > 0 and 2 * good >= len(told)


def usual_delimiter(lines: list[str]) -> str:
    """The mark that cuts the last lines of the head into the same number of cells, of which the most are numbers."""
    best, best_score = ",", (-1.0, 0)
    for mark in (*_DELIMITERS, " "):
        rows = [cells_of(line, mark) for line in lines[-20:]]
        width = len(rows[-1]) if len(rows) == 1 else max((len(row) for row in rows[:-1]), default=0)
        if width < 2:
            continue
        alike = sum(len(row) == width for row in rows) / len(rows)
        numbers = sum(
            is_number(cell) or _COMMA_CELL.fullmatch(cell) is not None or is_missing(cell) or is_clock(cell)
            for row in rows
            for cell in row
        ) / sum(len(row) for row in rows)
        score = (round(alike * numbers, 6), -_DELIMITERS.index(mark) if mark in _DELIMITERS else -9)
        if score > best_score:
            best, best_score = mark, score
    return best


def find_dialect(path: str, text: str, options: Options) -> Dialect:
    """The dialect of a file, from its first lines.

    **Arguments:**

    - `path`: the file's name, for messages.
    - `text`: the head of the file, ending at a line's end.

    **Raises:** `LogError` when the file is empty or holds no rows of numbers.
    """
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        raise LogError(f"{path}: the file is empty")
    comment = next((mark for line in lines if (mark := _comment_mark(line)) is not None), None)
    plain = [index for index, line in enumerate(lines) if line.strip() and _comment_mark(line) is None]
    delimiter = options.delimiter or usual_delimiter([lines[index] for index in plain])
    rows = {index: cells_of(lines[index], delimiter) for index in plain}
    decimal = options.decimal or _decimal(list(rows.values()), delimiter)
    data = [index for index in plain if _is_data(rows[index], decimal) and len(rows[index]) > 1]
    if not data:
        raise LogError(f"{path}: no row of numbers in the first {len(lines)} lines; is it a table of text?")
    width, numbered = _shape([rows[index] for index in data], decimal)
    first = next(
        index for index in data if len(rows[index]) == width and (not numbered or _opens(rows[index], decimal))
    )
    sample = tuple(tuple(rows[index]) for index in plain if index >= first)[:200]
    header = [index for index in plain if index < first]
    titles = [rows[index] for index in _title_rows(header, rows, width, numbered, decimal)]
    if not titles:
        remarked = [lines[index] for index in range(first) if _comment_mark(lines[index])]
        last = cells_of(remarked[-1].lstrip("#%/ "), delimiter) if remarked else []
        titles = [last] if len(last) == width else []
    if not titles and header and len(rows[header[-1]]) > 1:
        raise LogError(
            f"{path}: the header (line {header[-1] + 1}) has {len(rows[header[-1]])} cells, the rows have {width}: "
            "correct it, or give --delimiter"
        )
    names, aliases, units = _titles(titles, width)
    wide = len(titles)
    remarks = [lines[index].strip().lstrip("#%/ ") for index in range(first) if _comment_mark(lines[index])]
    remarks += [lines[index].strip() for index in header[: len(header) - wide]]
    return Dialect(delimiter, decimal, comment, first, names, aliases, units, sample, tuple(remarks))


def _opens(cells: list[str], decimal: str) -> bool:
    """Whether a row begins with a number or a clock, not with a word such as those before the values of a preamble."""
    return is_number(cells[0], decimal) or is_number(cells[0], ".") or is_clock(cells[0]) or is_missing(cells[0])


def _shape(rows: list[list[str]], decimal: str) -> tuple[int, bool]:
    """How many cells most rows have, and whether they begin with a number."""
    widths = [len(row) for row in rows[-100:]]
    width = max(sorted(set(widths), reverse=True), key=widths.count)
    alike = [row for row in rows[-100:] if len(row) == width]
    return width, 2 * sum(_opens(row, decimal) for row in alike) > len(alike)


def _title_rows(header: list[int], rows: dict[int, list[str]], width: int, numbered: bool, decimal: str) -> list[int]:
    """The lines right above the numbers that name the columns.

    A header may stop short of a trailing delimiter, have one more, or name no more than the first columns.
    """
    found: list[int] = []
    for index in reversed(header):
        row = rows[index]
        wide = len(row) in (width, width - 1) or (len(row) == width + 1 and not row[-1])
        torn = numbered and _opens(row, decimal) and _is_data(row, decimal)
        if found and (found[-1] - index > 1 or len(found) == _TITLE_ROWS or 2 * sum(map(bool, row)) <= width):
            break
        if wide and any(row) and not torn:
            found.append(index)
        elif found:
            break
    return found[::-1]


def _comment_mark(line: str) -> str | None:
    stripped = line.lstrip()
    return next((mark for mark in _COMMENTS if stripped.startswith(mark)), None)


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell for row in rows[-100:] for cell in row]
    commas = sum(_COMMA_CELL.fullmatch(cell) is not None for cell in cells)
    dots = sum("." in cell and is_number(cell) for cell in cells)
    return "," if commas > dots else "."


def _beside_units(cell: str) -> bool:
    """Whether a cell may stand in a row of units; Rigol's holds the start and the increment of the time as well."""
    return not cell or looks_like_unit(cell) or cell.lower() == "sequence" or is_number(cell)


def _titles(rows: list[list[str]], width: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Names, second names and units from the header rows."""

    def padded(row: list[str]) -> tuple[str, ...]:
        return tuple((row + [""] * width)[:width])

    units = next((row for row in rows[1:] if any(row) and all(map(_beside_units, row))), None)
    named = [row for row in rows if row is not units]
    empty = ("",) * width
    names = padded(named[0]) if named else tuple(f"column{index + 1}" for index in range(width))
    return (
        names,
        padded(named[1]) if len(named) > 1 else empty,
        tuple(cell.strip("[](){} ") for cell in padded(units)) if units is not None else empty,
    )
