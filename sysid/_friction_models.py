"""The friction models that a fit may choose among, as stages and free parameters."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ._errors import ModelError

_NONE: dict[str, Any] = {}
_SHARE = {"lower": 0.0, "upper": 1.0, "start": 0.1}
_STRIBECK = {
    "stribeck_friction": {"lower": 0.0, "upper": 1.0, "start": 0.02},
    "stribeck_velocity": {"lower": 0.05, "upper": 5.0, "start": 0.5},
    "stribeck_exponent": {"lower": 0.5, "upper": 10.0, "start": 2.0},
}
_QUADRATIC = {"lower": 0.0, "upper": 0.1, "start": 0.005}


@dataclasses.dataclass(frozen=True)
class FrictionModel:
    """`stages` by slot, and `free` parameters with the settings of their `FreeParameter`, beside viscous drag and
    Coulomb friction."""

    words: str
    stages: Mapping[str, str]
    free: Mapping[str, Mapping[str, Any]]


def _dry(**terms: str) -> dict[str, str]:
    return {"dry_friction": "LoadDependentFriction"} | {f"dry_friction.{slot}": word for slot, word in terms.items()}


def _two_way(slot: str) -> dict[str, dict[str, Any]]:
    return {f"{slot}.motor_load_friction": _SHARE, f"{slot}.external_load_friction": _SHARE}


FRICTION_MODELS: dict[str, FrictionModel] = {
    "M1": FrictionModel("Coulomb and viscous", {"dry_friction": "CoulombFriction"}, _NONE),
    "M2": FrictionModel("with Stribeck", _dry(stribeck="Stribeck"), _STRIBECK),
    "M3": FrictionModel("load-dependent", _dry(load="SymmetricLoadFriction"), {"load_friction": _SHARE}),
    "M4": FrictionModel(
        "load-dependent with Stribeck",
        _dry(load="SymmetricLoadFriction", stribeck="Stribeck", slow_load="SymmetricLoadFriction"),
        {"load.load_friction": _SHARE, "slow_load.load_friction": _SHARE, **_STRIBECK},
    ),
    "M5": FrictionModel(
        "directional with Stribeck",
        _dry(load="DirectionalLoadFriction", stribeck="Stribeck", slow_load="DirectionalLoadFriction"),
        {**_two_way("load"), **_two_way("slow_load"), **_STRIBECK},
    ),
    "M6": FrictionModel(
        "directional and quadratic with Stribeck",
        _dry(
            load="DirectionalLoadFriction",
            stribeck="Stribeck",
            slow_load="DirectionalLoadFriction",
            slow_quadratic="QuadraticLoadFriction",
        ),
        {
            **_two_way("load"),
            **_two_way("slow_load"),
            "motor_quadratic_friction": _QUADRATIC,
            "external_quadratic_friction": _QUADRATIC,
            **_STRIBECK,
        },
    ),
    "LuGre": FrictionModel(
        "bristles",
        {"bristle": "LuGre", "dry_friction": "NoDryFriction"},
        {
            "stiction_torque": {"lower": 0.0, "upper": 1.0, "start": 0.04},
            "lugre_stiffness": {"start": 10.0},
            "lugre_damping": {"start": 0.1},
            "stribeck_velocity": {"lower": 0.05, "upper": 5.0, "start": 0.5},
        },
    ),
}
"""BAM's names for its models (bam/model.py), which users of servos know, and the bristle model."""


def friction_model(name: str) -> FrictionModel:
    """The friction model of this name.

    **Raises:** `ModelError` with the names there are.
    """
    if name not in FRICTION_MODELS:
        known = ", ".join(f"{key} ({model.words})" for key, model in FRICTION_MODELS.items())
        raise ModelError(f"friction model '{name}' is unknown: choose one of {known}")
    return FRICTION_MODELS[name]
