"""A log file as its format reader leaves it: named columns of numbers, before anything is known of motors."""

import dataclasses
import re

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError
from sysid._finding import Finding

_LONGEST = 300
_BRACKETS = re.compile(r"^(?P<name>.*?)\s*[\[({](?P<unit>[^\[\](){}]*)[\])}]\s*$")


# `velocity[0]` is an element of a list; a lone `duty[1]` without a path is a pure number.
_INDEX = re.compile(r"\w\[0\]$|\w\[[2-9]\]$|\w\[\d\d+\]$|[/.].*\w\[1\]$")


def split_brackets(header: str) -> tuple[str, str | None]:
    """`"Speed [deg/s]"` as `("Speed", "deg/s")`; without brackets the unit is None."""
    if len(header) > _LONGEST:
        return header.strip(), None
    found = _BRACKETS.match(header.strip())
    if found is None or _INDEX.search(header.strip()):
        return header.strip(), None
    return found["name"].strip(), found["unit"].strip()


@dataclasses.dataclass(frozen=True)
class Column:
    """One column of a log file.

    **Attributes:**

    - `name`, `alias`: the header, without its unit, and the word of a second header row.
    - `unit`: as the file states it; None when it states none.
    - `values`: the numbers, NaN where the file holds none.
    - `fault`: what is wrong with the column (a text cell and its place), or None.
    - `whole`: whether the numbers are written without a decimal point.
    - `channel`: the channel, where the format itself says so.
    """

    name: str
    values: NDArray[np.float64]
    unit: str | None = None
    alias: str = ""
    fault: str | None = None
    whole: bool = False
    channel: str | None = None

    @property
    def header(self) -> str:
        """The name with its unit in brackets."""
        return self.name if self.unit is None else f"{self.name} [{self.unit}]"


@dataclasses.dataclass(frozen=True)
class Table:
    """The columns of one log file, and what else it says.

    **Attributes:**

    - `source`: the file.
    - `columns`: all of one length.
    - `conditions`: numbers that hold for the whole log, such as the mass of the load [kg].
    - `findings`: what the format reader noticed.
    """

    source: str
    columns: tuple[Column, ...]
    conditions: dict[str, float] = dataclasses.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].values) if self.columns else 0

    def find(self, wanted: str) -> Column:
        """The column with this name, alias or header.

        **Raises:** `LogError` naming the columns there are.
        """
        name, _ = split_brackets(wanted)
        for spelling in (wanted.strip(), name):
            for column in self.columns:
                if spelling in (column.header, column.name, column.alias):
                    return column
        there = ", ".join(column.header for column in self.columns)
        raise LogError(f"{self.source}: no column '{wanted}'; there are: {there}")
