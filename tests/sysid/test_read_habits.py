"""Logs as boards, oscilloscopes and robots print them."""

import pathlib

import numpy as np
import pytest

from sysid import LogError, check, fit, read_log

_ROWS = [(1834 + 2 * k, 3.0 + 0.5 * (k % 7), 40 * (k % 11), 100.0 + 3 * k) for k in range(60)]
_TITLE = "millis\tvolt\tcurrent_mA\tspeed_rpm"


def _write(folder: pathlib.Path, text: str) -> pathlib.Path:
    path = folder / "run.txt"
    path.write_bytes(text.encode())
    return path


def _same(log, voltage="voltage") -> None:
    np.testing.assert_allclose(log.time, [1e-3 * (row[0] - 1834) for row in _ROWS], atol=1e-9)
    np.testing.assert_allclose(log.channels[voltage], [row[1] for row in _ROWS])
    np.testing.assert_allclose(log.channels["current"], [1e-3 * row[2] for row in _ROWS])
    np.testing.assert_allclose(log.channels["velocity"], [row[3] * np.pi / 30 for row in _ROWS], rtol=1e-6)


def test_banner_prompts_and_words_around_a_serial_dump(tmp_path):
    rows = ["\t".join(map(str, row)) for row in _ROWS]
    banner = ["ets Jul 29 2019 12:21:46", "", "rst:0x1 (POWERON_RESET),boot:0x13", "Bench v1.3 ready", "> start"]
    text = "\r\n".join([*banner, _TITLE, *rows[:30], "> slower", *rows[30:], "> stop", "bye", ""])
    log = read_log(_write(tmp_path, text))
    _same(log)
    assert check(log)["words_between"].count == 3


def test_zero_bytes_of_an_opening_port(tmp_path):
    text = "\n".join([_TITLE, *("\t".join(map(str, row)) for row in _ROWS)])
    _same(read_log(_write(tmp_path, "\0\0\0" + text)))
    for spoiled in ("\0" * 100 + text, "\0" + text[:50] + "\0" + text[50:], "\0" * 10):
        with pytest.raises(LogError, match=r"zero bytes|too few|empty|no row"):
            read_log(_write(tmp_path, spoiled))


def test_topics_at_rates_of_their_own(tmp_path):
    """A robot's recording as one table: the voltage stands in every second row, the speed in the others."""
    lines = ["__time,/joint_states/hip/velocity,/motor/volt/data"]
    for k, row in enumerate(_ROWS):
        lines += [f"{1.7e9 + 2e-3 * k:.6f},{row[3]},", f"{1.7e9 + 2e-3 * k + 4e-4:.6f},,{row[1]}"]
    path = _write(tmp_path, "\n".join(lines))
    with pytest.raises(LogError, match="nothing can be fitted; its inputs have gaps: --hold voltage fills them"):
        fit(read_log(path))
    log = read_log(path, hold="voltage")
    assert log.masks["voltage"][2:].all()
    np.testing.assert_array_equal(log.channels["voltage"][2:6], [3.0, 3.5, 3.5, 4.0])


def test_prompt_before_every_row(tmp_path):
    text = "ready\n>\n" + "".join("> " + ", ".join(map(str, row)) + "\n" for row in _ROWS)
    names = "time=column1[ms],voltage=column2,current=column3[mA],velocity=column4[rpm]"
    _same(read_log(_write(tmp_path, text), columns=names))
    with pytest.raises(LogError, match=r"column1 \(1834 \.\.\.\)"):
        read_log(_write(tmp_path, text))


@pytest.mark.parametrize("mark", [",", "\t", " "])
def test_labels_in_every_row(tmp_path, mark):
    rows = [
        mark.join(f"{name}:{cell}" for name, cell in zip(("t", "u", "i", "rpm"), row, strict=True)) for row in _ROWS
    ]
    _same(read_log(_write(tmp_path, "Setup done\n" + "\n".join(rows)), time_unit="ms", columns="current=i[mA]"))


def test_clock_and_arrow_of_a_serial_monitor(tmp_path):
    stamps = [f"14:00:{1e-3 * row[0]:06.3f} -> " for row in _ROWS]
    rows = [stamp + "\t".join(map(str, row[1:])) for stamp, row in zip(stamps, _ROWS, strict=True)]
    title = stamps[0] + "volt\tcurrent_mA\tspeed_rpm"
    _same(read_log(_write(tmp_path, "\n".join([title, *rows]))))


def test_preamble_of_an_oscilloscope_and_factors_per_volt(tmp_path):
    preamble = (
        "Model,MSO24\n\nPoint Format,Y,,\nSample Interval,0.002,,\nRecord Length,60,,\nVertical Scale,5,0.05,2\n\n"
    )
    rows = [f"{1e-3 * row[0]:.6e},{row[1]},{5e-5 * row[2]},{1e-3 * row[3]}" for row in _ROWS]
    path = _write(tmp_path, preamble + "Label,Motor,Shunt,Tacho\nTIME,CH1,CH2,CH3\n" + "\n".join(rows))
    _same(read_log(path, columns="voltage=Motor[V],current=CH2[20 A/V],velocity=Tacho[1000 rpm/V]"))
    with pytest.raises(LogError, match="Label, Motor, Shunt, Tacho"):
        read_log(path)


def test_increment_of_an_oscilloscope(tmp_path):
    rows = [f"{k},{row[1]},{5e-5 * row[2]},{1e-3 * row[3]},," for k, row in enumerate(_ROWS)]
    title = "X,CH1,CH2,CH3,Start,Increment,\nSequence,Volt,Volt,Volt,-2.0e+00,2.0e-03,\n"
    path = _write(tmp_path, title + "\n".join(rows))
    _same(read_log(path, columns="voltage=CH1,current=CH2[20 A/V],velocity=CH3[1000 rpm/V]"))
    with pytest.raises(LogError, match=r"such as current=CH2\[20 A/V\]"):
        read_log(path)


def test_axis_known_by_its_unit(tmp_path):
    rows = [f"{1e-3 * row[0]:+.6E},{row[1]},{1e-3 * row[2]},{1e-3 * row[3]}" for row in _ROWS]
    path = _write(tmp_path, "x-axis,1,2,3\nsecond,Volt,Volt,Volt\n" + "\n".join(rows))
    _same(read_log(path, columns="voltage=1,current=2[1 A/V],velocity=3[1000 rpm/V]"))


def _robot(stamp: bool) -> str:
    names = ("/js/position[{}]", "/js/velocity[{}]", "/js/effort[{}]")
    title = ["time", *(name.format(joint) for joint in (0, 1) for name in names), "/motor/voltage/data"]
    title[1:1] = ["/js/header/stamp/sec", "/js/header/stamp/nanosec"] if stamp else []
    lines = [",".join(title)]
    for k, row in enumerate(_ROWS):
        at = 1_700_000_000_123_456_789 + 2_000_000 * k
        late = [str(at + 700_000 + 1000 * (k % 3))] if stamp else [str(at)]
        parts = [str(at // 10**9), str(at % 10**9)] if stamp else []
        lines.append(",".join([*late, *parts, "0.5", str(row[3]), "0.01", "0.1", "7.0", "0", str(row[1])]))
    return "\n".join(lines)


@pytest.mark.parametrize("stamp", [False, True])
def test_robot_states_of_two_joints_in_nanoseconds_since_1970(tmp_path, stamp):
    path = _write(tmp_path, _robot(stamp))
    with pytest.raises(LogError, match=r"--joint 0\|1"):
        read_log(path)
    log = read_log(path, joint=1)
    np.testing.assert_allclose(log.time, 2e-3 * np.arange(60), atol=1e-6)
    np.testing.assert_array_equal(log.channels["velocity"], 7.0)


def test_a_first_row_torn_by_the_opening_of_the_port(tmp_path):
    rows = ["\t".join(map(str, row)) for row in _ROWS]
    _same(read_log(_write(tmp_path, "\n".join([_TITLE, "0\t12", *rows]))))


@pytest.mark.parametrize(("unit", "factor"), [("1/255", 1 / 255), ("0.1 %", 1e-3)])
def test_factor_of_a_duty(tmp_path, unit, factor):
    lines = ["time_ms,pwm,speed_rpm", *(f"{row[0]},{row[2]},{row[3]}" for row in _ROWS)]
    log = read_log(_write(tmp_path, "\n".join(lines)), columns=f"duty=pwm[{unit}]")
    np.testing.assert_allclose(log.channels["duty"], [factor * row[2] for row in _ROWS])
