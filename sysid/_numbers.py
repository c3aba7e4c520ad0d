"""Text cells turned into numbers, without a word lost in silence."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Cells that mean "no measurement", in lower case.
MISSING_WORDS = (
    *("", "nan", "-nan", "+nan", "na", "n/a", "#n/a", "#na", "null", "none", "nil", "missing", "-", "--", "?", "."),
    *("nan(ind)", "-nan(ind)", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "#value!", "#num!", "#div/0!", "invalid"),
)

#: Cells of a switch.
SWITCH_WORDS = {"true": "1", "false": "0"}

_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eEdD][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:([.,' \u00a0])\d{3})+(?:[.,]\d*)?")
_DAY = 86400.0


def is_missing(cell: str) -> bool:
    """Whether the cell is one of the words for "no measurement"."""
    return cell.strip().lower() in MISSING_WORDS


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether the cell is a plain number with this decimal mark."""
    text = cell.strip()
    if decimal == "," and "." in text:
        return False
    return _NUMBER.fullmatch(text.replace(",", ".") if decimal == "," else text) is not None


def is_clock(cell: str) -> bool:
    """Whether the cell is a time of day, with or without a date."""
    return (
        re.fullmatch(r"(\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?", cell.strip())
        is not None
    )


def numbers_of(text: Any, decimal: str) -> tuple[NDArray[np.float64], int | None]:
    """The numbers of a polars text column (NaN where missing), and the first row, from 0, that is no number."""
    import polars as pl

    cells = text.str.strip_chars()
    missing = cells.is_null() | cells.str.to_lowercase().is_in(MISSING_WORDS)
    plain = cells
    if decimal == ",":
        # A dot in a file of decimal commas is a thousands mark, or an error; it is never a decimal point.
        plain = pl.select(pl.when(cells.str.contains(".", literal=True)).then(None).otherwise(cells)).to_series()
        plain = plain.str.replace(",", ".", literal=True)
    plain = plain.str.to_lowercase().replace(SWITCH_WORDS)
    values = plain.cast(pl.Float64, strict=False)
    wrong = values.is_null() & ~missing
    first = int(wrong.arg_max() or 0) if wrong.any() else None
    return values.fill_null(float("nan")).to_numpy().astype(np.float64), first


def seconds_of_clock(text: Any) -> tuple[NDArray[np.float64], int | None]:
    """Seconds of a polars column of clock strings, and the first row, from 0, that is none.

    With a date: since 1970; without one: since midnight.
    """
    import polars as pl

    cells = text.str.strip_chars().str.replace(",", ".", literal=True)
    missing = cells.is_null() | cells.str.to_lowercase().is_in(MISSING_WORDS)
    plain = _seconds_of_plain_clock(cells)
    if plain is not None and not (plain.is_null() & ~missing).any():
        return plain.fill_null(float("nan")).to_numpy(), None
    parts = cells.str.extract_groups(
        r"^(?:(?<date>\d{4}-\d\d-\d\d)[T ])?(?<h>\d{1,2}):(?<m>\d\d)(?::(?<s>\d\d(?:\.\d+)?))?(?:Z|[+-]\d\d:?\d\d)?$"
    ).struct
    clock = (
        parts.field("h").cast(pl.Float64) * 3600.0
        + parts.field("m").cast(pl.Float64) * 60.0
        + parts.field("s").cast(pl.Float64).fill_null(0.0)
    )
    day = parts.field("date").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Float64).fill_null(0.0)
    # Days count from the first one, so that the fraction of a second keeps its digits.
    origin = day.drop_nulls()
    values = clock + (day - (origin[0] if len(origin) else 0.0)) * _DAY
    wrong = values.is_null() & ~missing
    first = int(wrong.arg_max() or 0) if wrong.any() else None
    return values.fill_null(float("nan")).to_numpy().astype(np.float64), first


def _seconds_of_plain_clock(cells: Any) -> Any:
    """Seconds of clocks that are all written like the first one, in a fraction of the time; None when it is another."""
    import polars as pl

    first = next(iter(cells.drop_nulls().head(1)), "")
    if re.fullmatch(r"\d\d:\d\d:\d\d(\.\d+)?", first):
        moments = cells.str.to_time("%H:%M:%S%.f", strict=False).to_physical()
        return moments.cast(pl.Float64) * 1e-9
    dated = re.fullmatch(r"\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?(Z?)", first)
    if dated is None:
        return None
    form = f"%Y-%m-%d{dated[1]}%H:%M:%S%.f{dated[3]}"
    moments = cells.str.to_datetime(form, time_unit="ns", strict=False).to_physical()
    origin = moments.drop_nulls().head(1)
    return (moments - (origin[0] if len(origin) else 0)).cast(pl.Float64) * 1e-9


def fault_of(cell: str, row: int, line: int | None, decimal: str) -> str:
    """What is wrong with a cell that is no number: one clause with its place."""
    place = f"row {row}" if line is None else f"row {row} (line {line})"
    text = cell.strip()
    if _THOUSANDS.fullmatch(text):
        other = "," if decimal == "." else "."
        return (
            f"{place} holds '{text}', which may carry a thousands mark: write plain numbers, "
            f"or state the decimal mark with --decimal '{other}' if it is one"
        )
    return f"{place} holds the text '{text[:40]}': correct that row, or leave the cell empty if nothing was measured"
