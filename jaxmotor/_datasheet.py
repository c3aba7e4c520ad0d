"""From the rows of a motor datasheet, in the units that datasheets use, to an actuator."""

import math
from typing import Any

import jax.numpy as jnp

from ._actuator import Actuator, ActuatorParams
from ._cogging import Cogging, CoggingParams, NoCogging
from ._controller import AbstractController, VoltageDrive
from ._current_limit import CurrentLimit, CurrentLimitParams, NoCurrentLimit
from ._datasheet_heat import check_nominal_heat, thermal_stage
from ._datasheet_numbers import RPM, Reading, compare, no_load_friction, quotient, same, scaled
from ._datasheet_rows import check_rows, implied_resistance
from ._drag import NoDrag, ViscousDrag, ViscousDragParams
from ._dry_friction import CoulombFriction, CoulombFrictionParams, NoDryFriction
from ._gear import Gear, GearParams
from ._lossy_gear import LossyGear, LossyGearParams
from ._motor import Motor, MotorParams
from ._motor_figures import motor_figures
from ._parameter import check_params
from ._supply import FixedSupply, FixedSupplyParams, IdealSupply
from ._winding import Inductive, InductiveParams, QuasiStatic, QuasiStaticParams

# Resistance and inductance, back-EMF constant, torque constant and currents of the motor of two terminals that has the
# same power, loss and torque as a star of three sinusoidal phases stated by amplitudes per phase.
_AS_TERMINAL = {
    "terminal": (1.0, 1.0, 1.0, 1.0),
    "line-to-line": (1.0, 1.0, 1.0, 1.0),
    "phase": (2.0, math.sqrt(3), 2 / math.sqrt(3), math.sqrt(3) / 2),
}

# What a sheet does not print.
_DRIVE = ("controller", "controller_params")


def from_datasheet(
    *,
    convention: str,
    nominal_voltage_V: float,
    resistance_ohm: float | None = None,
    torque_constant_mNm_per_A: float | None = None,
    back_emf_constant_V_per_krpm: float | None = None,
    speed_constant_rpm_per_V: float | None = None,
    no_load_speed_rpm: float | None = None,
    no_load_current_mA: float | None = None,
    stall_torque_mNm: float | None = None,
    stall_current_A: float | None = None,
    nominal_current_A: float | None = None,
    nominal_torque_mNm: float | None = None,
    peak_current_A: float | None = None,
    coulomb_share: float | None = None,
    coulomb_friction_mNm: float | None = None,
    viscous_friction_mNm_per_krpm: float | None = None,
    rotor_inertia_gcm2: float | None = None,
    speed_torque_gradient_rpm_per_mNm: float | None = None,
    mechanical_time_constant_ms: float | None = None,
    gear_ratio: float = 1.0,
    gear_efficiency_percent: float | None = None,
    gear_backdriving_efficiency_percent: float | None = None,
    cogging_amplitude_mNm: float | None = None,
    cogging_periods_per_turn: float | None = None,
    inductance_mH: float | None = None,
    electrical_time_constant_ms: float | None = None,
    thermal_resistance_K_per_W: float | None = None,
    winding_housing_thermal_resistance_K_per_W: float | None = None,
    housing_ambient_thermal_resistance_K_per_W: float | None = None,
    thermal_capacitance_J_per_K: float | None = None,
    thermal_time_constant_s: float | None = None,
    housing_thermal_time_constant_s: float | None = None,
    resistance_temperature_coefficient_per_K: float = 0.0039,
    reference_temperature_degC: float = 25.0,
    ambient_temperature_degC: float = 25.0,
    maximum_winding_temperature_degC: float | None = None,
    bus_voltage_V: float | None = None,
    controller: AbstractController | None = None,
    controller_params: Any = None,
) -> tuple[Actuator, ActuatorParams]:
    """An actuator from the rows of a datasheet (MuJoCo DC motor note, "Datasheet Mapping").

    Rows may be left out as long as resistance, torque constant and back-EMF constant follow from the others; the most
    direct row wins. Friction, inertia, gear, inductance and heat are there where their rows are.

    **Arguments:**

    - `convention`: of resistance, inductance, constants and currents. "terminal" for a motor with two terminals,
      "line-to-line" for a brushless motor stated between two lines (the same thing to the drive), "phase" for
      amplitudes per phase of a star with sinusoidal back-EMF, torque constant per amplitude of phase current.
    - `no_load_current_mA` needs one of `coulomb_share`, `coulomb_friction_mNm`, `viscous_friction_mNm_per_krpm`.
    - `coulomb_friction_mNm` and viscous friction are the motor's own, before the gear.
    - `gear_efficiency_percent` needs `gear_backdriving_efficiency_percent`, which may be 0 for a gear that locks.
    - Without `resistance_ohm` and `stall_current_A`, resistance follows from stall torque or speed-torque gradient.
    - `nominal_current_A` and `maximum_winding_temperature_degC` are thermal: they are checked, not enforced.
      `peak_current_A` is the driver's limit.
    - `bus_voltage_V`: of a bus behind the drive; without, the terminals get whatever the drive asks.
    - `controller`: a `VoltageDrive` if left out.

    **Returns:** the actuator and its params in SI units.

    **Raises:** `ValueError` for rows that contradict each other or leave a constant open. Rows that merely disagree
    (constants, stall torque, gradient, time constants) are a `DatasheetWarning` with their ratio.
    """
    check_rows({name: value for name, value in locals().items() if name not in ("convention", *_DRIVE)})
    if convention not in _AS_TERMINAL:
        raise ValueError(f"convention={convention!r} must be one of {', '.join(map(repr, _AS_TERMINAL))}")
    in_series, emf, per_ampere, current = _AS_TERMINAL[convention]
    volts = float(nominal_voltage_V)
    stall_current, stall_torque = scaled(stall_current_A, current), scaled(stall_torque_mNm, 1e-3)
    no_load_current, no_load_speed = scaled(no_load_current_mA, 1e-3 * current), scaled(no_load_speed_rpm, RPM)
    if no_load_current is not None and stall_current is not None and no_load_current >= stall_current:
        raise ValueError("no_load_current_mA is not below stall_current_A")
    if nominal_current_A is not None and peak_current_A is not None and nominal_current_A > peak_current_A:
        raise ValueError("nominal_current_A is above peak_current_A")

    given_kt = scaled(torque_constant_mNm_per_A, 1e-3 * per_ampere)
    from_speed = quotient(1.0, scaled(speed_constant_rpm_per_V, RPM))
    given_ke = scaled(back_emf_constant_V_per_krpm, 1 / (1000 * RPM))
    same("back_emf_constant_V_per_krpm", given_ke, "speed_constant_rpm_per_V", from_speed)

    by_stall = quotient(volts, stall_current)
    resistance = Reading("resistance", "ohm").add("resistance_ohm", resistance_ohm, in_series)
    resistance.add("nominal voltage and stall current", by_stall)
    gradient = scaled(speed_torque_gradient_rpm_per_mNm, RPM / 1e-3)
    if not resistance.values:
        stated_ke = scaled(given_ke or from_speed, emf)
        idle = no_load_current or 0.0
        resistance.add(*implied_resistance(volts, stall_torque, gradient, given_kt, stated_ke, no_load_speed, idle))
    r = resistance.settled()
    assert r is not None
    lost = r * (no_load_current or 0.0)
    back_emf = Reading("back-EMF constant", "V s/rad")
    back_emf.add("back_emf_constant_V_per_krpm", given_ke, emf)
    back_emf.add("speed_constant_rpm_per_V", from_speed, emf)
    back_emf.add("no-load speed", quotient(volts - lost, no_load_speed))
    torque = Reading("torque constant", "N m/A")
    torque.add("torque_constant_mNm_per_A", given_kt)
    torque.add("stall torque and stall current", quotient(stall_torque, stall_current))
    torque.add("stall torque and resistance", stall_torque, r / volts)
    nominal_current = scaled(nominal_current_A, current)
    if not torque.values and not back_emf.values and nominal_current is not None:
        loaded = nominal_current - (no_load_current or 0.0)
        torque.add("nominal torque and current", quotient(scaled(nominal_torque_mNm, 1e-3), loaded))
    kt, ke = torque.settled(required=False), back_emf.settled(required=False)
    if kt is None and ke is None:
        raise ValueError("no row determines the torque constant or the back-EMF constant")
    kt, ke = kt or ke, ke or kt
    assert kt is not None
    assert ke is not None
    compare("torque constant Kt", kt, "back-EMF constant Ke is", ke, "N m/A")

    slope = r / (kt * ke)
    inertia = Reading("rotor inertia", "kg m^2").add("rotor_inertia_gcm2", scaled(rotor_inertia_gcm2, 1e-7))
    inertia.add("mechanical time constant", scaled(mechanical_time_constant_ms, 1e-3 / slope))
    j = inertia.settled(required=False) or 0.0
    winding_params = QuasiStaticParams(r, kt, ke)
    figures = motor_figures(winding_params, jnp.asarray(j), jnp.asarray(volts))
    if gradient is not None:
        compare("speed-torque gradient", abs(gradient), "R / (Kt Ke)", slope, "rad/s per N m")
    if stall_torque is not None and torque_constant_mNm_per_A is None:
        compare("stall torque", stall_torque, "Kt v / R", float(figures.stall_torque), "N m")
    if nominal_torque_mNm is not None and nominal_current is not None:
        loss = kt * (no_load_current or 0.0)
        compare("nominal torque", nominal_torque_mNm * 1e-3, "Kt (i_n - i_0)", kt * nominal_current - loss, "N m")

    coulomb, viscous = no_load_friction(
        scaled(no_load_current, kt),
        coulomb_share,
        scaled(coulomb_friction_mNm, 1e-3),
        scaled(viscous_friction_mNm_per_krpm, 1e-3 / (1000 * RPM)),
        no_load_speed,
    )
    inductance = Reading("inductance", "H").add("inductance_mH", scaled(inductance_mH, 1e-3 * in_series))
    inductance.add("electrical time constant", scaled(electrical_time_constant_ms, 1e-3), r)
    henry = inductance.settled(required=False)
    winding = QuasiStatic() if henry is None else Inductive()
    own = winding_params if henry is None else InductiveParams(r, kt, ke, henry)
    thermal, thermal_params = thermal_stage(
        thermal_resistance_K_per_W,
        winding_housing_thermal_resistance_K_per_W,
        housing_ambient_thermal_resistance_K_per_W,
        thermal_capacitance_J_per_K,
        thermal_time_constant_s,
        housing_thermal_time_constant_s,
        {
            "temperature_coefficient": resistance_temperature_coefficient_per_K,
            "reference_temperature": reference_temperature_degC,
            "ambient_temperature": ambient_temperature_degC,
        },
    )
    check_nominal_heat(nominal_current, r, thermal_params, maximum_winding_temperature_degC)
    cogs = cogging_amplitude_mNm is not None
    gear, gear_params = _gear(gear_ratio, j, gear_efficiency_percent, gear_backdriving_efficiency_percent)
    peak = scaled(peak_current_A, current)
    actuator = Actuator(
        Motor(winding, thermal, cogging=Cogging() if cogs else NoCogging()),
        controller or VoltageDrive(),
        supply=IdealSupply() if bus_voltage_V is None else FixedSupply(),
        gear=gear,
        drag=ViscousDrag() if viscous else NoDrag(),
        dry_friction=CoulombFriction() if coulomb else NoDryFriction(),
        current_limit=NoCurrentLimit() if peak is None else CurrentLimit(),
    )
    cogging_params = CoggingParams((cogging_amplitude_mNm or 0) * 1e-3, cogging_periods_per_turn) if cogs else None
    params = ActuatorParams(
        MotorParams(own, thermal_params, cogging=cogging_params),
        controller_params,
        supply=None if bus_voltage_V is None else FixedSupplyParams(bus_voltage_V),
        gear=gear_params,
        drag=ViscousDragParams(viscous) if viscous else None,
        dry_friction=CoulombFrictionParams(coulomb * abs(gear_ratio)) if coulomb else None,
        current_limit=None if peak is None else CurrentLimitParams(peak),
    )
    check_params(params)
    return actuator, params


def _gear(ratio, inertia, efficiency, backdriving):
    if efficiency is None:
        return Gear(), GearParams(ratio, inertia)
    if backdriving is None:
        ideal = 200 - 1e4 / efficiency
        raise ValueError(
            "gear_efficiency_percent needs gear_backdriving_efficiency_percent, which datasheets rarely print: for "
            f"equal tooth losses both ways it is 200 - 10000 / efficiency = {ideal:.1f}, and 0 locks"
        )
    if not inertia:
        raise ValueError("gear_efficiency_percent needs rotor_inertia_gcm2 or mechanical_time_constant_ms")
    return LossyGear(), LossyGearParams(ratio, inertia, efficiency / 100, backdriving / 100)
