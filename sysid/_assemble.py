"""From the columns of a file to a log: the same steps for every format."""

import numpy as np
from numpy.typing import NDArray

from sysid._channels import Channels
from sysid._columns import Choice, choose_columns
from sysid._errors import LogError
from sysid._finding import Finding
from sysid._log import INPUT_CHANNELS, Log
from sysid._marks import mark_clipped, mark_held, tell_coarse, tell_fast
from sysid._options import Options
from sysid._table import Column, Table
from sysid._time import Stamps, order
from sysid._time_unit import seconds
from sysid._turn import compare_motion, sign_unsigned, tell_encoder, turn_current
from sysid._units import target_unit

_FEWEST_ROWS = 10


def assemble(table: Table, options: Options, name: str) -> Log:
    """The log that a table holds.

    Columns are matched to channels and converted to SI units, the rows are put in the order of time, angles are made
    continuous; held, clipped and wrongly signed samples are marked or mended as the options let. All of it is recorded
    in the findings of the log.

    **Raises:** `LogError` with one line that says what is wrong, where, and what to do.
    """
    if table.rows < _FEWEST_ROWS:
        raise LogError(f"{table.source}: {table.rows} rows are too few for a log: at least {_FEWEST_ROWS} are needed")
    chosen, found = choose_columns(table, options)
    findings = [*table.findings, *found]
    stamps = _stamps(table, chosen, options, findings)
    if len(stamps.time) < _FEWEST_ROWS:
        raise LogError(
            f"{table.source}: {len(stamps.time)} usable rows are too few: at least {_FEWEST_ROWS} are needed"
        )
    choices = [choice for channel, choice in chosen.items() if channel != "time"]
    if not choices:
        raise LogError(
            f"{table.source}: no column is a channel among: {_there(table)}; name them with --columns "
            f"channel=column[unit],...{_volts(table)}"
        )
    channels = Channels(stamps, options)
    for choice in choices:
        channels.add(choice)
    mark_held(channels)
    mark_clipped(channels)
    for channel in ("current", "torque"):
        sign_unsigned(channels, channel)
    turn_current(channels)
    tell_encoder(channels)
    compare_motion(channels)
    tell_fast(channels)
    tell_coarse(channels)
    breaks = np.union1d(stamps.breaks, _unknown_inputs(channels)).astype(np.intp)
    return Log(
        name=name,
        time=stamps.time,
        channels=channels.values,
        masks=channels.masks,
        held=channels.held,
        censored=channels.censored,
        units=channels.units,
        columns={choice.channel: choice.label for choice in choices if choice.channel in channels.values},
        conditions=dict(table.conditions),
        breaks=breaks,
        source=table.source,
        findings=(*findings, *stamps.findings, *channels.findings),
    )


def _stamps(table: Table, chosen: dict[str, Choice], options: Options, findings: list[Finding]) -> Stamps:
    choice = chosen.get("time")
    if choice is None:
        if options.rate is None:
            raise LogError(
                f"{table.source}: no time column among: {_there(table)}; name it with --columns time=COLUMN[unit], "
                "or give the rows per second with --rate"
            )
        time, told = np.arange(table.rows) / options.rate, []
    else:
        sound(table, choice.column)
        time, told = seconds(
            choice.column.values,
            choice.unit if choice.stated else None,
            whole=choice.column.whole,
            moving=bool({"position", "velocity"} & chosen.keys()),
            source=table.source,
            option=options.time_unit,
        )
    findings.extend(told)
    for channel in chosen.values():
        sound(table, channel.column)
    return order(time, _repeats(table, time), options, table.source)


def _there(table: Table) -> str:
    """The columns; those without a title by their first number, which is all that tells them apart."""
    told = []
    for index, column in enumerate(table.columns[:30]):
        first = column.values[np.isfinite(column.values)][:1]
        bare = column.name == f"column{index + 1}" and len(first)
        told.append(f"{column.header} ({first[0]:g} ...)" if bare else column.header)
    return ", ".join(told) + (", ..." if len(table.columns) > 30 else "")


def _volts(table: Table) -> str:
    """How to read a current that an oscilloscope shows in volts."""
    if not any(column.unit is not None and target_unit("voltage", column.unit) for column in table.columns):
        return ""
    return ", such as current=CH2[20 A/V] for a shunt of 0.05 ohm"


def sound(table: Table, column: Column) -> None:
    """Raises `LogError` when a cell of the column is no number."""
    if column.fault is not None:
        raise LogError(f"{table.source}: column '{column.header}': {column.fault}")


def _repeats(table: Table, time: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a row with the stamp of the row before holds the same cells, empty ones included."""
    repeats = np.zeros(table.rows, dtype=np.bool_)
    suspects = np.flatnonzero(time[1:] == time[:-1]) + 1
    alike = np.ones(len(suspects), dtype=np.bool_)
    for column in table.columns:
        now, then = column.values[suspects], column.values[suspects - 1]
        alike &= (now == then) | (np.isnan(now) & np.isnan(then))
    repeats[suspects] = alike
    return repeats


def _unknown_inputs(channels: Channels) -> NDArray[np.intp]:
    """Rows before which an input is missing."""
    breaks = np.zeros(0, dtype=np.intp)
    for channel, mask in channels.masks.items():
        if channel in INPUT_CHANNELS and not mask.all() and mask.any():
            breaks = np.union1d(breaks, np.flatnonzero(~mask[:-1]) + 1)
    return breaks
