"""One row of what drives an actuator."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ._stage import Scalar


class Input(eqx.Module):
    """The command of a row, and what else that row of a log tells.

    - `command`: the controller's input (V, duty, rad ...), a scalar or a trailing axis of several inputs.
    - `bus_voltage` [V]: measured bus voltage, in place of the supply's parameter.
    - `enabled`: false where the power stage is off and the winding open; on where it is `None`.
    - `ambient` [degC]: measured room temperature, in place of the thermal stage's parameter.
    """

    command: Any
    bus_voltage: Float[Array, "*time"] | None = None
    enabled: Bool[Array, "*time"] | None = None
    ambient: Float[Array, "*time"] | None = None

    def connected(self, volts: Scalar, open_voltage: Scalar) -> Scalar:
        """The terminal voltage [V] of this row: `volts` while enabled, else the back-EMF, at which no current flows."""
        return volts if self.enabled is None else jnp.where(self.enabled, volts, open_voltage)


def as_input(ctrl: Any) -> Input:
    """`ctrl` of an actuator as an `Input`; anything else is a bare command."""
    return ctrl if isinstance(ctrl, Input) else Input(ctrl)
