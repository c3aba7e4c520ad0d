"""One thermal node: the winding against the room."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._kept import ready
from ._parameter import Parameter, as_parameter, positive, positive_or_infinite, real
from ._stage import Scalar
from ._thermal import AbstractThermal


class LumpedThermalParams(eqx.Module):
    """`thermal_resistance` R_T [K/W] from winding to room, may be infinite; `thermal_capacitance` C [J/K];
    `temperature_coefficient` alpha [1/K] of the resistance, which is given at `reference_temperature` T0 [degC];
    `ambient_temperature` Ta [degC]. Copper has alpha = 0.0039 / K."""

    thermal_resistance: Parameter = positive_or_infinite("K/W")
    thermal_capacitance: Parameter = positive("J/K")
    temperature_coefficient: Parameter = real("1/K", default=0.0)
    reference_temperature: Parameter = real("degC", default=25.0)
    ambient_temperature: Parameter = real("degC", default=25.0)


class LumpedThermalState(eqx.Module):
    """`temperature_rise` [K] of the winding over the room; a rise keeps its digits in float32."""

    temperature_rise: Scalar


class LumpedThermal(AbstractThermal):
    """C dT/dt = P - T / R_T by explicit Euler, with the heat at the start of the step; R(T) = R0 (1 + alpha (T + Ta -
    T0)) (MuJoCo DC motor note, "Lumped Thermal ODE" and "Temperature-Dependent Resistance").

    First order in `dt`, and stable while dt < 2 R_T C, which is minutes for a motor. In float32 a step that warms by
    less than half the last digit of the rise is lost: with small steps a heavy winding ends its warming early.
    """

    def init(self, params: LumpedThermalParams) -> LumpedThermalState:
        return LumpedThermalState(jnp.zeros_like(params.thermal_capacitance))

    def step(
        self,
        state: LumpedThermalState,
        params: LumpedThermalParams,
        ctrl: Scalar,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> tuple[LumpedThermalState, Scalar]:
        del qpos, qvel
        flow = ready(ctrl - state.temperature_rise / params.thermal_resistance, state.temperature_rise)
        after = LumpedThermalState(state.temperature_rise + dt / params.thermal_capacitance * flow)
        return after, self.temperature(after, params)

    def heated(self, state: LumpedThermalState, params: LumpedThermalParams, winding: Any) -> Any:
        warmth = self.temperature(state, params) - params.reference_temperature
        hot = winding.resistance * (1 + params.temperature_coefficient * warmth)
        return eqx.tree_at(lambda w: w.resistance, winding, hot)

    def at_ambient(self, params: LumpedThermalParams, ambient: Scalar | None) -> LumpedThermalParams:
        if ambient is None:
            return params
        return eqx.tree_at(lambda p: p.ambient_temperature, params, as_parameter(ambient))

    def temperature(self, state: LumpedThermalState, params: LumpedThermalParams) -> Scalar:
        return state.temperature_rise + params.ambient_temperature
