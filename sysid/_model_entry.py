"""A model as the plain `model` entry of `fit.json`, and back."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmotor._parameter import parameter_fields

from ._errors import ModelError
from ._free import Free, FreeParameter, Place, Subject, places, write
from ._model import Condition, Model, checked
from ._sensors import Sensors
from ._stages import build, stages_of


def model_to_dict(model: Model) -> dict[str, Any]:
    """Plain types, ready for JSON; everything that `model_from_dict` needs."""
    return {
        "stages": stages_of(model.bench),
        "values": {
            path: {"value": _plain(value), "unit": field.metadata["unit"]}
            for path, field, value in parameter_fields(model.subject)
        },
        "command": model.command,
        "conditions": [dataclasses.asdict(condition) for condition in model.conditions],
        "free": [_free_to_dict(parameter) for parameter in model.free.parameters],
        "given": sorted(model.given),
        "balanced": model.balanced,
        "outputs": None if model.outputs is None else list(model.outputs),
        "grid": model.grid,
        "description": model.description,
    }


def model_from_dict(entry: Mapping[str, Any], where: str = "model") -> Model:
    """The model of a `model` entry of `fit.json`.

    **Raises:** `ModelError` that starts with `where` when something is missing or unknown.
    """
    try:
        values = {path: float(item["value"]) for path, item in entry["values"].items()}
        by_slot = {".".join(path.split(".")[-2:]): value for path, value in values.items()}
        bench, params = build(entry["stages"], by_slot, where)
        subject = Subject(params, Sensors())
        unmatched = sorted({path for path, _, _ in parameter_fields(subject)} ^ set(values))
        if unmatched:
            raise ModelError(f"{where}: its values and its stages disagree about {unmatched[0]}")
        subject = checked(write(subject, dict(values)), subject, where)
        known = places(subject)
        return Model(
            bench,
            subject.bench,
            Free(tuple(_free_from_dict(item, known) for item in entry["free"])),
            str(entry["description"]),
            str(entry["command"]),
            subject.sensors,
            tuple(Condition(**item) for item in entry["conditions"]),
            frozenset(entry["given"]),
            bool(entry["balanced"]),
            None if entry["outputs"] is None else tuple(entry["outputs"]),
            None if entry["grid"] is None else float(entry["grid"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{where}: this is no model that sysid fit wrote: {error!r}") from None


def _plain(value: Any) -> float | str:
    """A number, or a word for what JSON has no number for."""
    number = float(np.asarray(value))
    return number if np.isfinite(number) else str(number)


def _free_to_dict(parameter: FreeParameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "start": parameter.start,
        "lower": _plain(parameter.lower),
        "upper": _plain(parameter.upper),
        "prior": list(parameter.prior) if parameter.prior is not None else None,
        "per_log": parameter.per_log,
        "spread": parameter.spread,
    }


def _free_from_dict(item: Mapping[str, Any], known: Mapping[str, Place]) -> FreeParameter:
    prior = item["prior"]
    return FreeParameter(
        known[item["name"]],
        float(item["start"]),
        float(item["lower"]),
        float(item["upper"]),
        None if prior is None else (float(prior[0]), float(prior[1])),
        bool(item["per_log"]),
        float(item["spread"]),
    )
