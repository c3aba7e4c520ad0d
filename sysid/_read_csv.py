"""Text tables: CSV and its relatives."""

import pathlib
import re
from typing import Any

import numpy as np

from sysid._dialect import Dialect, find_dialect
from sysid._errors import LogError
from sysid._habits import plain_rows, without_words
from sysid._numbers import (
    MISSING_WORDS,
    SWITCH_WORDS,
    fault_of,
    is_clock,
    is_missing,
    is_number,
    numbers_of,
    seconds_of_clock,
)
from sysid._options import Options
from sysid._polars import told
from sysid._recorded import with_rates, with_stamps
from sysid._table import Column, Table, split_brackets
from sysid._text import Text, open_text, refuse_mixed_marks, refuse_ragged_rows, rows_of

_CONDITION = re.compile(r"^\s*(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?)\s*$")
_EXACT_WORDS = sorted({form for word in MISSING_WORDS for form in (word, word.upper(), word.capitalize())} | {"NaN"})


def read_csv(path: pathlib.Path, options: Options) -> Table:
    """A text table with its header rows, units, decimal marks and words for missing values.

    Comment lines such as `# mass = 0.49` before the numbers become conditions of the log.

    **Raises:** `LogError` for an empty file, rows of different width, or a dot in a file of decimal commas.
    """
    data, head = open_text(path)
    data, head, dressed = plain_rows(data, head)
    dialect = find_dialect(path.name, head, options)
    text, cut = rows_of(data, dialect)
    text, spoken = without_words(text, dialect)
    findings = [*dressed, *cut, *spoken]
    refuse_mixed_marks(path.name, text, dialect)
    refuse_ragged_rows(path.name, text, dialect)
    with told(path.name, "a table"):
        frame, numeric = _frame(path.name, text, dialect)
    columns = (_column(frame, numeric, dialect, index, not spoken) for index in range(len(dialect.sample[0])))
    conditions = {}
    for remark in dialect.remarks:
        found = _CONDITION.match(remark)
        if found is not None:
            conditions[found["name"]] = float(found["value"])
    return Table(
        path.name,
        with_rates(with_stamps(tuple(column for column in columns if column is not None)), dialect),
        conditions,
        tuple(findings),
    )


def _frame(name: str, text: Text, dialect: Dialect) -> tuple[Any, set[str]]:
    """The cells as a polars frame with columns c0, c1 ..., and the names of those that are numbers already."""
    import polars as pl

    body = bytes(text.body)
    separator = dialect.delimiter
    if separator == " ":
        body, separator = re.sub(rb"(?m)^\t|\t$", b"", re.sub(rb"[ \t\r]+", b"\t", body)), "\t"
    width = len(dialect.sample[0])
    numeric = {f"c{index}" for index in range(width) if _is_numeric(dialect, index)}
    seen = sorted({cell for row in dialect.sample for cell in row if cell in _EXACT_WORDS})
    # Every word for "missing" costs time in every cell: those of the first rows are tried alone first.
    for floats, words in ((numeric, seen), (numeric, _EXACT_WORDS), (set(), None)):
        try:
            frame = pl.read_csv(
                body,
                has_header=False,
                schema={f"c{index}": pl.Float64 if f"c{index}" in floats else pl.String for index in range(width)},
                separator=separator,
                decimal_comma=dialect.decimal == ",",
                null_values=words,
                comment_prefix=dialect.comment,
            )
        except (pl.exceptions.ComputeError, pl.exceptions.SchemaError, pl.exceptions.InvalidOperationError) as error:
            # A cell that is no plain number: read once more as text, where its place can be told.
            if not floats:
                raise LogError(f"{name}: {_unreadable(text, dialect, error)}") from None
        except pl.exceptions.NoDataError:
            raise LogError(f"{name}: the file holds no rows of numbers") from None
        else:
            return frame, floats
    raise AssertionError("unreachable")


def _unreadable(text: Text, dialect: Dialect, error: Exception) -> str:
    """Why the rows are no table: the first line with an open quote or with bytes that are no text."""
    for number, line in enumerate(bytes(text.body).split(b"\n"), start=dialect.first + 1):
        if line.count(b'"') % 2:
            return f"line {number} has a quote that is not closed: correct or remove that row"
        try:
            line.decode()
        except UnicodeDecodeError:
            return f"line {number} holds bytes that are no text: correct or remove that row"
    return f"not readable as a table: {str(error).splitlines()[0][:160]}"


def _is_numeric(dialect: Dialect, index: int) -> bool:
    cells = [row[index] for row in dialect.sample if index < len(row)]
    return all(is_number(cell, dialect.decimal) or cell in _EXACT_WORDS for cell in cells)


def _column(frame: Any, numeric: set[str], dialect: Dialect, index: int, lines: bool) -> Column | None:
    series = frame[f"c{index}"]
    header, unit = split_brackets(dialect.names[index])
    alias, alias_unit = split_brackets(dialect.aliases[index])
    unit = dialect.units[index] or unit or alias_unit
    cells = [row[index] for row in dialect.sample if index < len(row) and not is_missing(row[index])]
    whole = bool(cells) and all(re.fullmatch(r"[+-]?\d+", cell) is not None for cell in cells)
    if series.name in numeric:
        values, wrong = series.fill_null(float("nan")).to_numpy(), None
    elif cells and all(is_clock(cell) for cell in cells):
        values, wrong = seconds_of_clock(series)
        unit, whole = "s", False
    elif cells and not any(is_number(cell, dialect.decimal) or cell.lower() in SWITCH_WORDS for cell in cells):
        values, wrong = np.full(len(series), np.nan), int(series.is_not_null().arg_max() or 0)
    else:
        values, wrong = numbers_of(series, dialect.decimal)
    named = bool(alias) or header not in ("", f"column{index + 1}")
    if not named and not cells and np.isnan(values).all():
        return None  # the empty column behind a delimiter at the end of each line
    fault = None
    if wrong is not None:
        fault = fault_of(str(series[wrong]), wrong + 1, wrong + 1 + dialect.first if lines else None, dialect.decimal)
    if not named and cells and all(is_clock(cell) for cell in cells):
        header = "clock"
    return Column(header or alias or f"column{index + 1}", values, unit, alias, fault, whole)
