"""The same model with another friction."""

import dataclasses

import numpy as np

from jaxmotor._parameter import parameter_fields

from ._adjust import free_parameter
from ._errors import ModelError
from ._free import Free, Subject, places
from ._friction_models import FRICTION_MODELS, friction_model
from ._model import Model, checked
from ._stages import build, stages_of

_SLOTS = ("bristle", "dry_friction")


def with_friction(model: Model, name: str) -> Model:
    """The model with the friction of this name (`FRICTION_MODELS`) in place of its own; what both have stays as it is,
    free or held, with its bounds and priors.

    **Raises:** `ModelError` for an unknown name, and for a model that has no dry friction to replace.
    """
    wanted = friction_model(name)
    words = stages_of(model.bench)
    if (words["bristle"], words["dry_friction"]) == ("Frictionless", "NoDryFriction"):
        raise ModelError(f"friction {name}: the model has no dry friction to replace ({model.description})")
    kept = {slot: word for slot, word in words.items() if slot.split(".", 1)[0] not in _SLOTS}
    stages = kept | dict(wanted.stages)
    old = places(model.subject)
    # A value is known by the last two words of its path, which differ where two stages share a field.
    values = {name: settings["start"] for name, settings in wanted.free.items()} | {
        ".".join(path.split(".")[-2:]): float(np.asarray(value)) for path, _, value in parameter_fields(model.subject)
    }
    if "coulomb_friction" in old:
        values["coulomb_friction"] = values[".".join(old["coulomb_friction"].paths[0].split(".")[-2:])]
    bench, params = build(stages, values, f"friction {name}")
    subject = checked(Subject(params, model.sensors), Subject(params, model.sensors), f"friction {name}")
    known = places(subject)
    moving = {p.name: dataclasses.replace(p, place=known[p.name]) for p in model.free.parameters if p.name in known}
    for new, settings in ({"coulomb_friction": {}} | dict(wanted.free)).items():
        if new in known and new not in moving and new not in old:
            moving[new] = free_parameter(known[new], subject, **settings)
    return dataclasses.replace(
        model,
        bench=bench,
        params=subject.bench,
        free=Free(tuple(moving.values())),
        description=_described(model.description, name, wanted.words),
        conditions=tuple(c for c in model.conditions if c.name in known),
    )


def _described(description: str, name: str, words: str) -> str:
    told = ["Coulomb and viscous friction", *(f"friction {n} ({m.words})" for n, m in FRICTION_MODELS.items())]
    for old in told:
        if old in description:
            return description.replace(old, f"friction {name} ({words})")
    return f"{description}; friction {name} ({words})"
