"""Units: SI whatever the header says, and refusal of what does not fit."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sysid._errors import LogError
from sysid._units import CHANNEL_UNITS, is_count, is_unit, target_unit, to_si


@pytest.mark.parametrize(
    ("unit", "channel", "expected"),
    [
        ("rpm", "velocity", math.pi / 30.0),
        ("RPM", "velocity", math.pi / 30.0),
        ("rev/min", "velocity", math.pi / 30.0),
        ("deg/s", "velocity", math.pi / 180.0),
        ("°/s", "velocity", math.pi / 180.0),
        ("rad s^-1", "velocity", 1.0),
        ("rad.s^-1", "velocity", 1.0),
        ("rad·s⁻¹", "velocity", 1.0),
        ("krpm", "velocity", 1000.0 * math.pi / 30.0),
        ("turn", "position", 2.0 * math.pi),
        ("mV", "voltage", 1e-3),
        ("mA", "current", 1e-3),
        ("µs", "time", 1e-6),
        ("μs", "time", 1e-6),
        ("msec", "time", 1e-3),
        ("min", "time", 60.0),
        ("%", "duty", 0.01),
        ("mNm", "torque", 1e-3),
        ("N·m", "torque", 1.0),
        ("N m", "torque", 1.0),
        ("Ncm", "torque", 1e-2),
        ("oz-in", "torque", 0.27801385095378125 * 0.0254),
        ("kgf*cm", "torque", 0.0980665),
        ("rpm", "command", math.pi / 30.0),
        ("mA", "command", 1e-3),
    ],
)
def test_factor(unit: str, channel: str, expected: float) -> None:
    assert to_si(np.array([2.0]), unit, channel)[0] == pytest.approx(2.0 * expected, rel=1e-9)


def test_published_conversions() -> None:
    assert to_si(np.array([3000.0]), "rpm", "velocity")[0] == pytest.approx(314.159, abs=5e-4)
    assert to_si(np.array([380.0]), "deg", "position")[0] == pytest.approx(6.632, abs=5e-4)


@pytest.mark.parametrize(
    ("unit", "value", "celsius"), [("degC", 25.0, 25.0), ("C", -3.0, -3.0), ("K", 300.0, 26.85), ("degF", 212.0, 100.0)]
)
def test_temperature(unit: str, value: float, celsius: float) -> None:
    assert to_si(np.array([value]), unit, "temperature")[0] == pytest.approx(celsius, abs=1e-9)


@pytest.mark.parametrize(
    ("unit", "channel"),
    [
        ("Hz", "velocity"),
        ("1/s", "velocity"),
        ("V", "current"),
        ("rad", "velocity"),
        ("nonsense", "voltage"),
        ("s", "command"),
    ],
)
def test_misfit_is_refused_with_the_way_out(unit: str, channel: str) -> None:
    with pytest.raises(LogError, match=r"--columns"):
        to_si(np.ones(1), unit, channel)


@pytest.mark.parametrize("unit", ["9**9**9**9", "__import__('os')", "V^99999", "a" * 500, "rad/s;import os", ""])
def test_a_strangers_text_is_harmless(unit: str) -> None:
    assert is_unit(unit) is (unit == "")


def test_counts_need_their_turn() -> None:
    assert is_count("ticks")
    assert not is_count("rad")
    assert not is_count(None)
    assert to_si(np.array([1024.0]), "counts", "position", 4096.0)[0] == pytest.approx(math.pi / 2.0)
    assert to_si(np.array([4096.0]), "counts/s", "velocity", 4096.0)[0] == pytest.approx(2.0 * math.pi)
    with pytest.raises(LogError, match="--counts-per-turn"):
        to_si(np.ones(1), "counts", "position")


def test_every_channel_takes_its_own_unit() -> None:
    for channel, unit in CHANNEL_UNITS.items():
        assert target_unit(channel, unit) == unit


@given(
    st.floats(-1e6, 1e6), st.sampled_from([("rpm", "velocity"), ("deg", "position"), ("mV", "voltage"), ("ms", "time")])
)
def test_conversion_is_linear(value: float, unit: tuple[str, str]) -> None:
    one = to_si(np.array([1.0]), *unit)[0]
    assert to_si(np.array([value]), *unit)[0] == pytest.approx(value * one, rel=1e-12)
