"""The choice of one source column for each channel."""

import dataclasses

from sysid._errors import LogError
from sysid._finding import Finding
from sysid._joints import labels
from sysid._options import Options
from sysid._table import Column, Table, split_brackets
from sysid._units import CHANNEL_UNITS, is_count, is_unit, target_unit
from sysid._words import Meaning, command_unit, meaning

_SIDES = ("motor", "output", "joint")


@dataclasses.dataclass(frozen=True)
class Choice:
    """A channel's source column, and the unit in which to read it (the SI unit where none is stated)."""

    channel: str
    column: Column
    unit: str
    stated: bool

    @property
    def label(self) -> str:
        """`"source column [unit]"`, as reports name it."""
        return f"{self.column.name} [{self.unit}]" if self.unit else self.column.name


def choose_columns(table: Table, options: Options) -> tuple[dict[str, Choice], list[Finding]]:
    """One column for the time and for each channel that the table holds.

    A column named by the user wins. Otherwise the best source by its words is taken and the others are reported;
    equally good ones are an error, unless the user named some columns: then the undecided rest is left out, reported.
    """
    findings: list[Finding] = []
    chosen: dict[str, Choice] = {}
    for channel, wanted in options.columns.items():
        chosen[channel] = _named(table, channel, wanted)
    if "time" not in chosen and table.columns and not any(_is_time(column) for column in table.columns):
        # An oscilloscope's `x-axis` in seconds: its unit says what its name does not.
        first = table.columns[0]
        if first.unit is not None and target_unit("time", first.unit) is not None:
            chosen["time"] = Choice("time", first, first.unit, stated=True)
    used = {id(choice.column) for choice in chosen.values()}
    candidates: dict[str, list[tuple[Meaning, Column]]] = {}
    for column in table.columns:
        if id(column) in used:
            continue
        known = Meaning(column.channel, 0, column.unit, None) if column.channel else meaning(column)
        if known is not None and known.channel not in chosen:
            candidates.setdefault(known.channel, []).append((known, column))
    _settle_single_letters(table, candidates, chosen)
    for channel, found in candidates.items():
        picked = _best(table, channel, found, options, findings)
        if picked is not None:
            choice = _with_unit(channel, *picked, options, findings)
            if choice is not None:
                chosen[channel] = choice
    _report_choice(table, chosen, options, findings)
    return chosen, findings


def _is_time(column: Column) -> bool:
    known = meaning(column)
    return column.channel == "time" or (known is not None and known.channel == "time")


def _named(table: Table, channel: str, wanted: str) -> Choice:
    column = table.find(wanted)
    _, unit = split_brackets(wanted)
    if unit is None or wanted.strip() == column.header:
        known = meaning(column)
        unit = column.unit if column.unit is not None else known.unit if known and known.channel == channel else unit
    stated = unit is not None
    unit = unit if unit is not None else _assumed(channel, column)
    if target_unit(channel, unit) is None:
        wanted_unit = "a time" if channel == "time" else CHANNEL_UNITS[channel] or "a ratio"
        problem = "does not fit" if is_unit(unit) else "is unknown for"
        raise LogError(
            f"{table.source}: unit '{unit}' of column '{column.name}' {problem} {channel} ({wanted_unit}):"
            f" give it as --columns '{channel}={column.name}[unit]'"
        )
    return Choice(channel, column, unit, stated)


def _assumed(channel: str, column: Column) -> str:
    if channel == "time":
        return "s"
    if channel == "command":
        return command_unit(column.name) or command_unit(column.alias) or ""
    return CHANNEL_UNITS[channel]


def _settle_single_letters(
    table: Table, candidates: dict[str, list[tuple[Meaning, Column]]], chosen: dict[str, Choice]
) -> None:
    """A bare `v` is a voltage beside a current, and could be a speed otherwise."""
    for known, column in list(candidates.get("voltage", ())):
        if column.name not in ("v", "V") or known.unit is not None:
            continue
        electrical = {"current", "duty", "supply_current"} & (candidates.keys() | chosen.keys())
        moving = {"velocity"} & (candidates.keys() | chosen.keys())
        if not electrical and not moving:
            raise LogError(
                f"{table.source}: column '{column.name}' could be a voltage or a velocity: "
                f"say --columns voltage={column.name}[V] or --columns velocity={column.name}[rad/s]"
            )


def _best(
    table: Table,
    channel: str,
    found: list[tuple[Meaning, Column]],
    options: Options,
    findings: list[Finding],
) -> tuple[Meaning, Column] | None:
    if options.joint is not None and len(found) > 1:
        names = labels([column.name for _, column in found])
        wanted = str(options.joint).lower()
        found = [pair for pair, own in zip(found, names, strict=True) if wanted in own] or found
    top = min(known.rank for known, _ in found)
    best = [pair for pair in found if pair[0].rank == top]
    if len(best) > 1 and sum(pair[0].unit is not None for pair in best) == 1 and channel != "time":
        best = [pair for pair in best if pair[0].unit is not None]
    names = ", ".join(column.header for _, column in found)
    if len(best) == 1:
        if len(found) > 1:
            message = f"{channel} is read from '{best[0][1].header}', not from the others of: {names}"
            findings.append(Finding("column_chosen", message, action="chosen", option=f"--columns {channel}=COLUMN"))
        return best[0]
    if channel == "time":
        message = f"the time is read from '{best[0][1].header}', not from the others of: {names}"
        findings.append(Finding("column_chosen", message, action="chosen", option="--columns time=COLUMN[unit]"))
        return best[0]
    joints = [next(iter(own), "") for own in labels([column.name for _, column in best])]
    several = len(set(joints)) == len(best) and "" not in joints and options.joint is None
    hint = f"choose with --joint {'|'.join(joints)} or --columns" if several else "choose with --columns"
    message = f"{len(best)} columns could be {channel}: {', '.join(column.header for _, column in best)}"
    if not options.columns:
        raise LogError(f"{table.source}: {message}; {hint} {channel}=COLUMN")
    findings.append(
        Finding(
            "column_undecided",
            f"{message}: left out",
            action="left out",
            option=f"--columns {channel}=COLUMN",
            severity="warning",
        )
    )
    return None


def _with_unit(
    channel: str, known: Meaning, column: Column, options: Options, findings: list[Finding]
) -> Choice | None:
    unit = known.unit
    if unit is None:
        return Choice(channel, column, _assumed(channel, column), stated=False)
    reason = option = ""
    if target_unit(channel, unit) is None:
        reason = f"unit '{unit}' of column '{column.name}' " + (
            f"does not fit {channel}" if is_unit(unit) else "is not known"
        )
        option = f"--columns '{channel}={column.name}[unit]'"
        if target_unit("voltage", unit) is not None:
            reason += ", unless a factor is given, as [20 A/V] for a shunt of 0.05 ohm"
    elif is_count(unit) and options.counts_per_turn is None:
        reason = f"column '{column.header}' is in counts of unknown size"
        option = "--counts-per-turn"
    if not reason:
        return Choice(channel, column, unit, stated=True)
    if channel == "time":
        raise LogError(f"{reason}: give it with --time-unit s|ms|us|ns")
    findings.append(
        Finding(
            "unit_unknown", f"{reason}: {channel} is left out", action="left out", option=option, severity="warning"
        )
    )
    return None


def _report_choice(table: Table, chosen: dict[str, Choice], options: Options, findings: list[Finding]) -> None:
    bare = [choice for channel, choice in chosen.items() if not choice.stated and channel != "time"]
    if bare:
        said = ", ".join(f"{choice.column.name} as {choice.channel} in {choice.unit or 'no unit'}" for choice in bare)
        findings.append(
            Finding(
                "unit_assumed",
                f"no unit is stated; read: {said}",
                action="SI assumed",
                option="--columns channel=column[unit]",
            )
        )
    voltage = chosen.get("voltage")
    if voltage is not None and "voltage" not in options.columns:
        known = meaning(voltage.column)
        if known is not None and known.rank == 3:
            findings.append(
                Finding(
                    "supply_setting",
                    f"voltage is read from '{voltage.column.header}', a setting: leads count as the motor's resistance",
                    action="used",
                    option="--columns voltage=COLUMN",
                    severity="warning",
                )
            )
    used = {id(choice.column) for choice in chosen.values()}
    unused = [column.header for column in table.columns if id(column) not in used]
    if unused:
        findings.append(
            Finding(
                "column_unused",
                f"columns not used: {', '.join(unused)}",
                action="left out",
                option="--columns channel=column[unit]",
            )
        )
