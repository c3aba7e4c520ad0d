"""Laws by which other simulators let the bus sag, for comparison with `SharedBattery`.

Each takes the last step's load, so the bus answers one step late, and none counts charge:

    V = max(V_n - k m, V_min),

with the measure m of that load. Only `SupplyCurrentSag` is physics; the other two overstate what a motor at low duty
takes from the bus (a stalled motor at a tenth of the duty takes a tenth of its winding current).
"""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._bus import AbstractBus, Drawn
from ._parameter import Parameter, nonnegative, positive
from ._stage import Scalar


class SagParams(eqx.Module):
    """`nominal_voltage` V_n [V], `sag` k (its unit is the measure's: V/(N m), or ohm), `minimum_voltage` V_min [V]."""

    nominal_voltage: Parameter = positive("V")
    sag: Parameter = nonnegative("V/(N m) or ohm")
    minimum_voltage: Parameter = nonnegative("V", default=0.0)


class SagState(eqx.Module):
    """`measure` of the last step's load."""

    measure: Scalar


class AbstractLaggedSag(AbstractBus):
    """V = max(V_n - k m, V_min) for every actuator of the group."""

    @abc.abstractmethod
    def measure(self, drawn: Drawn) -> Scalar:
        """m from what the actuators did in this step."""

    def init(self, params: SagParams) -> SagState:
        return SagState(jnp.zeros_like(params.nominal_voltage))

    def seen(self, state: SagState, params: SagParams, own: Float[Array, " actuators"]) -> Float[Array, " actuators"]:
        voltage = jnp.maximum(params.nominal_voltage - params.sag * state.measure, params.minimum_voltage)
        return jnp.broadcast_to(voltage, own.shape)

    def loaded(
        self, state: SagState, params: SagParams, own: Float[Array, " actuators"], loads: Any
    ) -> Float[Array, " actuators"]:
        del loads
        return self.seen(state, params, own)

    def step(self, state: SagState, params: SagParams, drawn: Drawn, dt: Scalar) -> tuple[SagState, Scalar]:
        del state, params, dt
        return SagState(self.measure(drawn)), jnp.sum(drawn.supply_current)


class TorqueSag(AbstractLaggedSag):
    """m = sum |tau| [N m] (a draft of `Battery` in newton, and `bam_kernels.py` of Isaac Lab)."""

    def measure(self, drawn: Drawn) -> Scalar:
        return jnp.sum(jnp.abs(drawn.motor_torque))


class WindingCurrentSag(AbstractLaggedSag):
    """m = sum |i| [A] (`MujocoController` of better-actuator-models 1.0.2)."""

    def measure(self, drawn: Drawn) -> Scalar:
        return jnp.sum(jnp.abs(drawn.current))


class SupplyCurrentSag(AbstractLaggedSag):
    """m = max(0, sum d i) [A] (documentation of better-actuator-models after 1.0.2; Newton's source current d i)."""

    def measure(self, drawn: Drawn) -> Scalar:
        total = jnp.sum(drawn.supply_current)
        return jnp.maximum(total, jnp.zeros_like(total))
