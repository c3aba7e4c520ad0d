"""What feeds the actuators of a group."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._battery import Battery, BatteryParams, BatteryState
from ._bus_balance import BusLoad
from ._stage import Scalar

PerActuator = Float[Array, " actuators"]


class Drawn(eqx.Module):
    """What each actuator of a group did: `motor_torque` [N m], winding `current` [A], `supply_current` [A]."""

    motor_torque: PerActuator
    current: PerActuator
    supply_current: PerActuator


class AbstractBus(eqx.Module):
    """The common supply of a group; structure only."""

    @abc.abstractmethod
    def init(self, params: Any) -> Any:
        """The state at the start."""

    @abc.abstractmethod
    def seen(self, state: Any, params: Any, own: PerActuator) -> PerActuator:
        """Bus voltage [V] that each drive sees at the start of the step; `own` is that of its params."""

    @abc.abstractmethod
    def loaded(self, state: Any, params: Any, own: PerActuator, loads: BusLoad) -> PerActuator:
        """Bus voltage [V] of each actuator during the step."""

    @abc.abstractmethod
    def step(self, state: Any, params: Any, drawn: Drawn, dt: Scalar) -> tuple[Any, Scalar]:
        """The state after the step, and the current [A] of the source during it."""


class SeparateBuses(AbstractBus):
    """Each actuator has the bus voltage of its own params, whatever the others draw (as in RaiSim); no params."""

    def init(self, params: None) -> None:
        del params

    def seen(self, state: None, params: None, own: PerActuator) -> PerActuator:
        del state, params
        return own

    def loaded(self, state: None, params: None, own: PerActuator, loads: BusLoad) -> PerActuator:
        del state, params, loads
        return own

    def step(self, state: None, params: None, drawn: Drawn, dt: Scalar) -> tuple[None, Scalar]:
        del state, params, dt
        return None, jnp.sum(drawn.supply_current)


class SharedBattery(AbstractBus):
    """One battery for all actuators of the group: they sag together, and what one feeds back another takes first."""

    battery: Battery = Battery()

    def init(self, params: BatteryParams) -> BatteryState:
        return self.battery.init(params)

    def seen(self, state: BatteryState, params: BatteryParams, own: PerActuator) -> PerActuator:
        return jnp.broadcast_to(self.battery.open_circuit_voltage(state, params), own.shape)

    def loaded(self, state: BatteryState, params: BatteryParams, own: PerActuator, loads: BusLoad) -> PerActuator:
        return jnp.broadcast_to(self.battery.loaded_voltage(state, params, loads), own.shape)

    def step(self, state: BatteryState, params: BatteryParams, drawn: Drawn, dt: Scalar) -> tuple[BatteryState, Scalar]:
        return self.battery.drained(state, params, jnp.sum(drawn.supply_current), dt)
