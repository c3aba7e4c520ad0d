"""What was found in a log: one line each, with the rows, the action taken and the option that changes it."""

import dataclasses
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Severity = Literal["info", "warning", "error"]

_ROWS_KEPT = 20
_ROWS_NAMED = 8


@dataclasses.dataclass(frozen=True)
class Finding:
    """One property of a log that a user should know.

    **Attributes:**

    - `code`: a fixed word, the same in every log (`duplicate_rows`, `gap`, `current_sign` ...).
    - `message`: one line: what was found, where, and what is done about it.
    - `rows`: the first few rows concerned, counted from 1 at the first data row of the source.
    - `count`: how many rows are concerned in all.
    - `action`: what was done, in a few words; `"none"` if nothing.
    - `option`: the command-line option that changes the action; empty if there is none.
    - `severity`: `"info"`, `"warning"` or `"error"`.
    """

    code: str
    message: str
    rows: tuple[int, ...] = ()
    count: int = 0
    action: str = "none"
    option: str = ""
    severity: Severity = "info"

    @classmethod
    def of_log(
        cls, code: str, message: str, *, action: str = "none", option: str = "", severity: Severity = "info"
    ) -> "Finding":
        """A finding about the log as a whole."""
        return cls(code, _line(message, action), action=action, option=option, severity=severity)

    @classmethod
    def at_rows(
        cls,
        code: str,
        message: str,
        rows: NDArray[np.integer],
        *,
        action: str = "none",
        option: str = "",
        severity: Severity = "info",
    ) -> "Finding":
        """A finding about some rows (counted from 1); their numbers are added to the message."""
        first = tuple(int(row) for row in rows[:_ROWS_KEPT])
        named = ", ".join(str(row) for row in first[:_ROWS_NAMED])
        if len(rows) > _ROWS_NAMED:
            named += ", ..."
        where = f" ({'row' if len(rows) == 1 else 'rows'} {named})" if first else ""
        return cls(code, _line(message + where, action), first, len(rows), action, option, severity)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        return dataclasses.asdict(self) | {"rows": list(self.rows)}


def _line(message: str, action: str) -> str:
    return message if action == "none" else f"{message}: {action}"


@dataclasses.dataclass(frozen=True)
class Findings:
    """All that was found in one log, in the order of the work: reading, time, channels, excitation."""

    log: str
    items: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, code: object) -> bool:
        return any(item.code == code for item in self.items)

    def __getitem__(self, code: str) -> Finding:
        """The first finding with this code."""
        for item in self.items:
            if item.code == code:
                return item
        raise KeyError(code)

    @property
    def codes(self) -> tuple[str, ...]:
        """The code of every finding, in order."""
        return tuple(item.code for item in self.items)

    @property
    def worst(self) -> Severity:
        """The highest severity among the findings; `"info"` when there are none."""
        ranks: tuple[Severity, ...] = ("info", "warning", "error")
        return ranks[max((ranks.index(item.severity) for item in self.items), default=0)]

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        return {"log": self.log, "worst": self.worst, "findings": [item.to_dict() for item in self.items]}

    def table(self, width: int = 120) -> str:
        """A text table: severity, code, message, option.

        **Arguments:**

        - `width`: columns of text.
        """
        if not self.items:
            return f"{self.log}: nothing to report\n"
        import io

        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.log), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("severity", no_wrap=True)
        table.add_column("code", no_wrap=True)
        table.add_column("finding and action", ratio=1)
        table.add_column("option", overflow="fold", max_width=28)
        for item in self.items:
            table.add_row(Text(item.severity), Text(item.code), Text(item.message), Text(item.option))
        console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
        with console.capture() as captured:
            console.print(table)
        return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"
