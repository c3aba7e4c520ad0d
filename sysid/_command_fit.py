"""`sysid fit`: read, choose, fit, write, tell."""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from ._adjust import adjusted
from ._check import check
from ._choose import choose_model
from ._cli_reading import Reading
from ._errors import ModelError
from ._fit import fit
from ._free import places
from ._import_ahead import import_ahead
from ._log import Log
from ._model import Model
from ._model_file import read_model
from ._profile import in_words, profiled_coordinates
from ._progress import shown
from ._result import Fit
from ._rounding import interval, short, told
from ._setup import setup
from ._single_logs import in_words as spread_in_words
from ._solvers import solver_named
from ._truth import known_truth
from ._with_friction import with_friction
from ._write import make_folder, write_together

_LATER = ("sysid._report", "matplotlib.backends.backend_agg", "rich.table", "jinja2")
"""What is needed only after the fit."""


def run(
    paths: Sequence[pathlib.Path],
    held_paths: Sequence[pathlib.Path],
    out: pathlib.Path,
    model_path: pathlib.Path | None,
    reading: Reading,
    free: Sequence[str],
    fix: Mapping[str, float],
    settings: Mapping[str, Any],
    friction: str | None = None,
) -> None:
    """Everything between the arguments and the files.

    **Raises:** `LogError`, `ModelError`, `OutputError`.
    """
    read = _distinct([reading.read(path) for path in (*paths, *held_paths)])
    logs, held = read[: len(paths)], read[len(paths) :]
    model = read_model(model_path) if model_path is not None else choose_model(logs, fix)
    model = adjusted(model if friction is None else with_friction(model, friction), free, fix)
    _refuse_early(model, logs, held, settings)
    typer.echo(f"model: {model.description}", err=True)
    typer.echo(f"free: {', '.join(model.free.names)}", err=True)
    findings = [check(log) for log in (*logs, *held)]
    for found in findings:
        for item in found:
            if item.severity != "info":
                typer.echo(f"{found.log}: {item.message}", err=True)
    import_ahead(_LATER)
    with shown() as progress:
        result = fit(logs, hold_out=held, model=model, progress=progress, **settings)
    truth = known_truth(paths)
    entry = fit_entry(result, logs, held)
    from ._report import channel_pictures, report_html

    pictures = channel_pictures(result)
    report = report_html(result, findings, truth, pictures)
    make_folder(out)
    # fit.json last, because it is what other commands look for.
    words = json.dumps(entry, indent=1, allow_nan=False) + "\n"
    write_together(out, {**pictures, "report.html": report, "fit.json": words})
    _tell(result, truth)
    typer.echo(f"written: {out / 'fit.json'}, {out / 'report.html'}, {len(pictures)} pictures")


def _refuse_early(model: Model, logs: list[Log], held: list[Log], settings: Mapping[str, Any]) -> None:
    """What `fit` would refuse, before anything is said."""
    solver_named(settings["solver"])
    if not model.free.names:
        raise ModelError(f"no parameter is left free by --fix and the model; it has {', '.join(places(model.subject))}")
    made = setup(model, logs, window=settings.get("window"))
    profiled_coordinates(made, settings.get("profile", ()))
    if held:
        setup(model, held, like=made)


def fit_entry(result: Fit, logs: Sequence[Log], held: Sequence[Log] = ()) -> dict[str, Any]:
    """What the command writes: the result, and the files it came from."""
    entry = dict(result.to_dict())
    entry["logs"] = {log.name: {"source": pathlib.Path(log.source).name, "rows": len(log)} for log in (*logs, *held)}
    return entry


def _distinct(logs: list[Log]) -> list[Log]:
    """Logs of one name (two folders, one file name) are told apart by a number."""
    seen: dict[str, int] = {}
    named = []
    for log in logs:
        seen[log.name] = seen.get(log.name, 0) + 1
        named.append(log if seen[log.name] == 1 else log.replace(name=f"{log.name}-{seen[log.name]}"))
    return named


def _tell(result: Fit, truth: Mapping[str, float]) -> None:
    """The table of parameters, the errors and the verdict, on standard output."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(soft_wrap=False, width=None if _wide() else 120)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in ("parameter", "estimate", "± std error", "unit", "95 % interval", *(["truth"] if truth else []), ""):
        table.add_column(header, no_wrap=True)
    for estimate in result.estimates:
        value, error = told(estimate.value, estimate.std_error, estimate.flag)
        known = [short(truth[estimate.name], 6) if estimate.name in truth else ""] if truth else []
        ends = interval(estimate.ci95, estimate.std_error)
        table.add_row(estimate.name, value, error, estimate.unit, ends, *known, estimate.flag)
    console.print(table)
    for comparison in result.comparisons:
        metric = comparison.metric()
        role = "fitted" if comparison.role == "train" else "held out"
        console.print(
            f"{comparison.log} ({role}): {comparison.channel} rmse {short(metric['rmse'])} {comparison.unit},"
            f" counted in {short(comparison.sigma)}",
            markup=False,
            highlight=False,
        )
    for spread in result.spreads:
        console.print(f"single logs, {spread_in_words(spread)}", markup=False, highlight=False)
    for profile in result.profiles:
        console.print(f"profile of {in_words(profile)}", markup=False, highlight=False)
    for caution in result.cautions:
        console.print(f"{caution.code}: {caution.message}", markup=False, highlight=False)
    spent = ", ".join(f"{words} {result.timing[key]:.1f} s" for key, words in _TIMES if key in result.timing)
    console.print(f"status: {result.status} ({spent})", markup=False, highlight=False)


_TIMES = (("compile_s", "compilation"), ("solve_s", "solution"))


def _wide() -> bool:
    import sys

    return sys.stdout.isatty()
