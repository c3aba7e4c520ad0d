"""JSON recordings: those of the BAM recorder, and plain objects of columns."""

import json
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError
from sysid._finding import Finding
from sysid._options import Options
from sysid._table import Column, Table, split_brackets

#: Register value of full duty, by motor: `load` holds the present PWM there. Other motors write other things.
_FULL_PWM = {"xl330": 885.0}
_CONDITIONS = ("mass", "length", "arm_mass", "kp", "vin")
_ENTRY_COLUMNS = {
    "timestamp": ("time", "s"),
    "position": ("position", "rad"),
    "speed": ("velocity", "rad/s"),
    "input_volts": ("bus_voltage", "V"),
    "temp": ("temperature", "degC"),
    "goal_position": ("command", "rad"),
    "torque_enable": ("torque_enabled", "1"),
}


def read_json(path: pathlib.Path, options: Options) -> Table:
    """A BAM recording (`{"mass": ..., "entries": [...]}`), or an object whose members are columns of one length.

    **Raises:** `LogError` when the file is neither.
    """
    del options
    try:
        record = json.loads(path.read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "its encoding"
        raise LogError(f"{path.name}: not valid JSON ({where}); was the recording cut short?") from None
    except (ValueError, RecursionError):
        raise LogError(
            f"{path.name}: not usable JSON: a number of thousands of digits, or too deep a nesting"
        ) from None
    if isinstance(record, dict) and isinstance(record.get("entries"), list):
        return _bam(path.name, record)
    if isinstance(record, dict):
        return _columns(path.name, record)
    raise LogError(f"{path.name}: neither a BAM recording nor an object of columns")


def signed16(register: NDArray[np.float64]) -> NDArray[np.float64]:
    """An unsigned 16-bit register as the signed number it stands for: 65527 is -9."""
    return np.where(register > 32767.0, register - 65536.0, register)


def _real(number: int | float) -> float:
    """The number as a float; an integer beyond all floats is infinite, which is no measurement."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _bam(name: str, record: dict[str, Any]) -> Table:
    entries = record["entries"]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise LogError(f"{name}: a BAM recording whose 'entries' hold no rows")
    findings: list[Finding] = []
    columns = [
        Column(key, _member(name, entries, key), unit, channel=channel)
        for key, (channel, unit) in _ENTRY_COLUMNS.items()
        if any(key in entry for entry in entries)
    ]
    motor = str(record.get("motor", "")).lower()
    if any("load" in entry for entry in entries):
        full = next((value for known, value in _FULL_PWM.items() if motor.startswith(known)), None)
        load = _member(name, entries, "load")
        if full is None:
            message = f"'load' is a register of unknown scale for the motor '{motor}': left out"
            findings.append(Finding("register_unknown", message, action="left out", severity="warning"))
        else:
            wrapped = load > 32767.0
            if wrapped.any():
                rows = np.flatnonzero(wrapped) + 1
                message = f"'load' is an unsigned 16-bit register, and negative in {len(rows)} rows"
                findings.append(Finding.at_rows("unsigned_register", message, rows, action="read as signed"))
            columns.append(Column("load", signed16(load) / full, "1", channel="duty"))
    conditions = {}
    for key, value in record.items():
        word = key.replace("-", "_")
        if word in _CONDITIONS and isinstance(value, int | float) and not isinstance(value, bool):
            conditions[word] = _real(value)
    return Table(name, tuple(columns), conditions, tuple(findings))


def _member(name: str, entries: list[dict[str, Any]], key: str) -> NDArray[np.float64]:
    """One member of every entry as numbers, NaN where it is absent or null."""
    cells = [entry.get(key) for entry in entries]
    for row, cell in enumerate(cells, start=1):
        if cell is not None and not isinstance(cell, int | float):
            raise LogError(f"{name}: entry {row}: '{key}' holds {json.dumps(cell)[:40]} instead of a number")
    return np.array([np.nan if cell is None else _real(cell) for cell in cells])


def _columns(name: str, record: dict[str, Any]) -> Table:
    lists = {key: value for key, value in record.items() if isinstance(value, list)}
    if len({len(value) for value in lists.values()}) != 1:
        raise LogError(f"{name}: neither a BAM recording (no 'entries') nor an object of columns of one length")
    columns = []
    for key, cells in lists.items():
        header, unit = split_brackets(key)
        rows = [{key: cell} for cell in cells]
        columns.append(Column(header, _member(name, rows, key), unit))
    conditions = {key: _real(value) for key, value in record.items() if type(value) in (int, float)}
    return Table(name, tuple(columns), conditions)
