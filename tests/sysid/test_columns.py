"""Headers: which column is which channel, and nothing guessed in silence."""

import numpy as np
import pytest

from sysid._columns import choose_columns
from sysid._errors import LogError
from sysid._options import Options, parse_columns
from sysid._table import Column, Table, split_brackets


def table(*headers: str) -> Table:
    columns = []
    for header in headers:
        name, unit = split_brackets(header)
        columns.append(Column(name, np.arange(12.0), unit))
    return Table("log.csv", tuple(columns))


def channels(*headers: str, **options: object) -> dict[str, str]:
    chosen, _ = choose_columns(table(*headers), Options(**options))  # pyright: ignore[reportArgumentType]
    return {channel: choice.label for channel, choice in chosen.items()}


@pytest.mark.parametrize(
    ("header", "channel", "label"),
    [
        ("t", "time", "t [s]"),
        ("time_ms", "time", "time_ms [ms]"),
        ("Time [ms]", "time", "Time [ms]"),
        ("timestamp_us", "time", "timestamp_us [us]"),
        ("U_motor [mV]", "voltage", "U_motor [mV]"),
        ("motor_voltage_V", "voltage", "motor_voltage_V [V]"),
        ("I_motor [mA]", "current", "I_motor [mA]"),
        ("current_mA", "current", "current_mA [mA]"),
        ("Iq (A)", "current", "Iq [A]"),
        ("w", "velocity", "w [rad/s]"),
        ("Speed [deg/s]", "velocity", "Speed [deg/s]"),
        ("motor_speed_rpm", "velocity", "motor_speed_rpm [rpm]"),
        ("speed_rad_s", "velocity", "speed_rad_s [rad/s]"),
        ("motorSpeed_rpm", "velocity", "motorSpeed_rpm [rpm]"),
        ("theta", "position", "theta [rad]"),
        ("joint_angle_deg", "position", "joint_angle_deg [deg]"),
        ("tau", "torque", "tau [N·m]"),
        ("torque_mNm", "torque", "torque_mNm [mNm]"),
        ("T_winding", "temperature", "T_winding [°C]"),
        ("T_housing [K]", "housing_temperature", "T_housing [K]"),
        ("pwm_pct", "duty", "pwm_pct [percent]"),
        ("bus_voltage", "bus_voltage", "bus_voltage [V]"),
        ("vbat [mV]", "bus_voltage", "vbat [mV]"),
        ("battery_current", "supply_current", "battery_current [A]"),
        ("goal_position", "command", "goal_position [rad]"),
        ("target speed [rpm]", "command", "target speed [rpm]"),
        ("torque_enable", "torque_enabled", "torque_enable"),
    ],
)
def test_header(header: str, channel: str, label: str) -> None:
    assert channels(header, "notes", "lap")[channel] == label


@pytest.mark.parametrize("header", ["notes", "T_ambient", "mosfet_temp", "speed_V", "current_limit", "id", "error"])
def test_no_channel(header: str) -> None:
    assert channels(header, "t") == {"time": "t [s]"}


def test_terminal_voltage_wins_over_the_supply_setting() -> None:
    chosen, findings = choose_columns(table("t", "supply_set_V", "terminal_voltage_V", "i"), Options())
    assert chosen["voltage"].label == "terminal_voltage_V [V]"
    told = next(item for item in findings if item.code == "column_chosen")
    assert "supply_set_V" in told.message
    assert told.option == "--columns voltage=COLUMN"


def test_a_lone_supply_setting_is_used_with_a_warning() -> None:
    chosen, findings = choose_columns(table("t", "set_voltage", "i"), Options())
    assert chosen["voltage"].label == "set_voltage [V]"
    assert next(item for item in findings if item.code == "supply_setting").severity == "warning"


def test_several_joints_ask_for_one() -> None:
    headers = ("t", "m1vel", "m2vel", "m1cur", "m2cur")
    with pytest.raises(LogError, match=r"2 columns could be velocity: m1vel, m2vel; choose with --joint 1\|2"):
        channels(*headers)
    assert channels(*headers, joint=2) == {"time": "t [s]", "velocity": "m2vel [rad/s]", "current": "m2cur [A]"}


def test_named_columns_win_and_leave_the_undecided_out() -> None:
    chosen, findings = choose_columns(
        table("t", "vel1", "vel2", "tau1", "tau2"), Options(columns={"velocity": "vel2[rpm]"})
    )
    assert chosen["velocity"].label == "vel2 [rpm]"
    assert chosen["velocity"].column.name == "vel2"
    # The other speed is no longer in question; of the torques neither is better.
    assert "torque" not in chosen
    assert "column_undecided" in [item.code for item in findings]


def test_a_bare_v_is_a_voltage_only_beside_something_electrical() -> None:
    assert channels("t", "v", "i", "w")["voltage"] == "v [V]"
    with pytest.raises(LogError, match="could be a voltage or a velocity"):
        channels("t", "q", "v", "tau")


def test_missing_units_are_told() -> None:
    _, findings = choose_columns(table("t", "v", "i", "Speed [rpm]"), Options())
    told = next(item for item in findings if item.code == "unit_assumed")
    assert "v as voltage in V" in told.message
    assert "Speed" not in told.message


def test_counts_of_unknown_size_are_left_out_with_the_option() -> None:
    chosen, findings = choose_columns(table("t", "pos [ticks]", "i"), Options())
    assert "position" not in chosen
    assert next(item for item in findings if item.code == "unit_unknown").option == "--counts-per-turn"
    assert channels("t", "pos [ticks]", "i", counts_per_turn=2000.0)["position"] == "pos [ticks]"


def test_a_bare_encoder_of_whole_numbers_is_in_counts() -> None:
    counts = Column("encoder", np.arange(12.0), whole=True)
    chosen, findings = choose_columns(Table("log.csv", (*table("t", "i").columns, counts)), Options())
    assert "position" not in chosen
    assert "unit_unknown" in [item.code for item in findings]


def test_an_unknown_unit_is_left_out_and_told() -> None:
    chosen, findings = choose_columns(table("t", "speed [furlong]", "i"), Options())
    assert "velocity" not in chosen
    assert "'furlong'" in next(item for item in findings if item.code == "unit_unknown").message


def test_named_column_absent_or_of_wrong_unit() -> None:
    with pytest.raises(LogError, match=r"no column 'volts'; there are: t, v, i"):
        channels("t", "v", "i", columns={"voltage": "volts"})
    with pytest.raises(LogError, match=r"unit 'A' of column 'v' does not fit voltage"):
        channels("t", "v", "i", columns={"voltage": "v[A]"})


def test_parse_columns() -> None:
    text = "velocity=m1vel[rad/s], current=my current, low side[mA],time=t"
    assert parse_columns(text) == {"velocity": "m1vel[rad/s]", "current": "my current, low side[mA]", "time": "t"}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("speed=w", "unknown channel 'speed'; the channels are: time, voltage"),
        ("velocity", "is not channel=column"),
        ("velocity=", "is not channel=column"),
        ("velocity=a,velocity=b", "named twice"),
    ],
)
def test_parse_columns_refuses(text: str, match: str) -> None:
    with pytest.raises(LogError, match=match):
        parse_columns(text)


@pytest.mark.parametrize(
    "options",
    [
        {"flip": ("speed",)},
        {"keep": ("everything",)},
        {"counts_per_turn": 0.0},
        {"gear": 0.0},
        {"decimal": "'"},
        {"delimiter": "ab"},
        {"rate": -1.0},
    ],
)
def test_options_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(LogError):
        Options(**options)  # pyright: ignore[reportArgumentType]
