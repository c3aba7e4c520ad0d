"""Pictures: axes with units, and curves that hold the numbers they claim."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor import plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


ROWS = {"convention": "terminal", "nominal_voltage_V": 24.0, "resistance_ohm": 0.6, "torque_constant_mNm_per_A": 40.0}


def labelled(axes):
    assert "[" in axes.get_xlabel()
    assert "[" in axes.get_ylabel()
    return [np.asarray(line.get_xydata()) for line in axes.get_lines()]


def test_lines_of_torque_and_speed():
    lines = labelled(plot.torque_speed_lines(*jm.from_datasheet(**ROWS), 24.0))
    np.testing.assert_allclose(lines[0], [[0, 1.6], [600, 0]])
    assert len(lines) == 4


def test_envelope_of_a_geared_motor_with_friction():
    actuator, params = jm.from_datasheet(
        **ROWS, gear_ratio=-10.0, peak_current_A=20.0, coulomb_friction_mNm=5.0, viscous_friction_mNm_per_krpm=1.0
    )
    upper, lower, *_ = labelled(plot.torque_speed_envelope(actuator, params, 24.0))
    speed, torque = upper.T
    viscous = 1e-3 / (1000 * 2 * np.pi / 60)
    clipped = np.minimum(0.04 / 0.6 * (24 - 0.04 * 10 * speed), 0.04 * 20)
    clipped = np.maximum(clipped, -0.04 * 20)
    expected = 10 * clipped - 100 * viscous * speed - np.sign(speed) * 0.05
    np.testing.assert_allclose(torque, expected, atol=1e-9)
    np.testing.assert_allclose(lower[::-1, 1], -torque, atol=1e-9)


@pytest.mark.parametrize("gear", ["lossy", "play"])
def test_envelope_of_other_gears(gear):
    actuator, params = jm.from_datasheet(
        **ROWS, gear_ratio=10.0, rotor_inertia_gcm2=100.0, gear_efficiency_percent=80.0,
        gear_backdriving_efficiency_percent=60.0,
    )  # fmt: skip
    if gear == "play":
        actuator = jm.Actuator(actuator.motor, actuator.controller, gear=jm.Backlash())
        params = jm.ActuatorParams(params.motor, gear=jm.BacklashParams(10.0, 1e-5, 0.01, 100.0))
    upper = labelled(plot.torque_speed_envelope(actuator, params, 24.0))[0]
    stall = np.interp(1e-3, *upper.T)
    assert stall == pytest.approx(16 * (0.8 if gear == "lossy" else 1.0), rel=1e-3)


def test_thermal_responses():
    one = labelled(plot.thermal_step_response(jm.LumpedThermal(), jm.LumpedThermalParams(4.0, 50.0), 10.0, 2000.0))
    assert one[0][-1, 1] == pytest.approx(65.0, abs=0.01)
    params = jm.TwoNodeThermalParams(2.0, 4.65, 16.8, 152.0)
    two = labelled(plot.thermal_step_response(jm.TwoNodeThermal(), params, 8.0, 8000.0))
    assert two[0][-1, 1] == pytest.approx(25 + 6.65 * 8, abs=0.1)
    assert two[1][-1, 1] == pytest.approx(25 + 4.65 * 8, abs=0.1)


def test_friction_curves():
    params = jm.LuGreParams(1e3, 0.5, 0.05, 0.09, 0.5)
    drag = {"drag": jm.ViscousDrag(), "drag_params": jm.ViscousDragParams(0.008)}
    negative, _, positive, *_ = labelled(plot.stribeck_curve(jm.LuGre(), params, 3.0, **drag))
    w, torque = positive.T
    np.testing.assert_allclose(torque, -(0.05 + 0.04 * np.exp(-((w / 0.5) ** 2))) - 0.008 * w, rtol=1e-6)
    np.testing.assert_allclose(negative[:, 1], -torque, rtol=1e-12)
    loop = labelled(plot.hysteresis_loop(jm.Dahl(), jm.DahlParams(20.0, 0.05), 0.02))[0]
    assert np.abs(loop[:, 1]).max() == pytest.approx(0.05, rel=1e-3)


def test_time_trace():
    actuator, params = jm.from_datasheet(**ROWS, thermal_resistance_K_per_W=6.0, thermal_time_constant_s=30.0)
    bench = jm.Bench(actuator, jm.RigidLoad())
    both = jm.BenchParams(params, jm.RigidLoadParams(1e-4))
    _, out = jm.rollout(bench, bench.init(both), both, jnp.full(50, 5.0), 1e-3)
    figure = plot.time_trace(out, 1e-3)
    assert [a.get_ylabel() for a in figure.axes][-1] == "temperature [degC]"
    assert len(figure.axes) == 6
    np.testing.assert_allclose(figure.axes[1].get_lines()[0].get_ydata(), out.qvel)
    assert len(plot.time_trace(out.actuator, np.full(50, 1e-3)).axes) == 4
