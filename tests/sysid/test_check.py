"""What a check tells: signs, offsets, and experiments that are missing."""

import json
import pathlib

import numpy as np
import pytest

from sysid._check import check
from sysid._finding import Finding, Findings
from sysid._log import Log
from sysid._read import read_log

RESISTANCE, CONSTANT, INERTIA, FRICTION = 1.7, 0.043, 4.1e-5, 0.004
STEP = 0.002


def motor(voltage: np.ndarray, seed: int = 0) -> dict[str, np.ndarray]:
    """A small motor with noise: current [A], velocity [rad/s]."""
    rng = np.random.default_rng(seed)
    velocity, current = np.zeros(len(voltage)), np.zeros(len(voltage))
    for k, volts in enumerate(voltage):
        current[k] = (volts - CONSTANT * velocity[k]) / RESISTANCE
        if k + 1 < len(voltage):
            friction = FRICTION * np.tanh(velocity[k])
            velocity[k + 1] = velocity[k] + STEP * (CONSTANT * current[k] - friction) / INERTIA
    return {
        "voltage": voltage,
        "current": current + rng.normal(0.0, 0.01, len(voltage)),
        "velocity": velocity + rng.normal(0.0, 0.05, len(voltage)),
    }


def levels(seed: int = 1, rows: int = 800) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.repeat(np.append(0.0, rng.choice([-9.0, -4.0, 0.0, 5.0, 10.0], rows // 50 - 1)), 50)


def write(folder: pathlib.Path, channels: dict[str, np.ndarray]) -> pathlib.Path:
    path = folder / "run.csv"
    lines = [",".join(("time_s", *channels))]
    table = np.stack(list(channels.values()), axis=1)
    lines += [f"{k * STEP:.4f}," + ",".join(f"{cell:.5f}" for cell in row) for k, row in enumerate(table)]
    path.write_text("\n".join(lines) + "\n")
    return path


def codes(log: Log) -> set[str]:
    return set(check(log).codes)


def test_a_good_log_has_no_warnings(tmp_path: pathlib.Path) -> None:
    findings = check(read_log(write(tmp_path, motor(levels()))))
    assert findings.worst == "info"
    assert set(findings.codes) <= {"unit_assumed"}


def test_reversed_current_is_turned(tmp_path: pathlib.Path) -> None:
    truth = motor(levels())
    path = write(tmp_path, truth | {"current": -truth["current"]})
    log = read_log(path)
    np.testing.assert_allclose(log.channels["current"], truth["current"], atol=1e-5)
    told = check(log)["current_sign"]
    assert told.severity == "warning"
    assert "--flip current" in told.option
    assert f"{np.mean(truth['voltage'] * -truth['current']):.4g} W" in told.message
    np.testing.assert_allclose(read_log(path, keep=("current_sign",)).channels["current"], -truth["current"], atol=1e-5)
    flipped = read_log(path, flip=("current",))
    np.testing.assert_allclose(flipped.channels["current"], truth["current"], atol=1e-5)
    assert "current_sign" not in codes(flipped)


def test_reversed_current_of_an_inductive_or_idle_motor_is_turned(tmp_path: pathlib.Path) -> None:
    truth = motor(levels())
    # A low-pass over four rows stands for the inductance.
    slow = np.convolve(truth["current"], np.exp(-np.arange(40) / 4.0))[: len(truth["current"])] / 4.5
    assert np.all(
        read_log(write(tmp_path, truth | {"current": -slow})).channels["current"][52:60] * truth["voltage"][52:60] >= 0
    )
    idle = motor(np.where(np.arange(1200) % 600 == 50, 9.0, 0.0) + np.repeat([0.0, 6.0], 600))
    log = read_log(write(tmp_path, idle | {"current": -idle["current"]}))
    np.testing.assert_allclose(log.channels["current"], idle["current"], atol=1e-5)


def test_a_driven_generator_is_reported_and_not_turned(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(2)
    velocity = 150.0 + 40.0 * np.sin(np.arange(600) * 0.01)
    voltage = np.full(600, 4.0)
    current = (voltage - CONSTANT * velocity) / RESISTANCE + rng.normal(0.0, 0.01, 600)
    log = read_log(write(tmp_path, {"voltage": voltage, "current": current, "velocity": velocity}))
    np.testing.assert_allclose(log.channels["current"], current, atol=1e-5)
    assert "its load drives it: kept as it is" in check(log)["current_sign"].message


def test_unsigned_current_takes_the_sign_of_the_velocity(tmp_path: pathlib.Path) -> None:
    truth = motor(levels())
    path = write(tmp_path, truth | {"current": np.abs(truth["current"])})
    log = read_log(path)
    moving = np.abs(truth["velocity"]) > 1.0
    assert np.array_equal(np.sign(log.channels["current"])[moving], np.sign(truth["velocity"])[moving])
    assert "unsigned_current" in codes(log)
    assert read_log(path, keep=("unsigned_current",)).channels["current"].min() >= 0.0


def test_reversed_encoder_is_reported(tmp_path: pathlib.Path) -> None:
    truth = motor(levels())
    log = read_log(write(tmp_path, truth | {"velocity": -truth["velocity"]}))
    assert "encoder_sign" in codes(log)
    np.testing.assert_allclose(log.channels["velocity"], -truth["velocity"], atol=1e-5)
    assert "encoder_sign" not in codes(
        read_log(write(tmp_path, truth | {"velocity": -truth["velocity"]}), flip=("velocity",))
    )


def test_position_against_velocity(tmp_path: pathlib.Path) -> None:
    truth = motor(levels())
    angle = np.concatenate([[0.0], np.cumsum(truth["velocity"][:-1]) * STEP])
    assert not {"position_sign", "position_scale", "position_unrelated"} & codes(
        read_log(write(tmp_path, truth | {"position": angle}))
    )
    assert "position_sign" in codes(read_log(write(tmp_path, truth | {"position": -angle})))
    told = check(read_log(write(tmp_path, truth | {"position": angle / 16.0})))["position_scale"]
    assert "0.0625 times" in told.message
    noise = np.random.default_rng(3).normal(0.0, 1.0, len(angle))
    unrelated = read_log(write(tmp_path, truth | {"position": noise}))
    assert "position" not in unrelated.channels
    assert "position" not in unrelated.columns
    assert "position_unrelated" in codes(unrelated)


def test_offset_at_rest(tmp_path: pathlib.Path) -> None:
    truth = motor(np.concatenate([np.zeros(100), levels()]))
    log = read_log(write(tmp_path, truth | {"current": truth["current"] + 0.13}))
    assert "reads 0.13 A at rest" in check(log)["current_offset"].message
    assert "current_offset" not in codes(read_log(write(tmp_path, truth)))


def test_implausible_units(tmp_path: pathlib.Path) -> None:
    truth = motor(levels())
    log = read_log(write(tmp_path, truth | {"voltage": truth["voltage"] * 1e3}))
    assert "--columns 'voltage=voltage[unit]'" in check(log)["implausible_unit"].option
    angle = np.cumsum(truth["velocity"]) * STEP
    degrees = read_log(write(tmp_path, {"current": truth["current"], "angle": np.rad2deg(angle) % 360.0}))
    assert "in degrees?" in check(degrees)["implausible_unit"].message


def test_nothing_excited() -> None:
    rng = np.random.default_rng(5)
    time = np.arange(400) * STEP
    steady = {
        "voltage": np.full(400, 6.0),
        "current": 0.4 + rng.normal(0.0, 0.01, 400),
        "velocity": 120.0 + rng.normal(0.0, 0.05, 400),
    }
    assert {"constant_input", "constant_speed"} <= codes(Log("steady", time, steady))
    steady["velocity"] = np.round(120.0 + rng.normal(0.0, 2.0, 400))
    assert "constant_speed" in codes(Log("steady", time, steady))
    angle = {"voltage": np.full(400, 6.0), "position": 120.0 * time + rng.normal(0.0, 1e-3, 400)}
    assert {"constant_speed", "no_current"} <= codes(Log("steady", time, angle))


@pytest.mark.parametrize(
    ("channels", "conditions", "expected"),
    [
        ({"velocity": np.sin(np.arange(200) * 0.1), "voltage": np.sin(np.arange(200) * 0.1)}, {}, {"no_current"}),
        ({"velocity": np.sin(np.arange(200) * 0.1), "voltage": np.sin(np.arange(200) * 0.1)}, {"mass": 0.2}, set()),
        ({"velocity": np.sin(np.arange(200) * 0.1)}, {}, {"no_drive", "no_current"}),
        ({"current": np.sin(np.arange(200) * 0.1)}, {}, {"no_motion_channel"}),
        (
            {"torque": np.sin(np.arange(200) * 0.1), "velocity": 2.0 - np.cos(np.arange(200) * 0.1)},
            {},
            {"no_reversal", "no_standstill"},
        ),
        ({"torque": np.sin(np.arange(200) * 0.1), "velocity": np.zeros(200)}, {}, {"no_motion"}),
        (
            {
                "duty": np.sin(np.arange(200) * 0.1),
                "velocity": np.sin(np.arange(200) * 0.1),
                "torque_enabled": np.ones(200),
            },
            {},
            {"no_bus_voltage", "never_off", "no_current"},
        ),
        (
            {
                "current": np.sin(np.arange(200) * 0.1),
                "velocity": np.sin(np.arange(200) * 0.1),
                "temperature": np.full(200, 30.0),
            },
            {},
            {"no_heating"},
        ),
    ],
)
def test_missing_experiments(channels: dict[str, np.ndarray], conditions: dict[str, float], expected: set[str]) -> None:
    found = codes(Log("partial", np.arange(200) * STEP, channels, conditions=conditions))
    assert found - {"no_standstill", "no_reversal"} == expected - {"no_standstill", "no_reversal"}
    assert expected <= found


def test_missing_inputs_end_windows_or_are_held(tmp_path: pathlib.Path) -> None:
    truth = motor(levels())
    holes = truth["voltage"].copy()
    holes[[200, 401, 402]] = np.nan
    path = write(tmp_path, truth | {"voltage": holes})
    log = read_log(path)
    assert log.breaks.tolist() == [201, 402, 403]
    assert np.flatnonzero(~log.masks["voltage"]).tolist() == [200, 401, 402]
    held = read_log(path, hold=("voltage",))
    assert len(held.breaks) == 0
    assert held.masks["voltage"].all()
    assert held.channels["voltage"][402] == held.channels["voltage"][400]
    assert check(held)["missing_input"].option == "--hold voltage"


def test_findings_as_text_and_json(tmp_path: pathlib.Path) -> None:
    findings = check(read_log(write(tmp_path, motor(np.full(400, 6.0)))))
    assert json.loads(json.dumps(findings.to_dict()))["log"] == "run"
    text = findings.table(width=100)
    assert all(code in text for code in findings.codes)
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "\x1b" not in text
    assert "nothing to report" in Findings("clean", ()).table()
    with pytest.raises(KeyError):
        findings["absent"]


def test_text_in_brackets_is_shown_as_it_is() -> None:
    item = Finding.of_log("code", "column 'speed [rpm]'", option="--columns velocity=speed[rpm]")
    text = Findings("log [a]", (item,)).table(width=140)
    assert "speed [rpm]" in text
    assert "log [a]" in text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s01", {"time_offset"}),
        ("s03", {"duplicate_rows"}),
        ("s05", {"missing", "missing_input"}),
        ("s08", {"gap"}),
        ("s11", {"constant_input", "constant_speed"}),
        ("s12", {"clipped"}),
        ("s14", {"current_sign"}),
        ("s16", {"held_samples"}),
    ],
)
def test_shared_logs(shared: pathlib.Path, name: str, expected: set[str]) -> None:
    path = next((shared / "logs" / "synthetic").glob(f"{name}_*.csv"))
    found = codes(read_log(path))
    harmless = {"unit_assumed", "time_jitter", "time_drift", "no_standstill", "no_reversal"}
    assert found - harmless == expected


def test_shared_counts(shared: pathlib.Path) -> None:
    log = read_log(shared / "logs" / "synthetic" / "s05_nan_rows.csv")
    assert [int((~log.masks[name]).sum()) for name in ("voltage", "current", "velocity")] == [12, 62, 62]
    assert all(np.isfinite(values).all() for values in log.channels.values())
    turned = read_log(shared / "logs" / "synthetic" / "s14_sign_flipped_current.csv")
    assert np.mean(turned.channels["voltage"] * turned.channels["current"]) == pytest.approx(17.0259, abs=1e-3)
    assert "-17.03 W" in check(turned)["current_sign"].message
