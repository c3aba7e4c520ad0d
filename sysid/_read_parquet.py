"""Parquet tables."""

import pathlib
from typing import Any

import numpy as np

from sysid._errors import LogError
from sysid._options import Options
from sysid._polars import told
from sysid._table import Column, Table, split_brackets

_NANOSECONDS = 1e9
_LARGEST = 1 << 29
_RATIO = 200


def _holds_numbers(kind: Any) -> bool:
    """Whether a column of this kind may be a channel: a number, a switch, a time."""
    import polars as pl

    return kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean


def read_parquet(path: pathlib.Path, options: Options) -> Table:
    """A Parquet table: columns of numbers, switches, times of day or durations; others are no channels.

    **Raises:** `LogError` when the file is broken.
    """
    del options
    import polars as pl

    with told(path.name, "Parquet"):
        table = pl.scan_parquet(path)
        kinds = table.collect_schema()
        rows = int(table.select(pl.len()).collect().item())
        # Equal values pack without limit: what the file states to hold is weighed before it is unpacked.
        read = [name for name, kind in kinds.items() if _holds_numbers(kind)]
        if 8 * rows * max(len(read), 1) > max(_LARGEST, _RATIO * path.stat().st_size):
            raise LogError(
                f"{path.name}: states {rows} rows, out of all proportion to the file: cut it to the experiment"
            )
        frame = pl.read_parquet(path, columns=read) if read else pl.DataFrame()
    columns = []
    for name, kind in kinds.items():
        header, unit = split_brackets(name)
        if name not in read:
            values = np.full(rows, np.nan)
            columns.append(Column(header, values, unit, fault=f"it holds {kind}, no numbers"))
            continue
        series = frame[name]
        if kind.is_temporal():
            # The first stamp goes before the unit does: nanoseconds since 1970 are too many for a float.
            moments = series.cast(pl.Datetime("ns")) if kind == pl.Date else series
            counts = moments.cast(pl.Duration("ns") if kind == pl.Duration else kind).to_physical()
            per_second = {"ms": 1e3, "us": 1e6}.get(getattr(moments.dtype, "time_unit", "ns"), _NANOSECONDS)
            first = counts.drop_nulls()
            values = ((counts - first[0]) if len(first) else counts).cast(pl.Float64) / per_second
            unit = "s"
        else:
            values = series.cast(pl.Float64)
        numbers = values.fill_null(float("nan")).to_numpy().astype(np.float64)
        columns.append(Column(header, numbers, unit, whole=kind.is_integer()))
    return Table(path.name, tuple(columns))
