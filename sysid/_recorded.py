"""Times that recorders write in parts: seconds beside nanoseconds, or a number of the sample beside its interval."""

import dataclasses
import re

import numpy as np

from sysid._dialect import Dialect
from sysid._numbers import is_number
from sysid._table import Column

_SECONDS = re.compile(r"^(?P<stem>.*\bstamp\b.*?)[/._ ]?(sec|secs)$", re.IGNORECASE)
_PARTS = ("nanosec", "nsec", "nsecs")


def with_stamps(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns, `stamp/sec` and `stamp/nanosec` as ROS writes them joined to one time [s] from the first stamp."""
    named = {column.name.lower(): column for column in columns}
    for column in columns:
        found = _SECONDS.match(column.name)
        rest = None if found is None else column.name[: found.start(2)].lower()
        part = next((named[rest + word] for word in _PARTS if rest is not None and rest + word in named), None)
        if part is None or rest is None or column.fault is not None or part.fault is not None:
            continue
        present = column.values[np.isfinite(column.values)]
        origin = float(present[0]) if len(present) else 0.0
        joined = Column(rest.rstrip("/._ "), column.values - origin + 1e-9 * part.values, "s", channel="time")
        return (joined, *(other for other in columns if other is not column and other is not part))
    return columns


def with_rates(columns: tuple[Column, ...], dialect: Dialect) -> tuple[Column, ...]:
    """The columns, the sample numbers of an oscilloscope as times [s] where its header states their increment."""
    names = [name.lower() for name in dialect.names]
    if "increment" not in names or not columns:
        return columns
    stated = dialect.aliases[names.index("increment")] or dialect.units[names.index("increment")]
    if not is_number(stated) or not 0.0 < float(stated) < 1e9:
        return columns
    times = dataclasses.replace(columns[0], values=columns[0].values * float(stated), unit="s", channel="time")
    return (times, *columns[1:])
