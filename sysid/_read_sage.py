"""SAGE recordings: a file of commands and a file of motor states, each row with a list of all joints."""

import pathlib
from typing import Any

import numpy as np

from sysid._errors import LogError
from sysid._options import Options
from sysid._polars import told
from sysid._table import Column, Table

_COMMANDS, _STATES, _JOINTS = "control.csv", "state_motor.csv", "joint_list.txt"
_CHANNELS = {"positions": ("position", "rad"), "velocities": ("velocity", "rad/s"), "torques": ("torque", None)}


def read_sage(path: pathlib.Path, options: Options) -> Table:
    """The states of one joint, with the goal position that held at each of their stamps (stamps in microseconds).

    **Arguments:**

    - `path`: either of the pair `..._control.csv` and `..._state_motor.csv`.
    - `options.joint`: number, from 0, or name from `joint_list.txt` beside the files.

    **Raises:** `LogError` when the partner is missing or the joint is not told.
    """
    stem = path.name.removesuffix(_STATES).removesuffix(_COMMANDS)
    states, commands = path.with_name(stem + _STATES), path.with_name(stem + _COMMANDS)
    for file in (states, commands):
        if not file.is_file():
            raise LogError(f"{file.name}: missing beside {path.name}; a SAGE recording is the pair of them")
    joint, label = _joint(path, options.joint)
    state, command = _frame(states), _frame(commands)
    stamps = state["timestamp"].to_numpy()
    columns = [Column("timestamp", stamps, "us", channel="time")]
    for name, (channel, unit) in _CHANNELS.items():
        if name in state.columns:
            columns.append(Column(f"{name}[{label}]", _member(states, state, name, joint), unit, channel=channel))
    goals = _member(commands, command, "positions", joint)
    last = np.searchsorted(command["timestamp"].to_numpy(), stamps, side="right") - 1
    held = np.where(last >= 0, goals[np.maximum(last, 0)], np.nan)
    columns.append(Column(f"goal positions[{label}]", held, "rad", channel="command"))
    return Table(states.name, tuple(columns))


def _joint(path: pathlib.Path, wanted: int | str | None) -> tuple[int, str]:
    listed = path.with_name(_JOINTS)
    names = listed.read_text().split() if listed.is_file() else []
    there = ", ".join(f"{index} {name}" for index, name in enumerate(names)) or "numbered from 0"
    if wanted is None:
        raise LogError(f"{path.name}: holds several joints: choose one with --joint ({there})")
    text = str(wanted)
    if text in names:
        return names.index(text), text
    if not text.isdigit() or (names and int(text) >= len(names)):
        raise LogError(f"{path.name}: no joint '{text}': choose one with --joint ({there})")
    return int(text), names[int(text)] if names else text


def _frame(path: pathlib.Path) -> Any:
    import polars as pl

    with told(path.name, "a table"):
        frame = pl.read_csv(path, schema_overrides={"timestamp": pl.Float64})
    if "timestamp" not in frame.columns or "positions" not in frame.columns:
        raise LogError(f"{path.name}: a SAGE file has the columns timestamp and positions")
    return frame


def _member(path: pathlib.Path, frame: Any, column: str, joint: int) -> Any:
    """One joint of a column of lists."""
    import polars as pl

    with told(path.name, f"lists of numbers in the column '{column}'"):
        lists = frame[column].str.json_decode(pl.List(pl.Float64))
    values = lists.list.get(joint, null_on_oob=True)
    if values.null_count() == len(values):
        raise LogError(f"{path.name}: column '{column}' has no joint number {joint}")
    return values.fill_null(float("nan")).to_numpy()
