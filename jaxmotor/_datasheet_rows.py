"""The rows of a datasheet one by one, before they are held against each other."""

import math
from collections.abc import Mapping

_ANY_SIGN = {
    "gear_ratio",
    "gear_backdriving_efficiency_percent",
    "cogging_amplitude_mNm",
    "speed_torque_gradient_rpm_per_mNm",
    "resistance_temperature_coefficient_per_K",
    "reference_temperature_degC",
    "ambient_temperature_degC",
    "maximum_winding_temperature_degC",
}
_ZERO_TOO = {
    "no_load_current_mA",
    "coulomb_share",
    "coulomb_friction_mNm",
    "viscous_friction_mNm_per_krpm",
}
_INFINITE_TOO = {"bus_voltage_V", "peak_current_A", "thermal_resistance_K_per_W"}
_NEEDS = {
    "gear_backdriving_efficiency_percent": ("gear_efficiency_percent",),
    "cogging_periods_per_turn": ("cogging_amplitude_mNm",),
    "cogging_amplitude_mNm": ("cogging_periods_per_turn",),
    "winding_housing_thermal_resistance_K_per_W": ("housing_ambient_thermal_resistance_K_per_W",),
    "housing_ambient_thermal_resistance_K_per_W": ("winding_housing_thermal_resistance_K_per_W",),
    "housing_thermal_time_constant_s": ("winding_housing_thermal_resistance_K_per_W",),
}


def check_rows(rows: Mapping[str, float | None]) -> None:
    """Refuse numbers that no motor has, and rows that mean nothing without another one; `None` is a row not given.

    **Raises:** `ValueError` naming the row.
    """
    for name, value in rows.items():
        if value is None:
            continue
        if isinstance(value, str) or (not math.isfinite(value) and not (value > 0 and name in _INFINITE_TOO)):
            raise ValueError(f"{name}={value!r} must be a finite number; leave the row out where the sheet has none")
        if name not in _ANY_SIGN and not (value > 0 or (value == 0 and name in _ZERO_TOO)):
            wanted = "not be negative" if name in _ZERO_TOO else "be positive"
            raise ValueError(f"{name}={value!r} must {wanted}; leave the row out where the sheet has none")
        for other in _NEEDS.get(name, ()):
            if rows[other] is None:
                raise ValueError(f"{name} needs {other}")


def implied_resistance(
    volts: float,
    stall_torque: float | None,
    gradient: float | None,
    torque_constant: float | None,
    back_emf_constant: float | None,
    no_load_speed: float | None,
    no_load_current: float,
) -> tuple[str, float | None]:
    """Where the resistance [ohm] of a sheet without resistance and stall current follows from, and its value or `None`.

    R = K v / tau0 or R = |dw/dtau| K^2 (MuJoCo DC motor note, "Datasheet Mapping"), with the torque constant where it
    is given, else the back-EMF constant, else the no-load speed: K w0 = v - R i0.
    """
    kt, ke = torque_constant or back_emf_constant, back_emf_constant or torque_constant
    if stall_torque is not None:
        if kt is not None:
            return "stall torque and motor constant", kt * volts / stall_torque
        if no_load_speed is not None:
            return "stall torque and no-load speed", volts**2 / (no_load_speed * stall_torque + no_load_current * volts)
    if gradient is not None:
        slope = abs(gradient)
        if kt is not None and ke is not None:
            return "speed-torque gradient and motor constant", slope * kt * ke
        if no_load_speed is not None:
            root = math.sqrt(no_load_speed**2 + 4 * slope * no_load_current * volts)
            return "speed-torque gradient and no-load speed", slope * (2 * volts / (no_load_speed + root)) ** 2
    return "", None
