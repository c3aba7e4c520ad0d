"""MuJoCo's activations and an actuator's state: the same numbers, in MuJoCo's order.

Slew, integral, temperature, bristle, current (MuJoCo DC motor note, "Low-Level Semantics"), those that exist.
"""

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._actuator import Actuator, ActuatorParams, ActuatorState
from ._bristle_motion import BristleState
from ._integral import IntegralState
from ._lumped_thermal import LumpedThermalState
from ._slew import SlewLimiterState
from ._winding import WindingState

Slot = Callable[[ActuatorState], Any]


def _slots(state: ActuatorState) -> Iterator[Slot]:
    """How to reach each activation in such a state."""
    yield from _slew_slots(state.setpoint, lambda s: s.setpoint)
    match state.controller:
        case IntegralState():
            yield lambda s: s.controller.integral
    match state.motor.thermal:
        case LumpedThermalState():
            yield lambda s: s.motor.thermal.temperature_rise
    match state.motor.bristle:
        case BristleState():
            yield lambda s: s.motor.bristle.deflection
    match state.motor.winding:
        case WindingState():
            yield lambda s: s.motor.winding.current


def _slew_slots(setpoint: Any, reach: Slot) -> Iterator[Slot]:
    match setpoint:
        case SlewLimiterState():
            yield lambda s: reach(s).previous_command
        case tuple():
            for index, item in enumerate(setpoint):
                yield from _slew_slots(item, lambda s, index=index: reach(s)[index])


def _checked_slots(state: ActuatorState) -> list[Slot]:
    slots = list(_slots(state))
    known = {id(slot(state)) for slot in slots}
    strange = [
        jax.tree_util.keystr(path) for path, leaf in jax.tree_util.tree_leaves_with_path(state) if id(leaf) not in known
    ]
    if strange:
        raise ValueError(f"MuJoCo's dcmotor has no activation for {strange[0]}: leave that part out of the actuator")
    return slots


def to_act(actuator: Actuator, state: ActuatorState) -> Float[Array, "*batch activation"]:
    """The activations that MuJoCo would hold for this state, on a trailing axis; of length 0 for a motor without state.

    **Raises:** `ValueError` for a state that MuJoCo's `dcmotor` does not have.
    """
    del actuator
    slots = _checked_slots(state)
    return jnp.stack([slot(state) for slot in slots], axis=-1) if slots else jnp.zeros((0,))


def from_act(actuator: Actuator, params: ActuatorParams, act: Float[Array, "*batch activation"] | Any) -> ActuatorState:
    """The state that MuJoCo's activations `act` (trailing axis) stand for.

    **Raises:** `ValueError` for another number of activations than this actuator has.
    """
    state = actuator.init(params)
    slots = _checked_slots(state)
    act = jnp.asarray(act, params.motor.winding.resistance.dtype)
    if act.ndim < 1 or act.shape[-1] != len(slots):
        raise ValueError(f"act has shape {act.shape}, but this actuator has {len(slots)} activations on its last axis")
    for index, slot in enumerate(slots):
        state = eqx.tree_at(slot, state, act[..., index])
    return state
