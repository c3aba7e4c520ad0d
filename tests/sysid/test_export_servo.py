"""A servo whose friction grows with load, in MuJoCo's words: the friction chosen is the one that a log calls for."""

import pathlib
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import sysid
from sysid._export import exported
from sysid._free import write

mujoco = pytest.importorskip("mujoco")
MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "models"
ROWS, STEP = 400, 5e-3
LOSS, DAMPING = 0.03, 0.02


@pytest.fixture(scope="module")
def model():
    return sysid.read_model(MODELS / "xl330.toml").adjusted(fix={"delay": 0.0, "position_offset": 0.0})


@pytest.fixture(scope="module")
def log(model):
    """What the exported model does in MuJoCo with a friction of our choice, as a log."""
    time = np.arange(ROWS).astype(np.float64) * STEP
    command = np.where(time < 1.5, 0.8 * np.sin(4 * time) + 0.3 * np.sin(9 * time), 0.4)
    blank = sysid.Log(
        name="made",
        time=time,
        channels={"command": command, "position": np.zeros(ROWS)},
        units={"command": "rad", "position": "rad"},
        conditions={"kp": 400.0, "mass": 0.49, "length": 0.1},
    )
    own = model.with_subject(write(model.subject, dict(model.overrides(blank))))
    text, _ = exported(own, "mjcf")
    engine = mujoco.MjModel.from_xml_string(text)
    engine.dof_frictionloss[:], engine.dof_damping[:] = LOSS, DAMPING
    data, position = mujoco.MjData(engine), np.zeros(ROWS)
    for row in range(ROWS):
        position[row] = data.qpos[0]
        data.ctrl[0] = command[row]
        mujoco.mj_step(engine, data, round(STEP / engine.opt.timestep))
    return blank.replace(channels={"command": command, "position": position})


@pytest.fixture(scope="module")
def fitted_to_the_log(model, log):
    return exported(model, "mjcf", log=log)


def test_friction_in_mujocos_words_is_the_one_that_follows_the_log(fitted_to_the_log):
    text, notes = fitted_to_the_log
    joint = ElementTree.fromstring(text).find("worldbody/body/joint")
    assert joint is not None
    assert float(joint.attrib["frictionloss"]) == pytest.approx(LOSS, rel=0.1)
    assert float(joint.attrib["damping"]) == pytest.approx(DAMPING, rel=0.1)
    told = re.search(r"the exported model is ([0-9.e-]+) mrad off \(mean\), the fitted one ([0-9.e-]+) mrad", notes[-1])
    assert told is not None
    assert float(told[1]) < 0.5
    # The model exported has another friction than the one that made the log, so it is further off.
    assert float(told[2]) > float(told[1])


def test_the_affine_servo_is_the_firmwares_law(fitted_to_the_log):
    """By hand: (k V K / R) per radian of error, -(K^2 / R) per speed, and K i_max at most."""
    text, notes = fitted_to_the_log
    motor = ElementTree.fromstring(text).find("actuator/general")
    assert motor is not None
    gain, volts, constant, ohm, ampere = 0.0028773775 * 400, 7.4, 0.35, 3.4, 1.75
    stiffness, damping = gain * volts * constant / ohm, constant**2 / ohm
    assert float(motor.attrib["gainprm"]) == pytest.approx(stiffness)
    bias = [float(word) for word in motor.attrib["biasprm"].split()]
    assert bias == pytest.approx([0.0, -stiffness, -damping])
    force = min(constant * ampere, constant * volts / ohm)
    assert [float(word) for word in motor.attrib["forcerange"].split()] == pytest.approx([-force, force])
    assert any("friction depends on load" in note for note in notes)


def test_without_a_log_friction_is_the_mean_of_its_budget(model):
    own = model.adjusted(fix={"gain": 1.0, "mass": 0.49, "length": 0.1})
    text, notes = exported(own, "mjcf")
    joint = ElementTree.fromstring(text).find("worldbody/body/joint")
    assert joint is not None
    # Held still, the motor carries the weight: the gear carries twice m g l |sin q|, whose mean over a turn is 2/pi.
    mean = 0.01 + 0.2 * 2 * 0.49 * 9.81 * 0.1 * 2 / np.pi
    assert float(joint.attrib["frictionloss"]) == pytest.approx(mean, rel=0.02)
    assert any("--log" in note for note in notes)
