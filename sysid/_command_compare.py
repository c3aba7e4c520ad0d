"""`sysid compare`: read, fit every friction model, rank, write, tell."""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from ._adjust import adjusted
from ._choose import choose_model
from ._cli_reading import Reading
from ._command_fit import fit_entry
from ._compare import Contender, Ranking, compare
from ._compare_plot import ranking_figure
from ._model_file import read_model
from ._progress import shown
from ._report_plots import png
from ._rounding import short
from ._write import make_folder, write_together


def run(
    paths: Sequence[pathlib.Path],
    held_paths: Sequence[pathlib.Path],
    out: pathlib.Path,
    model_path: pathlib.Path | None,
    reading: Reading,
    models: Sequence[str],
    free: Sequence[str],
    fix: Mapping[str, float],
    settings: Mapping[str, Any],
) -> None:
    """Everything between the arguments and the files.

    **Raises:** `LogError`, `ModelError`, `OutputError`.
    """
    logs, held = [reading.read(path) for path in paths], [reading.read(path) for path in held_paths]
    model = read_model(model_path) if model_path is not None else choose_model(logs, fix)
    model = adjusted(model, free, fix)
    typer.echo(f"model: {model.description}", err=True)
    with shown() as progress:
        ranking = compare(logs, models, hold_out=held, model=model, progress=progress, **settings)
    picked = ranking.picked
    picture = png(ranking_figure(ranking))
    words = json.dumps(_plain(ranking.to_dict()), indent=1, allow_nan=False) + "\n"
    entry = json.dumps(fit_entry(picked.fit, logs, held), indent=1, allow_nan=False) + "\n"
    make_folder(out)
    write_together(out, {"compare.png": picture, "compare.json": words, "fit.json": entry})
    _tell(ranking)
    typer.echo(f"written: {out / 'compare.json'}, {out / 'compare.png'}, {out / 'fit.json'} ({picked.name})")


def _plain(value: Any) -> Any:
    """Numbers that JSON has no words for become null."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def _tell(ranking: Ranking) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if _wide() else 120)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = list(ranking.contenders[0].folds)
    for header in ("model", "held out", *(f"without {n}" for n in names[:_COLUMNS]), "train", "BIC", "free"):
        table.add_column(header, justify="left" if header == "model" else "right")
    table.add_column("open or at a bound", overflow="fold")
    for contender in ranking.contenders:
        table.add_row(*_row(contender, ranking.units, names))
    console.print(table)
    unit = "; ".join(f"{channel} [{unit}]" for channel, unit in ranking.units.items())
    console.print(f"mean absolute error of {unit}, held out by {ranking.by}", markup=False, highlight=False)
    picked = ranking.picked
    weak = sorted({*picked.open, *picked.at_bound})
    told = f"; do not rely on {', '.join(weak)}" if weak else ""
    console.print(f"picked: {picked.name} ({picked.words}){told}", markup=False, highlight=False)


_COLUMNS = 3
"""More folds than this have no column each."""


def _row(contender: Contender, units: Mapping[str, str], names: Sequence[str]) -> list[str]:
    def errors(found: Mapping[str, float]) -> str:
        return " ".join(short(found[channel]) for channel in units)

    weak = [f"{name} (open)" for name in contender.open] + [f"{name} (bound)" for name in contender.at_bound]
    return [
        contender.name,
        errors(contender.cross_validated),
        *(errors(contender.folds[name]) for name in names[:_COLUMNS]),
        errors(contender.train),
        f"{contender.bic:.1f}",
        str(len(contender.fit.estimates)),
        ", ".join(weak),
    ]


def _wide() -> bool:
    import sys

    return sys.stdout.isatty()
