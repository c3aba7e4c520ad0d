"""`sysid simulate`: a fitted model on the commands of a log."""

import io
import pathlib

import typer

from ._cli_reading import Reading
from ._fit_file import read_fit
from ._simulation import simulated
from ._units import CHANNEL_UNITS
from ._write import write_whole


def run(fit: pathlib.Path, path: pathlib.Path, out: pathlib.Path, reading: Reading) -> None:
    """Write the table and say how far the model is from what was measured.

    **Raises:** `LogError`, `ModelError`, `OutputError`.
    """
    import numpy as np
    import polars as pl

    model, entry = read_fit(fit)
    log = reading.read(path)
    predicted = simulated(model, log, int(entry["model"].get("substeps", 1)))
    table = {"time [s]": pl.Series(log.time)}
    table |= {f"{name} [{_unit(CHANNEL_UNITS[name])}]": pl.Series(values) for name, values in predicted.items()}
    for name, values in log.channels.items():
        measured = pl.Series(np.where(log.masks[name], values, np.nan)).fill_nan(None)
        table[f"measured {name} [{_unit(log.units[name])}]"] = measured
    buffer = io.BytesIO()
    pl.DataFrame(table).write_csv(buffer)
    write_whole(out, buffer.getvalue())
    for name, values in predicted.items():
        usable = log.masks.get(name)
        if usable is not None and usable.any() and name != model.command:
            rmse = float(np.sqrt(np.mean((values - log.channels[name])[usable] ** 2)))
            typer.echo(f"{name}: rmse {rmse:.4g} {CHANNEL_UNITS[name]} over {int(usable.sum())} rows")
    typer.echo(f"written: {out}, {len(log)} rows")


def _unit(unit: str) -> str:
    return unit.replace("°C", "degC").replace("·", "*") or "1"
