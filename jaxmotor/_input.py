"""One row of what drives an actuator."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ._stage import Scalar
from ._supply import Terminals


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

    def limited(self, code: Int[Array, "*shape"]) -> Int[Array, "*shape"]:
        """The `Saturation` code of this row: none where the power stage is off."""
        return code if self.enabled is None else jnp.where(self.enabled, code, jnp.zeros_like(code))

    def connected(self, terminals: Terminals, open_voltage: Scalar) -> Terminals:
        """The `terminals` of this row: as the power stage makes them while it is enabled, else at the back-EMF [V],
        where no current flows, with nothing taken from the bus and nothing limited."""
        if self.enabled is None:
            return terminals
        duty = terminals.duty
        return Terminals(
            jnp.where(self.enabled, terminals.voltage, open_voltage),
            None if duty is None else jnp.where(self.enabled, duty, jnp.zeros_like(duty)),
            terminals.bus_limited & self.enabled,
            terminals.current_limited & self.enabled,
        )


def as_input(ctrl: Any) -> Input:
    """`ctrl` of an actuator as an `Input`; anything else is a bare command."""
    return ctrl if isinstance(ctrl, Input) else Input(ctrl)
