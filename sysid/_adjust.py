"""What a user frees or holds, on top of what a model frees by itself."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._errors import ModelError
from ._free import Free, FreeParameter, Place, Subject, places, read, write
from ._model import Model, checked
from ._stages import nearest

LATEST = 0.5
"""Longest delay and lag of a command path that a search considers [s]."""


def free_parameter(place: Place, subject: Subject, **changes: Any) -> FreeParameter:
    """A parameter that moves from where the subject stands, within the bounds that its sign allows."""
    start = float(np.mean(np.asarray(read(subject, place.paths[0]))))
    # An infinite limit is a limit that never acts: it has no gradient, so a search begins at a finite one.
    settings: dict[str, Any] = {
        "start": start if np.isfinite(start) else 1.0,
        "lower": -np.inf if place.sign in ("finite", "not zero") else 0.0,
        "upper": LATEST if place.name in ("delay", "lag") else np.inf,
    }
    return FreeParameter(place, **(settings | changes))


def adjusted(model: Model, free: Iterable[str] = (), fix: Mapping[str, float] | None = None) -> Model:
    """The model with more parameters free, and others held at a value [SI].

    Freeing one part of a tie ends the tie; fixing one part fixes all that it ties.

    **Raises:** `ModelError` for a name that the model does not have, for one both freed and fixed, and for a value that
    no motor has.
    """
    names, values = list(dict.fromkeys(free)), dict(fix or {})
    known = places(model.subject)
    for name in (*names, *values):
        if name not in known:
            option = "--free" if name in names else "--fix"
            raise ModelError(
                f"{option} {name}: the model has no such parameter{nearest(name, known)}; it has: "
                f"{', '.join(sorted(known))}"
            )
        if name in names and name in values:
            raise ModelError(f"--free {name} and --fix {name}: a parameter is either free or fixed")
    moving = {parameter.place.paths: parameter for parameter in model.free.parameters}
    for name in names:
        _release(moving, known[name], known, model.subject)
    held: dict[str, float] = {}
    for name, value in values.items():
        held |= _hold(moving, known[name].paths, value)
    subject = checked(write(model.subject, dict(held)), model.subject, "--fix")
    by_hand = {path for name in (*names, *values) for path in known[name].paths}
    return dataclasses.replace(
        model.with_subject(subject),
        free=Free(tuple(moving.values())),
        conditions=tuple(c for c in model.conditions if not by_hand & set(known[c.name].paths)),
        given=model.given | set(values),
    )


def _release(
    moving: dict[tuple[str, ...], FreeParameter], place: Place, known: Mapping[str, Place], subject: Subject
) -> None:
    if place.paths in moving:
        return
    for paths in [paths for paths in moving if set(paths) & set(place.paths)]:
        tie = moving.pop(paths)
        if len(paths) > len(place.paths):
            singles = {p.paths: p for p in known.values()}
            moving |= {(path,): dataclasses.replace(tie, place=singles[(path,)]) for path in paths}
    if place.paths not in moving:
        moving[place.paths] = free_parameter(place, subject)


def _hold(moving: dict[tuple[str, ...], FreeParameter], wanted: tuple[str, ...], value: float) -> dict[str, float]:
    held = dict.fromkeys(wanted, value)
    for paths in [paths for paths in moving if set(paths) & set(wanted)]:
        del moving[paths]
        held |= dict.fromkeys(paths, value)
    return held
