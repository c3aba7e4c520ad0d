"""MCAP files of ROS 2 that hold `sensor_msgs/JointState` messages."""

import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError
from sysid._mcap_messages import JOINT_STATE, BrokenMcapError, joint_states
from sysid._options import Options
from sysid._table import Column, Table

_FIELDS = {"position": ("position", "rad"), "velocity": ("velocity", "rad/s"), "effort": ("torque", None)}


def read_mcap(path: pathlib.Path, options: Options) -> Table:
    """One joint of the joint states, at the stamps of their headers (the time of writing is later by the transport).

    **Arguments:**

    - `options.joint`: name, or number from 0 in the first message.

    **Raises:** `LogError` when the file is broken, holds no joint states, or several topics or joints to choose from.
    """
    topics: dict[str, list[tuple[int, Any]]] = {}
    try:
        for topic, written, message in joint_states(path):
            topics.setdefault(topic, []).append((written, message))
    except ImportError:
        raise LogError(f"{path.name}: MCAP files need a package: pip install 'jaxmotor[mcap]'") from None
    except BrokenMcapError as error:
        raise LogError(f"{path.name}: not readable as MCAP: {error}") from None
    if not topics:
        raise LogError(f"{path.name}: holds no {JOINT_STATE} messages")
    topic = next((name for name in topics if name.endswith("/joint_states")), None)
    if topic is None and len(topics) > 1:
        raise LogError(f"{path.name}: holds several topics of joint states: {', '.join(topics)}; keep one in the file")
    ordered = sorted(topics[topic or next(iter(topics))], key=lambda pair: pair[0])
    messages = [message for _, message in ordered]
    # Several programs may publish to one topic, each its own joints.
    label = _joint(path, list(dict.fromkeys(name for message in messages for name in message.name)), options.joint)
    places = [list(message.name).index(label) if label in message.name else None for message in messages]
    first = messages[0].header.stamp.sec
    stamps = [message.header.stamp.sec - first + 1e-9 * message.header.stamp.nanosec for message in messages]
    columns = [Column("header.stamp", np.array(stamps, dtype=np.float64), "s", channel="time")]
    for field, (channel, unit) in _FIELDS.items():
        values = _member(messages, places, field)
        if np.isfinite(values).any():
            columns.append(Column(f"{field}[{label}]", values, unit, channel=channel))
    return Table(path.name, tuple(columns))


def _joint(path: pathlib.Path, names: list[str], wanted: int | str | None) -> str:
    if not names:
        raise LogError(f"{path.name}: its joint states name no joints")
    there = ", ".join(f"{index} {name}" for index, name in enumerate(names))
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        raise LogError(f"{path.name}: holds several joints: choose one with --joint ({there})")
    text = str(wanted)
    if text in names:
        return text
    if text.isdigit() and int(text) < len(names):
        return names[int(text)]
    raise LogError(f"{path.name}: no joint '{text}': choose one with --joint ({there})")


def _member(messages: list[Any], places: list[int | None], field: str) -> NDArray[np.float64]:
    """One field of one joint; NaN where a message leaves it out."""
    cells = []
    for message, place in zip(messages, places, strict=True):
        values = getattr(message, field)
        cells.append(values[place] if place is not None and place < len(values) else np.nan)
    return np.array(cells, dtype=np.float64)
