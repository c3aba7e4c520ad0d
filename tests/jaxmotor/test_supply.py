"""Winding current is not supply current."""

import jax
import jax.numpy as jnp
import pytest

import jaxmotor as jm


def run(drive, command, speed, bus, resistance, constant):
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic()), drive, supply=jm.FixedSupply())
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(resistance, constant, constant)), supply=jm.FixedSupplyParams(bus)
    )
    values = (jnp.asarray(float(x)) for x in (command, 0.0, speed, 1e-3))
    _, out = jax.jit(actuator.step)(actuator.init(params), params, *values)
    return out


@pytest.mark.parametrize(("volts", "amperes"), [(0.0, -12.0), (6.0, 0.0), (3.0, -6.0)])
def test_current_at_zero_volts(volts, amperes):
    """Case P09: a shorted motor brakes, at no cost to the supply."""
    out = run(jm.VoltageDrive(), volts, 300.0, 24.0, 0.5, 0.02)
    assert float(out.current) == pytest.approx(amperes)
    assert float(out.joint_torque) == pytest.approx(0.02 * amperes)
    assert float(out.supply_current) == pytest.approx(volts / 24 * amperes)


@pytest.mark.parametrize(
    ("volts", "speed", "winding", "supply"),
    [(12.0, 100.0, 14.0, 7.0), (-12.0, -100.0, -14.0, 7.0), (2.0, 100.0, -6.0, -0.5)],
)
def test_winding_current_is_not_battery_current(volts, speed, winding, supply):
    """Case P10, by voltage and by duty: power is the same on both sides of the bridge."""
    for drive, command in ((jm.VoltageDrive(), volts), (jm.DutyDrive(), volts / 24)):
        out = run(drive, command, speed, 24.0, 0.5, 0.05)
        assert float(out.current) == pytest.approx(winding)
        assert float(out.supply_current) == pytest.approx(supply)
        assert float(out.supply_current) * 24 == pytest.approx(float(out.voltage * out.current))


def test_bus_bounds_the_terminals_and_says_so():
    out = run(jm.VoltageDrive(), 30.0, 0.0, 24.0, 0.5, 0.05)
    assert float(out.voltage) == 24.0
    assert int(out.saturation) == jm.Saturation.VOLTAGE
    assert int(run(jm.VoltageDrive(), 24.0, 0.0, 24.0, 0.5, 0.05).saturation) == jm.Saturation.NONE
    dead = run(jm.DutyDrive(), 1.0, 10.0, 0.0, 0.5, 0.05)
    assert float(dead.voltage) == 0.0
    assert float(dead.supply_current) == 0.0


def test_a_duty_needs_a_bus():
    with pytest.raises(ValueError, match="FixedSupply"):
        jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.DutyDrive())
