"""The thermal rows of a datasheet."""

import math

from ._datasheet_numbers import Reading, compare, quotient, same
from ._lumped_thermal import LumpedThermal, LumpedThermalParams
from ._thermal import Isothermal
from ._two_node_thermal import TwoNodeThermal, TwoNodeThermalParams


def thermal_stage(total, inner, outer, capacitance, time_constant, housing_time_constant, temperatures):
    if inner is not None and outer is not None:
        same("thermal_resistance_K_per_W", total, "the sum of winding and housing resistances", inner + outer)
        if housing_time_constant is not None:
            one = Reading("winding thermal capacitance", "J/K").add("thermal_capacitance_J_per_K", capacitance)
            one.add("time constant", quotient(time_constant, inner))
            node = one.settled()
            two = housing_time_constant / outer
            return TwoNodeThermal(), TwoNodeThermalParams(inner, outer, node, two, **temperatures)
        total = inner + outer
    if total is None or (capacitance is None and time_constant is None):
        if not (total is None and capacitance is None and time_constant is None):
            raise ValueError("heat needs a thermal resistance and either thermal capacitance or time constant")
        return Isothermal(), None
    heat = Reading("thermal capacitance", "J/K").add("thermal_capacitance_J_per_K", capacitance)
    heat.add("thermal time constant and resistance", quotient(time_constant, total))
    return LumpedThermal(), LumpedThermalParams(total, heat.settled(), **temperatures)


def check_nominal_heat(current, resistance, thermal_params, maximum):
    """Warn of a nominal current that would heat the winding beyond its limit."""
    if current is None or maximum is None or thermal_params is None:
        return
    if isinstance(thermal_params, LumpedThermalParams):
        total = float(thermal_params.thermal_resistance)
    else:
        total = float(thermal_params.winding_thermal_resistance + thermal_params.housing_thermal_resistance)
    ambient = float(thermal_params.ambient_temperature)
    if maximum <= ambient:
        raise ValueError(f"maximum_winding_temperature_degC={maximum:g} is not above the ambient {ambient:g} degC")
    hot = 1 + float(thermal_params.temperature_coefficient) * (maximum - float(thermal_params.reference_temperature))
    if hot <= 0:
        raise ValueError("resistance_temperature_coefficient_per_K makes the hot resistance negative: lower it")
    heat = (maximum - ambient) / total
    sustained = math.sqrt(heat / (resistance * hot))
    # A lower one is caution: mounting, iron loss and the rotor's own limit are not on the sheet.
    if current > sustained:
        compare("nominal current", current, "what heats the winding to its limit", sustained, "A")
