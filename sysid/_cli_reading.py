"""Options of the command line that say how a log is to be read; every command that reads logs takes them."""

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

_PANEL = "How the logs are read"


def _option(*names: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=_PANEL)


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "columns": (
        Annotated[
            list[str] | None,
            _option(
                "--columns",
                text="Source columns: velocity=m1vel[rad/s],current=CH2[20 A/V].",
                metavar="CHANNEL=COLUMN[UNIT],...",
            ),
        ],
        None,
    ),
    "time_unit": (
        Annotated[str | None, _option("--time-unit", text="Unit of the time stamps: s, ms, us or ns.")],
        None,
    ),
    "delimiter": (Annotated[str | None, _option("--delimiter", text="Character between cells.")], None),
    "decimal": (Annotated[str | None, _option("--decimal", text="Decimal mark: . or ,")], None),
    "flip": (
        Annotated[
            list[str] | None, _option("--flip", text="Read this channel with the opposite sign.", metavar="CHANNEL")
        ],
        None,
    ),
    "keep": (
        Annotated[
            list[str] | None, _option("--keep", text="Do nothing about this finding of sysid check.", metavar="CODE")
        ],
        None,
    ),
    "hold": (
        Annotated[
            list[str] | None, _option("--hold", text="Missing inputs are those of the row before.", metavar="CHANNEL")
        ],
        None,
    ),
    "limit": (
        Annotated[
            list[str] | None,
            _option("--limit", text="Largest magnitude [SI] that a sensor can show.", metavar="CHANNEL=VALUE"),
        ],
        None,
    ),
    "counts_per_turn": (
        Annotated[float | None, _option("--counts-per-turn", text="Encoder counts of one turn.")],
        None,
    ),
    "gear": (Annotated[float | None, _option("--gear", text="Motion is the motor's: divide it by this ratio.")], None),
    "joint": (Annotated[str | None, _option("--joint", text="Number or name of the joint in the file.")], None),
    "gap": (Annotated[float | None, _option("--gap", text="How many usual steps make a gap [5].")], None),
    "rate": (Annotated[float | None, _option("--rate", text="Rows per second, for files without time stamps.")], None),
}


@dataclasses.dataclass(frozen=True)
class Reading:
    """What `read_log` is given beside the path."""

    options: dict[str, Any]

    def read(self, path: Any) -> Any:
        """The log at `path`; see `sysid.read_log`."""
        from ._read import read_log

        return read_log(path, **self.options)


def reads_logs(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose `reading` parameter is made of the options above."""
    own = inspect.signature(command)
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]

    def wrapped(**given: Any) -> None:
        options = {name: given.pop(name) for name in _OPTIONS}
        command(**given, reading=Reading(_spelled(options)))

    kept = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in own.parameters.items()
        if name != "reading"
    ]
    wrapped.__signature__ = own.replace(parameters=[*kept, *extra])  # pyright: ignore[reportFunctionMemberAccess]
    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    return wrapped


def _spelled(options: dict[str, Any]) -> dict[str, Any]:
    spelled = {name: value for name, value in options.items() if name != "limit"}
    spelled["columns"] = ",".join(options["columns"] or []) or None
    spelled["limits"] = numbers(options["limit"] or [], "--limit")
    return spelled | {name: tuple(options[name] or ()) for name in ("flip", "keep", "hold")}


def numbers(pairs: Sequence[str], option: str) -> dict[str, float]:
    """`["current=2.5"]` as `{"current": 2.5}`.

    **Raises:** `ModelError` for anything else.
    """
    from ._errors import ModelError

    found: dict[str, float] = {}
    for pair in pairs:
        name, equals, text = (part.strip() for part in pair.partition("="))
        try:
            found[name] = float(text)
        except ValueError:
            equals = ""
        if not name or not equals:
            raise ModelError(f"{option} {pair}: write it as {option} NAME=NUMBER, the number in SI units")
    return found
