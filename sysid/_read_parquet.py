"""Parquet tables."""

import pathlib

import numpy as np

from sysid._errors import LogError
from sysid._options import Options
from sysid._table import Column, Table, split_brackets

_NANOSECONDS = 1e9


def read_parquet(path: pathlib.Path, options: Options) -> Table:
    """A Parquet table: columns of numbers, switches, times of day or durations; others are no channels.

    **Raises:** `LogError` when the file is broken.
    """
    del options
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise LogError(f"{path.name}: not readable as Parquet: {str(error).splitlines()[0]}") from None
    columns = []
    for series in frame:
        header, unit = split_brackets(series.name)
        kind, fault = series.dtype, None
        if kind.is_temporal():
            # The first stamp goes before the unit does: nanoseconds since 1970 are too many for a float.
            moments = series.cast(pl.Datetime("ns")) if kind == pl.Date else series
            counts = moments.cast(pl.Duration("ns") if kind == pl.Duration else kind).to_physical()
            per_second = {"ms": 1e3, "us": 1e6}.get(getattr(moments.dtype, "time_unit", "ns"), _NANOSECONDS)
            first = counts.drop_nulls()
            values = ((counts - first[0]) if len(first) else counts).cast(pl.Float64) / per_second
            unit = "s"
        elif kind.is_numeric() or kind == pl.Boolean:
            values = series.cast(pl.Float64)
        else:
            values, fault = pl.Series([None] * len(series), dtype=pl.Float64), f"it holds {kind}, no numbers"
        numbers = values.fill_null(float("nan")).to_numpy().astype(np.float64)
        columns.append(Column(header, numbers, unit, fault=fault, whole=kind.is_integer()))
    return Table(path.name, tuple(columns))
