"""Datasheets: numbers that follow, numbers that disagree, numbers that cannot be."""

import math
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

RPM = 2 * math.pi / 60
STALLED = {"nominal_voltage_V": 12.0, "no_load_speed_rpm": 400 / RPM, "stall_current_A": 20.0}


def build(**rows):
    return jm.from_datasheet(**({"convention": "terminal"} | rows))


def test_constants_that_disagree_are_a_warning_with_the_ratio():
    """Case P12."""
    with pytest.warns(jm.DatasheetWarning, match=r"ratio 0\.667") as caught:
        _, params = build(**STALLED, stall_torque_mNm=400.0)
    assert len(caught) == 1
    winding = params.motor.winding
    assert float(winding.back_emf_constant) == pytest.approx(0.03)
    assert float(winding.torque_constant) == pytest.approx(0.02)
    assert float(winding.resistance) == pytest.approx(0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, params = build(**STALLED, stall_torque_mNm=600.0)
    assert float(params.motor.winding.torque_constant) == pytest.approx(0.03)


# A 24 V motor of 70 W: rows as a catalogue prints them, rounded.
FULL = {
    "nominal_voltage_V": 24.0, "no_load_speed_rpm": 5950.0, "no_load_current_mA": 236.0, "coulomb_share": 0.6,
    "nominal_torque_mNm": 134.0, "nominal_current_A": 3.71, "stall_torque_mNm": 1460.0, "stall_current_A": 39.3,
    "resistance_ohm": 0.611, "inductance_mH": 0.119, "torque_constant_mNm_per_A": 38.0,
    "speed_constant_rpm_per_V": 251.0,
    "speed_torque_gradient_rpm_per_mNm": 4.05, "mechanical_time_constant_ms": 5.89, "rotor_inertia_gcm2": 139.0,
    "winding_housing_thermal_resistance_K_per_W": 2.0, "housing_ambient_thermal_resistance_K_per_W": 4.65,
    "thermal_time_constant_s": 33.6, "housing_thermal_time_constant_s": 708.0,
    "maximum_winding_temperature_degC": 155.0, "reference_temperature_degC": 25.0, "peak_current_A": 30.0,
}  # fmt: skip


def test_a_consistent_sheet_is_silent_and_in_si_units():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actuator, params = build(**FULL)
    winding = params.motor.winding
    assert float(winding.resistance) == pytest.approx(0.611)
    assert float(winding.inductance) == pytest.approx(1.19e-4)
    assert float(winding.torque_constant) == pytest.approx(0.038)
    assert float(winding.back_emf_constant) == pytest.approx(1 / (251 * RPM))
    assert float(params.gear.rotor_inertia) == pytest.approx(1.39e-5)
    assert float(params.motor.thermal.winding_thermal_capacitance) == pytest.approx(33.6 / 2.0)
    assert float(params.motor.thermal.housing_thermal_capacitance) == pytest.approx(708 / 4.65)
    no_load_torque = 0.038 * 0.236
    assert float(params.dry_friction.coulomb_friction) == pytest.approx(0.6 * no_load_torque)
    assert float(params.drag.viscous_damping) == pytest.approx(0.4 * no_load_torque / (5950 * RPM))
    figures = jm.motor_figures(winding, params.gear.rotor_inertia, jnp.asarray(24.0))
    assert float(figures.mechanical_time_constant) == pytest.approx(5.89e-3, rel=0.01)
    assert float(figures.stall_torque) == pytest.approx(1.46, rel=0.03)
    assert float(figures.speed_torque_gradient) * 1e-3 / RPM == pytest.approx(-4.05, rel=0.01)
    # The simulated motor runs as fast, and draws as much, as its sheet says.
    bench = jm.Bench(actuator, jm.RigidLoad())
    both = jm.BenchParams(params, jm.RigidLoadParams(0.0))
    # Motion settles in 30 ms, heat in minutes.
    _, out = jm.rollout(bench, bench.init(both), both, jnp.full(300, 24.0), 1e-3)
    assert float(out.qvel[-1]) == pytest.approx(5950 * RPM, rel=0.02)
    assert float(out.actuator.current[-1]) == pytest.approx(0.236, rel=0.01)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stall_current_A": 55.0}, "resistance from nominal voltage and stall current"),
        ({"speed_torque_gradient_rpm_per_mNm": 5.0}, "speed-torque gradient"),
        ({"mechanical_time_constant_ms": 7.0}, "rotor inertia from mechanical time constant"),
        ({"nominal_torque_mNm": 150.0}, "nominal torque"),
        ({"no_load_speed_rpm": 5400.0}, "back-EMF constant from no-load speed"),
        ({"electrical_time_constant_ms": 0.25}, "inductance from electrical time constant"),
        ({"nominal_current_A": 5.5, "nominal_torque_mNm": 200.0}, "nominal current"),
    ],
)
def test_rows_that_disagree(change, words):
    with pytest.warns(jm.DatasheetWarning) as caught:
        build(**(FULL | change))
    assert any(words in str(w.message) and "ratio" in str(w.message) for w in caught), [str(w.message) for w in caught]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"torque_constant_mNm_per_A": 380.0}, "contradicts"),
        ({"back_emf_constant_V_per_krpm": 5.0}, "state one quantity"),
        ({"thermal_resistance_K_per_W": 9.0}, "state one quantity"),
        ({"coulomb_share": None}, "coulomb_share"),
        ({"coulomb_share": 1.4}, "coulomb_share"),
        ({"no_load_current_mA": 50e3}, "not below stall_current_A"),
        ({"peak_current_A": 2.0}, "above peak_current_A"),
        ({"gear_efficiency_percent": 80.0}, "75.0"),
        ({"nominal_voltage_V": 0.0}, "nominal_voltage_V"),
        ({"convention": "star"}, "'phase'"),
        ({"cogging_amplitude_mNm": 1.0}, "cogging_periods_per_turn"),
        ({"cogging_periods_per_turn": 12.0}, "needs cogging_amplitude_mNm"),
        ({"gear_backdriving_efficiency_percent": 50.0}, "needs gear_efficiency_percent"),
        ({"housing_ambient_thermal_resistance_K_per_W": None}, "needs housing_ambient"),
        ({"resistance_ohm": 0.0}, "resistance_ohm=0.0 must be positive"),
        ({"stall_current_A": 0.0}, "stall_current_A=0.0 must be positive"),
        ({"speed_constant_rpm_per_V": 0.0}, "speed_constant_rpm_per_V=0.0 must be positive"),
        ({"no_load_speed_rpm": math.inf}, "no_load_speed_rpm=inf must be a finite number"),
        ({"no_load_current_mA": -1.0}, "no_load_current_mA=-1.0 must not be negative"),
        ({"gear_efficiency_percent": 0.0}, "gear_efficiency_percent=0.0 must be positive"),
        ({"rotor_inertia_gcm2": math.nan}, "rotor_inertia_gcm2=nan must be a finite number"),
        ({"maximum_winding_temperature_degC": 20.0}, "20 is not above the ambient 25"),
    ],
)
def test_contradictions_are_refused(change, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jm.DatasheetWarning)
        with pytest.raises(ValueError, match=words):
            build(**(FULL | change))


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="resistance"):
        build(nominal_voltage_V=24.0, torque_constant_mNm_per_A=38.0)
    with pytest.raises(ValueError, match="torque constant or the back-EMF"):
        build(nominal_voltage_V=24.0, resistance_ohm=1.0)
    with pytest.raises(ValueError, match="no_load_speed_rpm"):
        build(
            nominal_voltage_V=24.0, resistance_ohm=1.0, torque_constant_mNm_per_A=30.0, no_load_current_mA=100.0,
            coulomb_share=1.0,
        )  # fmt: skip


@pytest.mark.parametrize(
    "rows",
    [
        ("stall_torque_mNm", "no_load_speed_rpm"),
        ("stall_torque_mNm", "speed_constant_rpm_per_V"),
        ("stall_torque_mNm", "back_emf_constant_V_per_krpm"),
        ("stall_torque_mNm", "torque_constant_mNm_per_A"),
        ("speed_torque_gradient_rpm_per_mNm", "no_load_speed_rpm"),
        ("speed_torque_gradient_rpm_per_mNm", "torque_constant_mNm_per_A"),
        ("resistance_ohm", "nominal_torque_mNm"),
        ("stall_current_A", "no_load_speed_rpm"),
    ],
)
def test_two_rows_are_enough(rows):
    """The note's mapping both ways: a sheet written from R and K gives them back."""
    r, k, volts, idle = 0.73, 0.041, 21.0, 0.31
    sheet = {
        "resistance_ohm": r,
        "torque_constant_mNm_per_A": 1e3 * k,
        "back_emf_constant_V_per_krpm": 1e3 * RPM * k,
        "speed_constant_rpm_per_V": 1 / (k * RPM),
        "no_load_speed_rpm": (volts - r * idle) / k / RPM,
        "stall_torque_mNm": 1e3 * k * volts / r,
        "stall_current_A": volts / r,
        "speed_torque_gradient_rpm_per_mNm": -1e-3 * r / k**2 / RPM,
        "nominal_torque_mNm": 1e3 * k * (4.0 - idle),
    }
    given = {name: sheet[name] for name in rows}
    if "no_load_speed_rpm" in rows or "nominal_torque_mNm" in rows:
        given |= {"no_load_current_mA": 1e3 * idle, "coulomb_share": 0.5, "nominal_current_A": 4.0}
        given["no_load_speed_rpm"] = sheet["no_load_speed_rpm"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, params = build(nominal_voltage_V=volts, **given)
    winding = params.motor.winding
    np.testing.assert_allclose(
        [winding.resistance, winding.torque_constant, winding.back_emf_constant], [r, k, k], rtol=1e-12
    )


def test_friction_split_by_one_of_the_two():
    rows = {"nominal_voltage_V": 24.0, "resistance_ohm": 0.611, "speed_constant_rpm_per_V": 251.0}
    idle = {"no_load_speed_rpm": 5950.0, "no_load_current_mA": 236.0}
    torque = 0.236 / (251 * RPM)
    _, params = build(**rows, **idle, coulomb_friction_mNm=5.0)
    assert float(params.drag.viscous_damping) == pytest.approx((torque - 0.005) / (5950 * RPM))
    _, params = build(**rows, **idle, viscous_friction_mNm_per_krpm=0.5, gear_ratio=-3.0)
    assert float(params.dry_friction.coulomb_friction) == pytest.approx(3 * (torque - 0.5e-3 * 5.95))
    with pytest.raises(ValueError, match="more than no_load_current_mA leaves"):
        build(**rows, **idle, coulomb_friction_mNm=50.0)


def test_phase_values_give_the_same_motor():
    """A star of three phases of 0.3 ohm and 0.04 V s/rad (amplitude) against its values between two lines."""
    phase_ke, phase_kt = 0.04, 1.5 * 0.04
    _, phase = jm.from_datasheet(
        convention="phase", nominal_voltage_V=24.0, resistance_ohm=0.3, inductance_mH=0.1, peak_current_A=10.0,
        back_emf_constant_V_per_krpm=phase_ke * 1000 * RPM, torque_constant_mNm_per_A=phase_kt * 1e3,
    )  # fmt: skip
    _, line = jm.from_datasheet(
        convention="line-to-line", nominal_voltage_V=24.0, resistance_ohm=0.6, inductance_mH=0.2,
        back_emf_constant_V_per_krpm=math.sqrt(3) * phase_ke * 1000 * RPM,
    )  # fmt: skip
    for name in ("resistance", "inductance", "torque_constant", "back_emf_constant"):
        np.testing.assert_allclose(getattr(phase.motor.winding, name), getattr(line.motor.winding, name), rtol=1e-12)
    # The torque at the driver's limit is that of the phase amplitude.
    peak = float(phase.current_limit.current_limit * phase.motor.winding.torque_constant)
    assert peak == pytest.approx(10 * phase_kt)


def test_gear_bus_and_drive():
    actuator, params = build(
        **FULL, gear_ratio=50.0, gear_efficiency_percent=80.0, gear_backdriving_efficiency_percent=75.0,
        bus_voltage_V=24.0, controller=jm.DutyDrive(),
    )  # fmt: skip
    assert isinstance(actuator.gear, jm.LossyGear)
    assert isinstance(actuator.supply, jm.FixedSupply)
    assert float(params.gear.driving_efficiency) == pytest.approx(0.8)
