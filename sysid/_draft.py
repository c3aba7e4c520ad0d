"""A model in words and numbers, before any array is built."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ._adjust import free_parameter
from ._errors import ModelError
from ._free import TIES, Free, Subject, places, write
from ._model import Condition, Model, checked
from ._sensors import Sensors
from ._stages import build, nearest


@dataclasses.dataclass(frozen=True)
class Draft:
    """What `assemble` makes a `Model` of.

    `stages`: a word per slot. `free`: names that move, each with settings of its `FreeParameter` where they are not
    the usual ones. `values` [SI] by name; a tie's name sets all its parts. `command`, `description`, `conditions`,
    `given`, `balanced`, `outputs`, `grid` as in `Model`.
    """

    stages: Mapping[str, str]
    free: Mapping[str, Mapping[str, Any]]
    command: str
    description: str
    values: Mapping[str, float] = dataclasses.field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    given: frozenset[str] = frozenset()
    balanced: bool = False
    outputs: tuple[str, ...] | None = None
    grid: float | None = None


def assemble(draft: Draft, where: str = "model") -> Model:
    """The model of a draft.

    **Raises:** `ModelError` that names a stage, a parameter or a value that is wrong.
    """
    values = dict(draft.values)
    for tie, parts in TIES.items():
        if tie in values:
            values |= dict.fromkeys(parts, values.pop(tie))
    bench, params = build(draft.stages, values, where)
    subject = Subject(params, Sensors())
    read_by = {f"sensors.{name}": values[name] for name in Sensors.__dataclass_fields__ if name in values}
    subject = checked(write(subject, read_by), subject, where)
    known = places(subject)
    for name in (*draft.free, *(condition.name for condition in draft.conditions)):
        if name not in known:
            has = ", ".join(sorted(known))
            raise ModelError(f"{where}: the model has no parameter '{name}'{nearest(name, known)}; it has: {has}")
    free = Free(tuple(free_parameter(known[name], subject, **settings) for name, settings in draft.free.items()))
    return Model(
        bench,
        subject.bench,
        free,
        draft.description,
        draft.command,
        subject.sensors,
        draft.conditions,
        draft.given,
        draft.balanced,
        draft.outputs,
        draft.grid,
    )
