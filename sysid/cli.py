"""The command line. Everything heavy is imported by the command that needs it, so that help comes at once."""

import functools
import json
import os
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import typer

from ._cli_reading import Reading, numbers, reads_logs

app = typer.Typer(
    name="sysid",
    help="Fit motor parameters to bench logs, with error bars, and say what the logs cannot tell.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
)

_INTERRUPTED = 130
_CACHE = Annotated[bool, typer.Option("--cache/--no-cache", help="Keep compiled programs in the user's cache folder.")]
_LOGS = Annotated[list[pathlib.Path], typer.Argument(help="Bench logs: CSV, JSON of BAM ...", metavar="LOG...")]


def _one_line(command: Callable[..., None]) -> Callable[..., None]:
    """Bad input ends a command with one line on standard error and exit status 1."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        from ._errors import LogError, ModelError
        from ._write import OutputError

        try:
            command(**given)
        except (LogError, ModelError, OutputError) as error:
            typer.echo(f"sysid: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(1) from None

    return wrapped


def _refuse_absent(logs: Sequence[pathlib.Path], model: pathlib.Path | None = None) -> None:
    """Files that are not there are told at once, before the seconds that the imports of a command take."""
    from ._log_path import refuse_no_log
    from ._small_file import size_of

    if model is not None:
        size_of(model, "a model file (TOML)")
    for log in logs:
        refuse_no_log(log)


def _version(wanted: bool | None) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"sysid {version('jaxmotor')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool | None, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = None,
) -> None:
    del version


@app.command("check")
@_one_line
@reads_logs
def check_logs(
    logs: _LOGS,
    as_json: Annotated[bool, typer.Option("--json", help="For a machine.")] = False,
    *,
    reading: Reading,
) -> None:
    """What is in a log, what is odd about it, what is done about that, and the option that changes it.

    Examples:

    - `sysid check bench.csv`

    - `sysid check run1.csv run2.csv --columns 'velocity=m1vel[rad/s]' --json`
    """
    _refuse_absent(logs)
    from ._check import check

    read = [reading.read(path) for path in logs]
    found = [check(log) for log in read]
    if as_json:
        typer.echo(json.dumps([findings.to_dict() for findings in found], indent=1))
        return
    for log, findings in zip(read, found, strict=True):
        typer.echo(f"{log.name}: {len(log)} rows, {log.duration:.4g} s, median step {1e3 * log.dt:.4g} ms")
        for channel, column in log.columns.items():
            typer.echo(f"  {channel} [{log.units[channel] or '1'}] from '{column}'")
        typer.echo(findings.table())


@app.command("fit")
@_one_line
@reads_logs
def fit_logs(
    logs: _LOGS,
    out: Annotated[pathlib.Path, typer.Option("--out", help="Folder for fit.json, report.html and pictures.")],
    model: Annotated[pathlib.Path | None, typer.Option("--model", help="Model file (TOML); else chosen.")] = None,
    hold_out: Annotated[
        list[pathlib.Path] | None, typer.Option("--hold-out", help="Log to predict, not to fit.", metavar="LOG")
    ] = None,
    free: Annotated[
        list[str] | None, typer.Option("--free", help="Fit this parameter as well.", metavar="NAME")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option("--fix", help="Hold this parameter [SI].", metavar="NAME=VALUE")
    ] = None,
    friction: Annotated[str | None, typer.Option("--friction", help="Friction model: M1 to M6, LuGre.")] = None,
    seed: Annotated[int, typer.Option(help="Of the random starts.")] = 0,
    starts: Annotated[int, typer.Option(min=1, help="How many points the search begins from.")] = 6,
    solver: Annotated[str, typer.Option(help="levenberg-marquardt, adam or lbfgs.")] = "levenberg-marquardt",
    iterations: Annotated[int, typer.Option(min=1, help="At most, on the whole logs.")] = 60,
    substeps: Annotated[
        int | None, typer.Option(min=1, help="Steps of the simulation per row; as many as it takes unless given.")
    ] = None,
    window: Annotated[float | None, typer.Option("--window", help="Cut logs into windows this long [s].")] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option("--profile", help="Hold this parameter at many values, fit the rest at each.", metavar="NAME"),
    ] = None,
    cache: _CACHE = True,
    *,
    reading: Reading,
) -> None:
    """Fit the motor's parameters to logs and write fit.json, report.html and a picture per channel.

    Without --model the bench is chosen from the channels of the logs, and said. Values are in SI units: ohm, V s/rad,
    N m/A, H, kg m^2, N m, N m s/rad, s.

    Examples:

    - `sysid fit bench.csv --out result`

    - `sysid fit a.csv b.csv --hold-out c.csv --fix torque_constant=0.0514 --out result`

    - `sysid fit bench.csv --model motor.toml --free current_offset --starts 12 --out result`

    - `sysid fit bench.csv --profile resistance --profile inertia --out result`
    """
    from ._write import refuse_unwritable

    refuse_unwritable(out)
    _refuse_absent([*logs, *(hold_out or [])], model)
    from ._compilation_cache import prepare

    prepare(cache)
    from ._command_fit import run

    run(
        logs,
        hold_out or [],
        out,
        model,
        reading,
        free or [],
        numbers(fix or [], "--fix"),
        {
            "seed": seed,
            "starts": starts,
            "solver": solver,
            "iterations": iterations,
            "substeps": substeps,
            "window": window,
            "profile": profile or [],
        },
        friction,
    )


@app.command("compare")
@_one_line
@reads_logs
def compare_models(
    logs: _LOGS,
    out: Annotated[pathlib.Path, typer.Option("--out", help="Folder for compare.json, its picture and fit.json.")],
    model: Annotated[pathlib.Path | None, typer.Option("--model", help="Model file (TOML); else chosen.")] = None,
    models: Annotated[str, typer.Option("--models", help="Friction models, and LuGre.")] = "M1,M2,M3,M4,M5,M6",
    by: Annotated[
        str | None, typer.Option("--by", help="log, or a number the logs state, such as kp.", metavar="log|CONDITION")
    ] = None,
    hold_out: Annotated[
        list[pathlib.Path] | None, typer.Option("--hold-out", help="Log to predict, not to fit.", metavar="LOG")
    ] = None,
    free: Annotated[
        list[str] | None, typer.Option("--free", help="Fit this parameter as well.", metavar="NAME")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option("--fix", help="Hold this parameter [SI].", metavar="NAME=VALUE")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random starts.")] = 0,
    starts: Annotated[int, typer.Option(min=1, help="How many points each search begins from.")] = 4,
    iterations: Annotated[int, typer.Option(min=1, help="At most, on the whole logs.")] = 40,
    window: Annotated[float | None, typer.Option("--window", help="Cut logs into windows this long [s].")] = None,
    cache: _CACHE = True,
    *,
    reading: Reading,
) -> None:
    """Rank friction models by what each predicts of logs that it has not seen, and fit the one that predicts best.

    Every model is fitted to all logs and, for each group of them, to all others; fit.json is that of the model picked.
    More terms always fit better in training, and often predict worse.

    Examples:

    - `sysid compare kp100_*.json kp400_*.json --by kp --out result`

    - `sysid compare a.csv b.csv c.csv --models M1,M4,LuGre --model bench.toml --out result`
    """
    from ._write import refuse_unwritable

    refuse_unwritable(out)
    _refuse_absent([*logs, *(hold_out or [])], model)
    from ._compilation_cache import prepare

    prepare(cache)
    from ._command_compare import run

    run(
        logs,
        hold_out or [],
        out,
        model,
        reading,
        [name.strip() for name in models.split(",") if name.strip()],
        free or [],
        numbers(fix or [], "--fix"),
        {"by": by, "seed": seed, "starts": starts, "iterations": iterations, "window": window},
    )


@app.command("simulate")
@_one_line
@reads_logs
def simulate_log(
    fit: Annotated[pathlib.Path, typer.Argument(help="fit.json of a fit.", metavar="FIT.json")],
    log: Annotated[pathlib.Path, typer.Argument(help="Log whose commands are applied.", metavar="LOG")],
    out: Annotated[pathlib.Path, typer.Option("--out", help="CSV file to write, in SI units.")],
    cache: _CACHE = True,
    *,
    reading: Reading,
) -> None:
    """Run a fitted model on the commands of a log and write what it predicts beside what was measured.

    Example: `sysid simulate result/fit.json other.csv --out predicted.csv`
    """
    from ._compilation_cache import prepare
    from ._write import refuse_unwritable

    refuse_unwritable(out.parent)
    _refuse_absent([log])
    prepare(cache)
    from ._command_simulate import run

    run(fit, log, out, reading)


@app.command("export")
@_one_line
def export_fit(
    fit: Annotated[pathlib.Path, typer.Argument(help="fit.json of a fit.", metavar="FIT.json")],
    to: Annotated[str, typer.Option("--to", help="mjcf, urdf, isaaclab, newton or json.")],
    out: Annotated[pathlib.Path | None, typer.Option("--out", help="File; else standard output.")] = None,
    joint: Annotated[str, typer.Option("--joint", help="Name of the joint in the exported file.")] = "joint",
    bus_voltage: Annotated[
        float | None, typer.Option("--bus-voltage", help="Of the robot [V], where the fit has none.")
    ] = None,
    log: Annotated[
        pathlib.Path | None,
        typer.Option("--log", help="Log to which MJCF is to be true: its error on it is told.", metavar="LOG"),
    ] = None,
) -> None:
    """Write the fitted motor in the words of a simulator.

    Example: `sysid export result/fit.json --to mjcf --joint elbow > motor.xml`
    """
    from ._compilation_cache import prepare

    prepare(cache=False)
    from ._command_export import run

    run(fit, to, out, joint, bus_voltage, log)


def _stop() -> NoReturn:
    """End at once: tearing down a compiled program that was interrupted in its midst can crash the interpreter."""
    typer.echo("sysid: stopped, no fit.json was written", err=True)
    sys.stderr.flush()
    os._exit(_INTERRUPTED)


def main(arguments: Sequence[str] | None = None) -> None:
    """The `sysid` program: exit status 0 when a result was written, 1 on bad input with one line that says why."""
    try:
        status = app(args=list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False)
    except Exception as error:
        # Typer has carried its own copy of click since 0.26, so its usage errors are known by their shape.
        message = getattr(error, "format_message", None)
        if message is not None:
            typer.echo(f"sysid: {' '.join(message().split())} (sysid --help lists what there is)", err=True)
            status = 1
        elif type(error).__name__ == "Abort":
            _stop()
        else:
            raise
    if status == _INTERRUPTED:
        _stop()
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
