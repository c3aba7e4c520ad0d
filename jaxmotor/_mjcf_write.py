"""An actuator as a `<dcmotor>` element, for MuJoCo 3.12 and later."""

import math
import warnings
from typing import Any
from xml.sax.saxutils import quoteattr

import jax
import numpy as np

from ._actuator import Actuator, ActuatorParams
from ._mjcf_controller import control_attributes
from ._mjcf_motor import motor_attributes


def to_xml(actuator: Actuator, params: ActuatorParams, *, name: str, joint: str) -> str:
    """The `<dcmotor>` element that makes MuJoCo (3.12 and later) simulate this actuator on `joint`.

    It belongs into the `<actuator>` section of a model. Position gains in volts are written as the torque-space gains
    that act the same. What MuJoCo cannot say exactly is warned about where it is close, and refused where it is not.

    **Raises:** `ValueError` naming the part that MuJoCo's `dcmotor` does not have.
    """
    if any(np.ndim(leaf) for leaf in jax.tree_util.tree_leaves(params)):
        raise ValueError("to_xml writes one motor, but the params hold several values on an axis: take one of them")
    attributes = motor_attributes(actuator, params) | control_attributes(actuator, params)
    gear, armature = float(params.gear.ratio), float(params.gear.rotor_inertia)
    if gear != 1:
        attributes["gear"] = (gear,)
    if armature:
        attributes["armature"] = (armature,)
    budget = params.dry_friction
    if budget is not None:
        loss = getattr(budget, "coulomb_friction", None)
        where = "the joint" if loss is None else f'the joint as frictionloss="{float(loss)!r}"'
        warnings.warn(f"to_xml: dry friction is no part of a dcmotor; write it on {where}", stacklevel=2)
    pairs = [("name", name), ("joint", joint), *((key, _text(value)) for key, value in attributes.items())]
    return f"<dcmotor {' '.join(f'{key}={quoteattr(value)}' for key, value in pairs)}/>"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    kept = list(value)
    while len(kept) > 1 and kept[-1] == 0:
        kept.pop()
    # MuJoCo's zero is our infinite limit: off.
    return " ".join(repr(0.0 if math.isinf(x) else float(x)) for x in kept)
