"""Two thermal nodes: the winding in its housing, the housing in the room."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, as_parameter, nonnegative, positive, real
from ._stage import Scalar
from ._thermal import AbstractThermal


class TwoNodeThermalParams(eqx.Module):
    """`winding_thermal_resistance` R1 [K/W] from winding to housing and `housing_thermal_resistance` R2 [K/W] from
    housing to room; `winding_thermal_capacitance` C1, `housing_thermal_capacitance` C2 [J/K]; `iron_loss` K_fe
    [W s^2/rad^2]; `temperature_coefficient` alpha [1/K] of the resistance and `magnet_temperature_coefficient`
    alpha_m [1/K] of torque and back-EMF constant (negative for magnets), both from `reference_temperature` T0 [degC];
    `ambient_temperature` Ta [degC]."""

    winding_thermal_resistance: Parameter = positive("K/W")
    housing_thermal_resistance: Parameter = positive("K/W")
    winding_thermal_capacitance: Parameter = positive("J/K")
    housing_thermal_capacitance: Parameter = positive("J/K")
    iron_loss: Parameter = nonnegative("W s^2/rad^2", default=0.0)
    temperature_coefficient: Parameter = real("1/K", default=0.0)
    magnet_temperature_coefficient: Parameter = real("1/K", default=0.0)
    reference_temperature: Parameter = real("degC", default=25.0)
    ambient_temperature: Parameter = real("degC", default=25.0)


class TwoNodeThermalState(eqx.Module):
    """Rise over the room of the winding, `temperature_rise`, and of the housing, `housing_rise` [K]."""

    temperature_rise: Scalar
    housing_rise: Scalar


class TwoNodeThermal(AbstractThermal):
    """C1 dT1/dt = P - (T1 - T2) / R1, C2 dT2/dt = K_fe w^2 + (T1 - T2) / R1 - T2 / R2, with the copper loss P in the
    winding and the iron loss in the housing (MuJoCo DC motor note, "Thermal Model", R_th1 and R_th2, and "Losses").

    R(T) = R0 (1 + alpha (T1 - T0)) with the winding's temperature, K(T) = K0 (1 + alpha_m (T2 - T0)) for Kt and Ke with
    the housing's, where the magnets sit ("Temperature-Dependent Resistance", "Magnet Flux Derating"). The step is the
    trapezoidal rule with the heat of its start: second order in held heat, stable for every `dt`.
    """

    def init(self, params: TwoNodeThermalParams) -> TwoNodeThermalState:
        cold = jnp.zeros_like(params.winding_thermal_capacitance)
        return TwoNodeThermalState(cold, cold)

    def step(
        self,
        state: TwoNodeThermalState,
        params: TwoNodeThermalParams,
        ctrl: Scalar,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> tuple[TwoNodeThermalState, Scalar]:
        del qpos
        exchange, escape = 1 / params.winding_thermal_resistance, 1 / params.housing_thermal_resistance
        through = (state.temperature_rise - state.housing_rise) * exchange
        gain_winding = dt * (ctrl - through)
        gain_housing = dt * (params.iron_loss * jnp.square(qvel) + through - state.housing_rise * escape)
        # (C + h/2 G) x = gain, a symmetric pair of equations for the two changes of temperature.
        coupling = dt / 2 * exchange
        one = params.winding_thermal_capacitance + coupling
        two = params.housing_thermal_capacitance + coupling + dt / 2 * escape
        determinant = one * two - coupling**2
        after = TwoNodeThermalState(
            state.temperature_rise + (two * gain_winding + coupling * gain_housing) / determinant,
            state.housing_rise + (one * gain_housing + coupling * gain_winding) / determinant,
        )
        return after, self.temperature(after, params)

    def heated(self, state: TwoNodeThermalState, params: TwoNodeThermalParams, winding: Any) -> Any:
        above = params.ambient_temperature - params.reference_temperature
        hot = 1 + params.temperature_coefficient * (state.temperature_rise + above)
        weak = 1 + params.magnet_temperature_coefficient * (state.housing_rise + above)
        return eqx.tree_at(
            lambda w: (w.resistance, w.torque_constant, w.back_emf_constant),
            winding,
            (winding.resistance * hot, winding.torque_constant * weak, winding.back_emf_constant * weak),
        )

    def at_ambient(self, params: TwoNodeThermalParams, ambient: Scalar | None) -> TwoNodeThermalParams:
        if ambient is None:
            return params
        return eqx.tree_at(lambda p: p.ambient_temperature, params, as_parameter(ambient))

    def temperature(self, state: TwoNodeThermalState, params: TwoNodeThermalParams) -> Scalar:
        return state.temperature_rise + params.ambient_temperature

    def housing_temperature(self, state: TwoNodeThermalState, params: TwoNodeThermalParams) -> Scalar:
        """Housing temperature [degC] at this instant."""
        return state.housing_rise + params.ambient_temperature
