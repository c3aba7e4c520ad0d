"""A battery: open-circuit voltage that falls with charge, internal resistance, charge counting.

    V = E(s) - r I,    ds/dt = -I / Q,    V I = power into the windings,

with the state of charge s [1], internal resistance r [ohm] and capacity Q [A h]. The currents are those of this very
step (`_bus_balance`).
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ._bus_balance import BusLoad, balanced_bus_voltage
from ._motor_numbers import traced
from ._parameter import Parameter, as_parameter, nonnegative, positive
from ._request import AbstractRequest
from ._stage import Scalar
from ._supply import AbstractSupply, Asked, Draw, FixedSupply, FixedSupplyParams, Terminals
from ._winding import Response

_SECONDS_PER_HOUR = 3600.0


class BatteryParams(eqx.Module):
    """`open_circuit_voltage` [V] at each of the `charge_points` [1] (rising, straight lines between them, held beyond),
    `internal_resistance` [ohm], `capacity` [A h], `initial_charge` [1]."""

    open_circuit_voltage: Float[Array, "*batch points"] = positive("V")
    charge_points: Float[Array, "*batch points"] = nonnegative("1")
    internal_resistance: Parameter = nonnegative("ohm")
    capacity: Parameter = positive("A h")
    initial_charge: Parameter = nonnegative("1", default=1.0)

    def __check_init__(self):
        if self.open_circuit_voltage.shape != self.charge_points.shape:
            raise ValueError(
                f"open_circuit_voltage has shape {self.open_circuit_voltage.shape}, but charge_points has "
                f"{self.charge_points.shape}: each point of charge needs its voltage"
            )
        if not traced(self.charge_points) and not np.all(np.diff(self.charge_points) > 0):
            raise ValueError(f"charge_points must rise, not {np.asarray(self.charge_points).tolist()}")


class BatteryState(eqx.Module):
    """`charge` [1], from 0 empty to 1 full; outside, the run asked for more than the battery holds. `remainder` [1] is
    what rounding left out of it so far: in float32 a step of a millisecond takes less than the last digit of a charge
    holds, and the battery would never empty (Kahan, Communications of the ACM 8 (1965) 40)."""

    charge: Scalar
    remainder: Scalar


def bus_load(
    request: AbstractRequest, lower: Scalar, upper: Scalar, winding: Any, response: Response, qvel: Scalar
) -> BusLoad:
    """What a drive asks of the bus, as a line in the bus voltage."""
    zero, one = jnp.zeros_like(qvel), jnp.ones_like(qvel)
    constant = request.volts(zero, winding, qvel)
    return BusLoad(
        slope=request.volts(one, winding, qvel) - constant,
        constant=constant,
        lower=lower * one,
        upper=upper * one,
        ceiling=request.ceiling(one),
        conductance=response.conductance * one,
        offset=response.offset,
    )


class Battery(AbstractSupply):
    """A battery behind one bridge, or behind all bridges of a group (`SharedBattery`).

    **Arguments:** `regeneration`: whether braking motors charge it. Without, a chopper burns what they feed back: the
    bus stays at the open-circuit voltage and the battery carries no current. Among several motors, what one feeds back
    another takes first.
    """

    regeneration: bool = eqx.field(static=True, default=True)

    def init(self, params: BatteryParams) -> BatteryState:
        return BatteryState(params.initial_charge, jnp.zeros_like(params.initial_charge))

    def open_circuit_voltage(self, state: BatteryState, params: BatteryParams) -> Scalar:
        """E(s) [V]."""
        return jnp.interp(state.charge, params.charge_points, params.open_circuit_voltage)

    def loaded_voltage(self, state: BatteryState, params: BatteryParams, loads: BusLoad) -> Scalar:
        """The bus voltage [V] under these loads."""
        source = self.open_circuit_voltage(state, params)
        voltage = balanced_bus_voltage(source, params.internal_resistance, loads)
        return voltage if self.regeneration else jnp.minimum(voltage, source)

    def drained(
        self, state: BatteryState, params: BatteryParams, current: Scalar, dt: Scalar
    ) -> tuple[BatteryState, Scalar]:
        """The state after the bridges took `current` [A] in all for `dt` [s], and the current of the battery [A]."""
        carried = current if self.regeneration else jnp.maximum(current, jnp.zeros_like(current))
        gained = state.remainder - carried * dt / (_SECONDS_PER_HOUR * params.capacity)
        charge = state.charge + gained
        return BatteryState(charge, gained - (charge - state.charge)), carried

    def step(
        self, state: BatteryState, params: BatteryParams, ctrl: Draw, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[BatteryState, Scalar]:
        del qpos, qvel
        return self.drained(state, params, ctrl.terminals.duty * ctrl.current, dt)

    def bus_voltage(self, state: BatteryState, params: BatteryParams) -> Scalar:
        return self.open_circuit_voltage(state, params)

    def terminals(
        self, state: BatteryState, params: BatteryParams, asked: Asked, qvel: Scalar, dt: Scalar
    ) -> Terminals:
        loads = bus_load(asked.request, asked.lower, asked.upper, asked.winding, asked.response, qvel)
        voltage = self.loaded_voltage(state, params, loads)
        return FixedSupply().terminals(None, FixedSupplyParams(voltage), asked, qvel, dt)

    def with_bus_voltage(self, params: BatteryParams, bus_voltage: Scalar | None) -> BatteryParams:
        if bus_voltage is None:
            return params
        # A measured bus already holds the sag.
        flat = jnp.full_like(params.open_circuit_voltage, 1.0) * as_parameter(bus_voltage)
        return BatteryParams(
            flat,
            params.charge_points,
            jnp.zeros_like(params.internal_resistance),
            params.capacity,
            params.initial_charge,
        )
