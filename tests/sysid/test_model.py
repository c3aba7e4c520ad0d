import dataclasses
import json

import equinox as eqx
import jax
import numpy as np
import pytest

import jaxmotor as jm
from sysid._adjust import adjusted
from sysid._choose import choose_model
from sysid._errors import ModelError
from sysid._finding import Finding
from sysid._log import Log
from sysid._model_entry import model_from_dict, model_to_dict
from sysid._model_file import model_of, read_model
from sysid._quantity import in_unit
from sysid._stages import _FILLERS, build, needed, params_class, stages_of, words


def log(conditions=None, units=None, **channels):
    rows = 50
    time = 0.01 * np.arange(rows)
    given = {name: np.full(rows, 1.0) if value is None else np.asarray(value) for name, value in channels.items()}
    return Log("bench", time, given, conditions=conditions or {}, units=units or {})


def values_equal(one, other):
    return eqx.tree_equal(one.subject, other.subject) and one.bench == other.bench


@pytest.mark.parametrize(
    ("slot", "word"), [(slot, word) for slot, (kind, _) in _FILLERS.items() for word in words(kind)]
)
def test_every_stage_can_be_named(slot, word):
    """A stage is found by its word, and its params class by the annotations of its own methods."""
    supply = {} if slot == "supply" else {"supply": "FixedSupply"}
    given = {need.name: 1.0 for need in needed(supply | {slot: word})}
    bench, params = build(supply | {slot: word}, given)
    assert stages_of(bench)[slot] == word
    holder = params_class(words(_FILLERS[slot][0])[word])
    assert holder is None or holder.__name__.endswith("Params")
    jm.check_params(params)


def test_stages_come_back_from_the_bench():
    stages = {"controller": "ServoDrive", "supply": "FixedSupply", "winding": "Inductive", "load": "Pendulum"}
    stages |= {"winding.rate": "CurrentRateLimit"}
    bench, params = build(stages, {"bus_voltage": 12.0, "mass": 0.5, "length": 0.1})
    assert stages_of(bench).items() >= stages.items()
    assert float(params.actuator.motor.winding.rate.maximum_current_rate) > 0
    with pytest.raises(ModelError, match=r"unknown slot 'winding\.rate'"):
        build({"winding.rate": "CurrentRateLimit"}, {})
    with pytest.raises(ModelError, match=r"model: DutyDrive commands a duty.*FixedSupply"):
        build({"controller": "DutyDrive"}, {})


def test_channels_choose_the_bench():
    voltage = choose_model([log(voltage=None, current=None, velocity=None)])
    assert voltage.command == "voltage"
    assert voltage.free.names == ["resistance", "motor_constant", "inertia", "coulomb_friction", "viscous_damping"]
    assert "terminal voltage" in voltage.description
    apart = choose_model([log(voltage=None, current=None, velocity=None, torque=None)])
    assert {"torque_constant", "back_emf_constant"} <= set(apart.free.names)
    duty = choose_model([log(duty=None, bus_voltage=None, velocity=None)])
    assert isinstance(duty.bench.actuator.controller, jm.DutyDrive)
    torque = choose_model([log(torque=None, position=None)])
    assert isinstance(torque.bench.load, jm.UnbalancedLoad)
    assert {"inertia", "unbalance", "torque_offset"} <= set(torque.free.names)


def test_firmware_servo_takes_what_each_log_states():
    conditions = {"mass": 0.49, "length": 0.1, "kp": 100.0}
    channels = {"command": None, "bus_voltage": None, "position": None, "torque_enabled": None, "duty": None}
    one = log(conditions, {"command": "rad"}, **channels)
    other = log(conditions | {"kp": 400.0}, {"command": "rad"}, **channels)
    model = choose_model([one, other])
    assert "XL330" in model.description
    gains = [model.overrides(item)["bench.actuator.controller.gain"] for item in (one, other)]
    # (goal - position) x 4096 / (2 pi) counts, x kp / 256, of 885 counts for full duty.
    assert gains == pytest.approx([4096 / (2 * np.pi) * kp / 256 / 885 for kp in (100, 400)])
    assert model.overrides(one)["bench.load.mass"] == 0.49
    with pytest.raises(ModelError, match=r"bench: .* takes gain from the log's 'kp'.*--fix gain=VALUE"):
        model.overrides(log(**channels))
    held = adjusted(model, fix={"gain": 0.5})
    assert "bench.actuator.controller.gain" not in held.overrides(one)


def test_a_torque_whose_sign_was_given_by_the_motion_drives_nothing():
    servo = log(command=None, position=None, torque=None, units={"command": "rad"}, bus_voltage=None)
    assert choose_model([servo]).command == "torque"
    unsigned = servo.replace(findings=(Finding.of_log("unsigned_torque", "never negative"),))
    model = choose_model([unsigned])
    assert model.command == "command"
    assert "position loop" in model.description


def test_channels_that_drive_nothing_are_refused():
    with pytest.raises(ModelError, match=r"bench: no model fits the channels current: .*--columns"):
        choose_model([log(current=None)])
    with pytest.raises(ModelError, match=r"the command has no unit.*--columns"):
        choose_model([log(command=None, velocity=None)])
    with pytest.raises(ModelError, match=r"needs a value of bus_voltage \[V\].*--fix bus_voltage=VALUE"):
        choose_model([log(command=None, position=None, units={"command": "rad"})])
    chosen = choose_model([log(command=None, position=None, units={"command": "rad"})], {"bus_voltage": 12.0})
    assert float(chosen.params.actuator.supply.bus_voltage) == 12.0


def test_free_and_fix():
    model = choose_model([log(voltage=None, current=None, velocity=None)])
    held = adjusted(model, fix={"torque_constant": 0.03})
    assert "motor_constant" not in held.free.names
    assert float(held.params.actuator.motor.winding.back_emf_constant) == 0.03
    apart = adjusted(model, free=["torque_constant", "rotor_inertia"])
    assert {"torque_constant", "back_emf_constant", "rotor_inertia"} <= set(apart.free.names)
    assert "motor_constant" not in apart.free.names
    assert adjusted(apart, free=["motor_constant"]).free.names.count("motor_constant") == 1
    with pytest.raises(ModelError, match=r"--free resistence: .*meant resistance\?.*it has: .*inertia"):
        adjusted(model, free=["resistence"])
    with pytest.raises(ModelError, match="either free or fixed"):
        adjusted(model, free=["resistance"], fix={"resistance": 1.0})
    with pytest.raises(ModelError, match=r"--fix: .*resistance \[ohm\] is -1"):
        adjusted(model, fix={"resistance": -1.0})


def test_a_freed_limit_starts_finite():
    model = model_of(
        {"stages": {"current_limit": "CurrentLimit"}, "parameters": {"current_limit": {"fixed": "inf A"}}}, "m"
    )
    assert np.isinf(float(model.params.actuator.current_limit.current_limit))
    freed = adjusted(model, free=["current_limit"])
    assert np.isfinite(freed.free.parameters[-1].start)


def test_the_entry_of_a_fit_gives_the_model_back():
    conditions = {"mass": 0.49, "length": 0.1, "kp": 100.0}
    servo = choose_model(
        [log(conditions, {"command": "rad"}, command=None, bus_voltage=None, position=None, duty=None)]
    )
    infinite = adjusted(servo, fix={"current_limit": np.inf})
    for model in (servo, infinite, choose_model([log(torque=None, position=None)])):
        entry = json.loads(json.dumps(model_to_dict(model), allow_nan=False))
        again = model_from_dict(entry)
        assert values_equal(again, model)
        assert again.free == model.free
        assert again.conditions == model.conditions
        assert model_to_dict(again) == entry
    with pytest.raises(ModelError, match=r"fit\.json: this is no model"):
        model_from_dict({"stages": {}}, "fit.json")
    broken = json.loads(json.dumps(model_to_dict(servo)))
    broken["stages"]["winding"] = "Superconducting"
    with pytest.raises(ModelError, match=r"fit\.json: unknown winding 'Superconducting'.*QuasiStatic"):
        model_from_dict(broken, "fit.json")


FILE = """
command = "voltage"
[stages]
controller = "VoltageDrive"
winding = "Inductive"
drag = "ViscousDrag"
dry_friction = "CoulombFriction"
load = "RigidLoad"
[parameters]
resistance = { start = "1200 mohm", lower = "0.1 ohm", upper = "10 ohm" }
motor_constant = { prior = ["45 mN m/A", "2 mN m/A"] }
inductance = { fixed = "0.6 mH" }
inertia = { start = "400 g cm^2", per_log = true }
current_offset = {}
"""


def test_a_model_file(tmp_path):
    path = tmp_path / "motor.toml"
    path.write_text(FILE)
    model = read_model(path)
    free = {parameter.name: parameter for parameter in model.free.parameters}
    assert set(free) == {
        *("resistance", "motor_constant", "inertia", "current_offset", "viscous_damping", "coulomb_friction")
    }
    assert (free["resistance"].start, free["resistance"].lower, free["resistance"].upper) == (1.2, 0.1, 10.0)
    assert free["motor_constant"].prior == pytest.approx((0.045, 0.002))
    assert free["inertia"].per_log
    assert free["inertia"].start == pytest.approx(4e-5)
    assert float(model.params.actuator.motor.winding.inductance) == pytest.approx(6e-4)
    assert model.given == {"resistance", "inductance", "inertia"}
    assert values_equal(model_from_dict(model_to_dict(model)), model)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "[stages]",
            "[stage]",
            ["unknown key 'stage' (meant stages?)", "command, description, grid, outputs, parameters, stages"],
        ),
        ("Inductive", "Inductiv", ["unknown winding 'Inductiv' (meant Inductive?)", "QuasiStatic"]),
        ("drag =", "dragg =", ["unknown slot 'dragg' (meant drag?)", "dry_friction"]),
        ("resistance =", "resistanc =", ["unknown parameter 'resistanc' (meant resistance?)", "inductance"]),
        ("lower", "lowest", ["parameters.resistance", "unknown word 'lowest' (meant lower?)", "fixed"]),
        ("0.6 mH", "0.6 mF", ["parameters.inductance.fixed", "'mF' does not fit H"]),
        ("0.6 mH", "0.6 mHenries", ["parameters.inductance.fixed", "unknown unit 'mHenries'"]),
        ('"0.6 mH"', "0.6", ["parameters.inductance.fixed", "no unit", '"1.5 H"']),
        ('"10 ohm"', '"10 mohm"', ["parameters.resistance", "the lower bound is not below the upper"]),
        ('"0.6 mH"', '"0.6 mH", start = "1 mH"', ["a fixed parameter has no 'start'"]),
        ('"2 mN m/A"]', "]", ["parameters.motor_constant.prior", "STANDARD DEVIATION"]),
        ("per_log = true", "per_log = 1", ["per_log must be true or false"]),
        ('command = "voltage"', 'command = "volts"', ["unknown command 'volts'", "voltage"]),
        ("current_offset = {}", "current_offset = 3", ["parameters.current_offset must be a table"]),
        ("current_offset = {}", 'torque_constant = { start = "1 N m/A" }', ["motor_constant sets"]),
        ('"0.6 mH"', '"-0.6 mH"', ["inductance [H] is -0.0006"]),
        ("[parameters]", "[parameters", ["this is not TOML", "line"]),
        ("current_offset = {}", "resistance = {}", ["this is not TOML"]),
    ],
)
def test_what_is_wrong_in_a_model_file_is_one_line(tmp_path, old, new, words):
    path = tmp_path / "motor.toml"
    assert old in FILE
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(ModelError) as raised:
        read_model(path)
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    assert all(word in message for word in words), message


def test_a_missing_model_file(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        read_model(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("45 mN m/A", "N m/A", 0.045),
        ("45 mNm/A", "V s/rad", 0.045),
        ("1.2 Ω", "ohm", 1.2),
        ("550 g cm^2", "kg m^2", 5.5e-5),
        ("4e-5 kg·m²", "kg m^2", 4e-5),
        ("4.5 V/krpm", "V s/rad", 4.5 * 60 / (2 * np.pi * 1000)),
        ("25 degC", "degC", 25.0),
        ("inf A", "A", np.inf),
        ("10 deg", "rad", np.deg2rad(10)),
        ("0.5", "1", 0.5),
        (2, "1", 2.0),
        ("50 %", "1", 0.5),
    ],
)
def test_units_of_values(text, unit, value):
    assert in_unit(text, unit, "x") == pytest.approx(value, rel=1e-12)


def test_params_of_a_model_are_differentiable_leaves():
    model = choose_model([log(voltage=None, current=None, velocity=None)])
    assert all(isinstance(leaf, jax.Array) and leaf.dtype == float for leaf in jax.tree.leaves(model.subject))
    assert dataclasses.is_dataclass(model)
