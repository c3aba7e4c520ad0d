"""Attributes of `dcmotor`, models, XML and activations."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor import mjcf

BASE = {"resistance": 2.0, "motorconst": 0.05}
ALL = {
    "motorconst": 0.05,
    "resistance": 2.0,
    "gear": -10.0,
    "armature": 2e-5,
    "inductance": (0.0, 0.002),
    "thermal": (8.0, 0.5, 0.0, 0.0039, 25.0, 35.0),
    "saturation": (0.08, 0.0, 250.0),
    "cogging": (0.004, 12.0, 0.4),
    "lugre": (200.0, 0.02, 0.01, 0.015, 0.5),
    "damping": (0.02, 1e-6, 2e-7),
    "input": "pos vel",
    "controller": (0.08, 0.2, 0.003, 30.0, 0.2, 20.0),
    "ctrlrange": (-3.0, 2.0),
}
MODEL = """<mujoco><worldbody><body><joint name="knee" type="hinge" damping="{damping}"/><geom size="0.1"/></body>
</worldbody><actuator>{motors}</actuator></mujoco>"""


def winding(**attributes):
    return mjcf.dcmotor(**attributes)[1].motor.winding


# Semantics of the compiler, each value worked out by hand: K = sqrt(Kt Ke); K^2 + R B - v K / w = 0; R = K v / tau.
@pytest.mark.parametrize(
    ("attributes", "resistance", "constant"),
    [
        ({"resistance": 2, "motorconst": 0.05}, 2, 0.05),
        ({"resistance": 2, "motorconst": (0, 0.04)}, 2, 0.04),
        ({"resistance": 1, "nominal": (12, 0, 400)}, 1, 0.03),
        ({"nominal": "12 0.4 400"}, 0.9, 0.03),
        ({"nominal": (12, 0.4, 400), "damping": 1e-5}, 0.891, 0.0297),
        ({"resistance": 1, "nominal": (12, 0, 400), "damping": 1e-4}, 1, 0.015 + np.sqrt(0.015**2 - 1e-4)),
        ({"resistance": 1, "nominal": (12, 0, 400), "damping": 1.0}, 1, 0.03),
        ({"motorconst": 0.05, "nominal": (12, 0.6)}, 1, 0.05),
        ({"resistance": 3, "motorconst": 0.05, "nominal": (12, 0.6)}, 3, 0.05),
    ],
)
def test_constants(attributes, resistance, constant):
    found = winding(**attributes)
    assert float(found.resistance) == pytest.approx(resistance, rel=1e-12)
    assert float(found.torque_constant) == float(found.back_emf_constant) == pytest.approx(constant, rel=1e-12)


def test_constants_that_do_not_agree_are_said():
    with pytest.warns(UserWarning, match=r"Kt / Ke = 2\.5"):
        found = winding(motorconst=0.05, nominal=(12, 0.6, 600))
    assert float(found.torque_constant) == pytest.approx(np.sqrt(0.05 * 0.02), rel=1e-12)
    assert float(found.resistance) == pytest.approx(np.sqrt(0.05 * 0.02) * 12 / 0.6, rel=1e-12)


@pytest.mark.parametrize(
    ("thermal", "newest", "older"),
    [
        ((8, 0.5), (8, 0.5), (8, 0.5)),
        ((8, 0, 5), (8, 0.625), (8, 0.625)),
        ((0, 2, 5), (2.5, 2), (2.5, 2)),
        ((8, 2, 5), (8, 0.625), (8, 2)),
    ],
)
def test_two_thermal_numbers_give_the_third(thermal, newest, older):
    for mujoco, expected in (("4.0", newest), ("3.11", older)):
        node = mjcf.dcmotor(**BASE, thermal=thermal, mujoco=mujoco)[1].motor.thermal
        assert (float(node.thermal_resistance), float(node.thermal_capacitance)) == expected
        assert float(node.reference_temperature) == 0


def test_limits_and_time_constant():
    def motor(**more):
        return mjcf.dcmotor(**BASE, **more)[1].motor

    assert float(motor(saturation=(0, 4)).limit.peak_torque) == pytest.approx(0.2)
    assert float(motor(saturation=(0.1, 4)).limit.peak_torque) == 0.1
    assert float(motor(inductance=0.004).winding.electrical_time_constant) == 0.002
    assert float(motor(inductance=(0.004, 9)).winding.electrical_time_constant) == 0.002
    assert float(motor(inductance=(0, 9)).winding.electrical_time_constant) == 9


def test_what_is_zero_is_absent():
    actuator, params = mjcf.dcmotor(
        **BASE, inductance=(0, 0), saturation=0, cogging=0, lugre=0, damping=0, thermal=0, controller=[0] * 6
    )
    assert actuator == jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.VoltageDrive())
    assert jax.tree.leaves(actuator.init(params)) == []


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "motorconst: the motor constant is missing"),
        ({"motorconst": 0.05}, "resistance: it is missing"),
        ({"motorconst": -0.05, "resistance": 1}, "motorconst:Kt: it is -0.05"),
        ({"motorconst": 0.05, "resistance": -1}, "resistance:R: it is -1"),
        ({"motorconst": (1, 2, 3), "resistance": 1}, "motorconst: 3 numbers, but it holds 2"),
        ({"motorconst": "a", "resistance": 1}, "motorconst: it is 'a'"),
        ({"motorconst": float("nan"), "resistance": 1}, "motorconst:Kt: it is nan"),
        ({**BASE, "inductance": -1}, "inductance:L"),
        ({**BASE, "inductance": (0, -1)}, "inductance:timeconst"),
        ({**BASE, "thermal": 8}, "thermal:capacitance: it is missing"),
        ({**BASE, "thermal": (0, 0, 3)}, "thermal:resistance: it is missing"),
        ({**BASE, "thermal": (8, -1)}, "thermal:capacitance: it is -1"),
        ({**BASE, "thermal": (8, 1, 0, 0.0039, 400, 20)}, "thermal:tempcoef: 0.0039 makes R negative"),
        ({**BASE, "saturation": -1}, "saturation:torque"),
        ({**BASE, "lugre": (100, -0.1, 0.1, 0.2, 1)}, "lugre:damping: it is -0.1"),
        ({**BASE, "lugre": (100, 0.1, 0.2, 0.1, 1)}, "lugre:static: it is 0.1, below coulomb 0.2"),
        ({**BASE, "lugre": (100, 0.1, 0.1, 0.2)}, "lugre:stribeck: it is 0"),
        ({**BASE, "damping": (1, 2, 3, 4)}, "damping: 4 numbers"),
        ({**BASE, "damping": -1}, "damping:B1"),
        ({**BASE, "armature": -1}, "armature:J"),
        ({**BASE, "gear": 0}, "gear: it is 0"),
        ({**BASE, "input": "position"}, "input: it is 'position'.*became pos and vel"),
        ({**BASE, "input": "vel pos"}, "input: it is 'vel pos': the order"),
        ({**BASE, "input": "pos none"}, "input: it is 'pos none'"),
        ({**BASE, "input": ""}, "input: it is ''"),
        ({**BASE, "input": "pos", "mujoco": "3.11"}, "input: it is 'pos': before MuJoCo 3.12"),
        ({**BASE, "controller": 1}, "controller:kp: it needs one of the inputs"),
        ({**BASE, "controller": (0, 0, 0, 3)}, "controller:slewmax: it needs one of the inputs"),
        ({**BASE, "input": "vel", "controller": (1, 1)}, "controller:ki: it needs the input pos"),
        ({**BASE, "input": "pos", "controller": (1, -1)}, "controller:ki: it is -1"),
        ({**BASE, "ctrlrange": (1, -1)}, "ctrlrange: it is 1 to -1"),
        ({**BASE, "mujoco": "3.6"}, "mujoco: it is '3.6'"),
    ],
)
def test_refused(attributes, message):
    with pytest.raises(mjcf.DcMotorError, match=f"^dcmotor {message}") as error:
        mjcf.dcmotor(**attributes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"thermal": (0, 0, 0, 0.0039)}, "thermal:tempcoef has no effect"),
        ({"saturation": (0, 0, 5)}, "saturation:current_rate has no effect"),
        ({"lugre": (0, 0.1)}, "lugre has no effect"),
        ({"controller": (0, 0, 0, 0, 0, 5)}, "controller:Vmax has no effect"),
        ({"controller": (1,), "mujoco": "3.11"}, "controller:kp, kd has no effect"),
        ({"controller": (1, 0, 1), "input": "velocity", "mujoco": "3.11"}, "controller:kd has no effect"),
        ({"controller": (1, 0, 1, 0, 1), "input": "pos"}, "controller:Imax has no effect"),
        ({"lugre": (100, 0.1, 0.1, 0.2, 1)}, "LuGre friction can give energy"),
    ],
)
def test_warned(attributes, message):
    with pytest.warns(UserWarning, match=message):
        mjcf.dcmotor(**BASE, **attributes)


def test_activations_in_the_order_of_mujoco():
    actuator, params = mjcf.dcmotor(**ALL)
    act = np.arange(1.0, 6.0)
    state = mjcf.from_act(actuator, params, act)
    assert float(state.setpoint[1].previous_command) == 1
    assert float(state.controller.integral) == 2
    assert float(state.motor.thermal.temperature_rise) == 3
    assert float(state.motor.bristle.deflection) == 4
    assert float(state.motor.winding.current) == 5
    np.testing.assert_array_equal(mjcf.to_act(actuator, state), act)
    many = mjcf.from_act(actuator, params, np.arange(20.0).reshape(4, 5))
    np.testing.assert_array_equal(mjcf.to_act(actuator, many), np.arange(20.0).reshape(4, 5))
    with pytest.raises(ValueError, match="5 activations"):
        mjcf.from_act(actuator, params, np.zeros(4))
    plain, plain_params = mjcf.dcmotor(**BASE)
    assert mjcf.to_act(plain, mjcf.from_act(plain, plain_params, np.zeros(0))).shape == (0,)


def test_states_that_mujoco_does_not_have():
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.VoltageDrive(), delay=jm.Delay(3))
    params = jm.ActuatorParams(jm.MotorParams(jm.QuasiStaticParams(2.0, 0.05, 0.05)), delay=jm.DelayParams(0.01))
    with pytest.raises(ValueError, match=r"no activation for .*past_commands"):
        mjcf.to_act(actuator, actuator.init(params))


def model(*elements, damping=0.0):
    return MODEL.format(motors="".join(elements), damping=damping)


def through_mujoco(actuator, params, **words):
    pytest.importorskip("mujoco", reason="the mujoco extra is not installed")
    element = mjcf.to_xml(actuator, params, name="m", joint="knee")
    return mjcf.load(model(element), "m"), element


ROUND = {
    "all": ALL,
    "plain": BASE,
    "shorted": {**BASE, "input": "none", "cogging": (0.1, 3, -1)},
    "voltage": {**BASE, "ctrlrange": (-6, 9), "damping": 1e-5, "thermal": (2, 1), "inductance": 0.003},
    "pos": {**BASE, "input": "pos", "controller": (1 / 3, 0, 1e-3, 0, 0, 0), "gear": 1 / 7},
    "ff": {**BASE, "input": "ff voltage", "controller": (0, 0, 0, 5.0, 0, 7.0), "saturation": 0.1},
}


@pytest.mark.parametrize("name", ROUND)
def test_there_and_back(name):
    actuator, params = mjcf.dcmotor(**ROUND[name])
    (again, same), _ = through_mujoco(actuator, params)
    assert again == actuator
    for ours, theirs in zip(jax.tree.leaves(params), jax.tree.leaves(same), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-12)


def test_position_gains_in_volts_are_written_in_newton_metres():
    given = {**BASE, "input": "position", "controller": (20, 60, 0.4, 8, 0.03, 12), "mujoco": "3.11"}
    actuator, params = mjcf.dcmotor(**given)
    (newest, converted), _ = through_mujoco(actuator, params)
    assert isinstance(newest.controller, jm.TorqueSpacePID)
    rng = np.random.default_rng(0)
    rows = [jnp.asarray(rng.normal(0, s, 100)) for s in (1, 1, 20)]
    _, ours = jm.replay(actuator, actuator.init(params), params, *rows, 1e-3)
    _, theirs = jm.replay(newest, newest.init(converted), converted, *rows, 1e-3)
    np.testing.assert_allclose(ours.motor_torque, theirs.motor_torque, rtol=1e-10, atol=1e-13)


def test_a_stiff_bus_is_a_range_or_a_limit():
    motor = jm.Motor(jm.QuasiStatic())
    params = jm.MotorParams(jm.QuasiStaticParams(2.0, 0.05, 0.05))
    bus = {"supply": jm.FixedSupplyParams(12.0)}
    volts = jm.Actuator(motor, jm.VoltageDrive(), jm.FixedSupply())
    assert 'ctrlrange="-12.0 12.0"' in mjcf.to_xml(volts, jm.ActuatorParams(params, **bus), name="m", joint="knee")
    servo = jm.Actuator(motor, jm.TorqueSpacePID(), jm.FixedSupply())
    gains = jm.TorqueSpacePIDParams(1.0, 0.1)
    text = mjcf.to_xml(servo, jm.ActuatorParams(params, gains, **bus), name="m", joint="knee")
    assert 'controller="1.0 0.0 0.1 0.0 0.0 12.0"' in text
    torque = jm.Actuator(motor, jm.TorqueDrive(), jm.FixedSupply())
    assert 'input="ff"' in mjcf.to_xml(torque, jm.ActuatorParams(params, **bus), name="m", joint="knee")


def test_names_are_quoted():
    actuator, params = mjcf.dcmotor(**BASE)
    assert mjcf.to_xml(actuator, params, name='a"<&', joint="j").startswith('<dcmotor name=\'a"&lt;&amp;\' joint="j"')


def test_what_mujoco_cannot_say():
    params = jm.MotorParams(jm.QuasiStaticParams(2.0, 0.05, 0.04))
    motor = jm.Motor(jm.QuasiStatic())

    def written(actuator, **more):
        return mjcf.to_xml(actuator, jm.ActuatorParams(params, **more), name="m", joint="knee")

    with pytest.warns(UserWarning, match="geometric mean"):
        assert 'motorconst="0.05 0.04"' in written(jm.Actuator(motor, jm.VoltageDrive()))
    params = jm.MotorParams(jm.QuasiStaticParams(2.0, 0.05, 0.05))
    for actuator, more, what in (
        (jm.Actuator(motor, jm.DutyDrive(), jm.FixedSupply()), {}, "controller DutyDrive"),
        (jm.Actuator(motor, jm.VoltageDrive(), delay=jm.Delay(2)), {}, "command delay Delay"),
        (jm.Actuator(motor, jm.VelocityPI()), {"controller": jm.VelocityPIParams(1.0)}, "controller VelocityPI"),
        (
            jm.Actuator(motor, jm.VoltageDrive(), setpoint=jm.SlewLimiter()),
            {"setpoint": jm.SlewLimiterParams(1.0)},
            'filter .of the input "voltage". SlewLimiter',
        ),
    ):
        with pytest.raises(ValueError, match=f"no counterpart of the {what}"):
            written(actuator, **more)
    with pytest.warns(UserWarning, match=re.escape('frictionloss="0.02"')):
        written(
            jm.Actuator(motor, jm.VoltageDrive(), dry_friction=jm.CoulombFriction()),
            dry_friction=jm.CoulombFrictionParams(0.02),
        )
    batch = jm.MotorParams(jm.QuasiStaticParams(np.ones(3), np.ones(3), np.ones(3)))
    with pytest.raises(ValueError, match="one motor"):
        mjcf.to_xml(jm.Actuator(motor, jm.VoltageDrive()), jm.ActuatorParams(batch), name="m", joint="knee")


def test_drag_orders_of_the_motor_side():
    motor = jm.Motor(jm.QuasiStatic())
    drag = jm.PolynomialDragParams(1e-5, 2e-6, 3e-7)
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(2.0, 0.05, 0.05)), gear=jm.GearParams(-10.0), drag=drag
    )
    actuator = jm.Actuator(motor, jm.VoltageDrive(), drag=jm.MotorSideDrag())
    (again, same), _ = through_mujoco(actuator, params)
    for speed in (0.3, -2.0):
        w, n = jnp.asarray(speed), jnp.asarray(-10.0)
        ours, theirs = actuator.drag.torque(drag, n, w), again.drag.torque(same.drag, n, w)
        assert float(ours) == pytest.approx(float(theirs), rel=1e-12)


def test_load_from_path_text_or_model(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="the mujoco extra is not installed")
    element = '<dcmotor name="m" joint="knee" motorconst="0.05" resistance="2"/><motor name="other" joint="knee"/>'
    text = model(element)
    file = tmp_path / "robot.xml"
    file.write_text(text)
    for source in (text, file, str(file), mujoco.MjModel.from_xml_string(text)):
        _, params = mjcf.load(source, "m")
        assert float(params.motor.winding.resistance) == 2
    with pytest.raises(ValueError, match="no actuator 'n'; it has: m, other"):
        mjcf.load(text, "n")
    with pytest.raises(ValueError, match="'other' is not a dcmotor"):
        mjcf.load(text, "other")
    with pytest.raises(ValueError, match=r"missing\.xml"):
        mjcf.load(tmp_path / "missing.xml", "m")
    with pytest.raises(ValueError, match="MJCF text: XML Error"):
        mjcf.load(model('<dcmotor joint="knee"/>'), "m")


def test_load_resolves_defaults_and_refuses_what_mujoco_takes_in_silence(tmp_path, monkeypatch):
    # MuJoCo writes a log about the strangest of these models into the working directory.
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("mujoco", reason="the mujoco extra is not installed")
    defaults = '<default><dcmotor motorconst="0.05" resistance="3" damping="1e-5 0 2e-7"/></default>'
    text = model('<dcmotor name="m" joint="knee" saturation="0 2"/>').replace("<worldbody>", defaults + "<worldbody>")
    actuator, params = mjcf.load(text, "m")
    assert float(params.motor.winding.resistance) == 3
    assert float(params.motor.limit.peak_torque) == pytest.approx(0.1)
    assert isinstance(actuator.drag, jm.PolynomialDrag)
    assert float(params.drag.cubic_drag) == 2e-7
    base = '<dcmotor name="m" joint="knee" motorconst="0.05" resistance="3" {}/>'
    for silent, match in (
        ('lugre="100 -1 0.1 0.2 1"', "lugre:damping"),
        ('lugre="100 1 0.3 0.2 1"', "lugre:static"),
        ('lugre="100 1 0.1 0.2 0"', "lugre:stribeck"),
        ('damping="-1"', "viscous_damping"),
        ('armature="-1"', "rotor_inertia"),
        ('gear="0"', "gear"),
        ('input="pos" controller="1 0 0 -3"', "slewmax"),
    ):
        with pytest.raises(ValueError, match=match):
            mjcf.load(model(base.format(silent)), "m")


def test_damping_of_the_joint_counts_for_passivity():
    pytest.importorskip("mujoco", reason="the mujoco extra is not installed")
    # sigma1 (tau_s - tau_c) / tau_c = 0.01 at the motor is 1 at a joint behind gear 10.
    element = '<dcmotor name="m" joint="knee" motorconst="1" resistance="3" gear="10" lugre="100 0.01 0.1 0.2 1"/>'
    mjcf.load(model(element, damping=1.01), "m")
    with pytest.warns(jm.PassivityWarning):
        mjcf.load(model(element, damping=0.9), "m")


def test_load_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"pip install 'jaxmotor\[mujoco\]'"):
        mjcf.load("<mujoco/>", "m")
