"""`sysid export`: a fitted motor for a simulator."""

import json
import pathlib

import typer

from ._export import exported
from ._fit_file import read_fit
from ._read import read_log
from ._write import refuse_unwritable, write_whole


def run(
    fit: pathlib.Path,
    to: str,
    out: pathlib.Path | None,
    joint: str,
    bus_voltage: float | None,
    path: pathlib.Path | None,
) -> None:
    """Write the numbers to `out` or standard output, and what the format cannot say to standard error.

    **Raises:** `LogError`, `ModelError`, `OutputError`.
    """
    model, entry = read_fit(fit)
    log = None if path is None else read_log(path)
    content, notes = exported(model, to, joint, bus_voltage, log)
    text = content if isinstance(content, str) else json.dumps(content, indent=1, allow_nan=False) + "\n"
    loose = [name for name, item in entry.get("parameters", {}).items() if not item.get("identifiable", True)]
    if loose:
        notes.append(f"the logs do not determine {', '.join(loose)}: these numbers are no knowledge")
    if out is None:
        typer.echo(text, nl=False)
    else:
        refuse_unwritable(out.parent)
        write_whole(out, text)
    for note in notes:
        typer.echo(f"note: {note}", err=True)
