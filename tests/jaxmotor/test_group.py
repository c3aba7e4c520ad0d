"""Groups of actuators: RaiSim's page, couplings, power, batches, gradients."""

import dataclasses
import itertools
import json
import math

import equinox as eqx
import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor import urdf
from jaxmotor._description import ActuatorDescription, Coupling, JointDescription, MotorDescription
from jaxmotor._enforcement import Monitored
from jaxmotor._group_build import group_of, torque_actuator
from jaxmotor._region import OperatingRegion
from jaxmotor._result import Result
from jaxmotor._saturation import Saturation

HOUND = {"resistance": 0.4, "torque_constant": 0.1, "velocity_constant": 10.0, "bus_voltage": 24.0, "peak_torque": 3.0}
OTHER = {
    "resistance": 0.17,
    "torque_constant": 0.061,
    "velocity_constant": 15.0,
    "bus_voltage": 33.0,
    "peak_torque": 4.1,
}


def actuator_element(joint, gear_ratio, motor, couplings=(), **attributes):
    given = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    numbers = " ".join(f'{name}="{value!r}"' for name, value in motor.items())
    coupled = "".join(f'<coupling joint="{c["joint"]}" ratio="{c["ratio"]!r}"/>' for c in couplings)
    return f'<actuator joint="{joint}" gear_ratio="{gear_ratio!r}" {given}><motor {numbers}/>{coupled}</actuator>'


def robot(actuators, joints=None, dynamics=""):
    names = joints or [a["joint"] for a in actuators]
    body = "".join(f'<joint name="{name}" type="revolute">{dynamics}</joint>' for name in names)
    return f"<robot>{body}{''.join(actuator_element(**a) for a in actuators)}</robot>"


def load(actuators, joints=None, enforced=True, **others):
    group, params = urdf.loads(robot(actuators, joints, **others))
    if not enforced:
        group = eqx.tree_at(lambda g: g.enforcement, group, Monitored(), is_leaf=lambda x: x is group.enforcement)
    return group, params


def with_rotors(params, rotor_inertia):
    return eqx.tree_at(lambda p: p.actuators[0].gear.rotor_inertia, params, jnp.asarray(rotor_inertia, float))


def step(group, params, ctrl, qvel, dt=1e-3):
    """The outputs of one step from rest angles."""
    run = jax.jit(lambda *arguments: group.step(*arguments)[1])
    return run(group.init(params), params, jnp.asarray(ctrl), jnp.zeros(len(qvel)), jnp.asarray(qvel), dt)


HOUND_LEG = [
    {"joint": "HFE", "gear_ratio": 10.0, "motor": HOUND},
    {"joint": "KFE", "gear_ratio": 10.0, "motor": HOUND, "couplings": [{"joint": "HFE", "ratio": 1.0}]},
]


@pytest.fixture(scope="module")
def cases(shared):
    return json.loads((shared / "goldens/raisim/raisim_cases.json").read_text())["cases"]


def of_kind(cases, kind):
    chosen = [(case["inputs"], case["expected"], case["id"]) for case in cases if case["kind"] == kind]
    assert chosen
    return chosen


def close(got, expected, scale=1.0):
    np.testing.assert_allclose(got, np.asarray(expected, float), rtol=1e-12, atol=1e-12 * scale)


def test_steps_of_the_page(cases):
    for given, right, case in of_kind(cases, "actuator_step"):
        group, params = load(given["actuators"], given["joints"], given["enforced"])
        qvel = jnp.asarray(given["joint_velocity"])
        out = step(group, params, given["actuator_torque"], qvel)
        assert group.joint_names == tuple(given["joints"])
        close(group.transmission(params), right["T"])
        close(group.motor_speed(params, qvel), right["motor_speed"])
        close(out.motor_speed, right["motor_speed"])
        close(out.commanded_motor_torque, right["commanded_motor_torque"])
        close(out.motor_torque, right["motor_torque"])
        close(out.joint_torque, right["joint_torque"], 100)
        lower, upper = group.torque_bounds(params, qvel)
        close(lower, right["bound_lower"], 10)
        close(upper, right["bound_upper"], 10)
        assert [Saturation(int(code)).name for code in out.saturation] == right["saturation"], case
        power = out.motor_torque @ out.motor_speed - out.joint_torque @ qvel
        assert abs(power) < 1e-12 * (1 + jnp.abs(out.motor_torque) @ jnp.abs(out.motor_speed))


def test_effort_limit_and_region_stay_apart(cases):
    for given, right, _ in of_kind(cases, "joint_torque_sum"):
        actuator = {key: value for key, value in given["actuator"].items() if key != "name"}
        group, params = load([actuator], enforced=given["enforced"])
        out = step(group, params, [given["actuator_torque"]], [given["joint_velocity"]])
        asked = np.clip(given["tau_ff"] + given["tau_pd"], -given["effort_limit"], given["effort_limit"])
        close(out.joint_torque[0], right["actuator_part"], 10)
        close(asked + out.joint_torque[0], right["total"], 10)
        close(out.motor_torque[0], right["motor_torque"])


def test_reflected_inertia_of_the_page(cases):
    for given, right, _ in of_kind(cases, "reflected_inertia"):
        group, params = load(given["actuators"], given["joints"])
        params = with_rotors(params, given["rotor_inertia"])
        close(group.reflected_inertia(params), right["matrix"])
        close(group.reflected_inertia(params, off_diagonal=False), np.diag(right["raisim_joint_rotor_inertia"]))
        close(group.reflected_inertia(params)[0, 1], right["off_diagonal_not_simulated_by_raisim"])


def test_time_step_of_the_page(cases):
    for given, right, _ in of_kind(cases, "time_step_stability"):
        group, params = load([given["actuator"]])
        bound = group.stable_step(params, jnp.asarray([given["joint_inertia"]]))
        np.testing.assert_allclose(bound, right["dt_bound"], rtol=1e-12)

        def body(speed, _, group=group, params=params, given=given):
            _, out = group.step(group.init(params), params, jnp.array([given["command"]]), speed, speed, given["dt"])
            return speed + given["dt"] * out.joint_torque / given["joint_inertia"], (speed, out.joint_torque)

        last, (speeds, torques) = jax.lax.scan(body, jnp.asarray([given["u0"]]), length=given["steps"])
        trail = jnp.concatenate([speeds, last[None]])[-4:, 0]
        np.testing.assert_allclose(sorted(trail), sorted(right["last_speeds"]), rtol=1e-9)
        assert jnp.max(jnp.abs(torques)) <= right["max_abs_torque_le"] * (1 + 1e-12)


def test_losses_of_the_page(cases):
    for given, right, _ in of_kind(cases, "output_losses"):
        own = f'<dynamics damping="{given["joint_damping"]}" friction="{given["joint_friction"]}"/>'
        group, params = load([given["actuator"]], dynamics=own)
        out = step(group, params, [given["motor_torque"] * given["actuator"]["gear_ratio"]], [given["joint_velocity"]])
        close(out.loss_torque[0], right["loss_torque"])
        close(out.joint_torque[0] + out.loss_torque[0], right["net_joint_torque"])
        close(group.damping(params), [given["joint_damping"] + given["actuator"]["output_damping"]])
        close(group.friction(params), [given["joint_friction"] + given["actuator"]["output_friction"]])


def test_actions_of_the_page(cases):
    for given, right, _ in of_kind(cases, "action_to_torque"):
        group, params = load([given["actuator"]])
        qvel = jnp.asarray([given["joint_velocity"]])
        torques = [group.scale_action(params, qvel, jnp.asarray([a]))[0] for a in given["action"]]
        close(torques, right["torque"], 30)


def test_averages_over_a_step(cases):
    for given, right, _ in of_kind(cases, "state_power"):
        group, params = load([given["actuator"]])
        mean = group.average_motor_speed(
            params, np.array([given["joint_velocity_begin"]]), np.array([given["joint_velocity_end"]])
        )
        close(mean[0], right["average_motor_speed"])
        close(mean[0] * given["motor_torque"], right["mechanical_power"], 100)
    for given, right, _ in of_kind(cases, "damping_impulse"):
        actuator = {"joint": "j", "gear_ratio": 3.0, "motor": HOUND, "output_damping": given["output_damping"]}
        group, params = load([actuator], dynamics=f'<dynamics damping="{given["joint_damping"]}"/>')
        begin, end = np.array([given["u_begin"]]), np.array([given["u_end"]])
        close(group.damping_torque(params, begin, end)[0], right["damping_torque"])


def test_a_coupled_pair():
    group, params = load(HOUND_LEG)
    qvel = jnp.array([10.0, 20.0])
    close(group.motor_speed(params, qvel), [100, 210])
    out = step(group, params, [5.0, 3.0], qvel)
    close(out.motor_torque, [0.5, 0.3])
    close(out.joint_torque, [5.3, 3.0])
    close(group.reflected_inertia(with_rotors(params, [1e-4, 1e-4])), [[0.0101, 0.001], [0.001, 0.01]])
    close(group.torque_bounds(params, qvel)[1][1], 10 * OperatingRegion(0.4, 0.1, 0.1, 24, 3).bounds(210.0).upper, 10)


def test_motor_side_and_joint_side():
    motor = {"resistance": 0.5, "torque_constant": 0.05, "back_emf_constant": 0.05, "bus_voltage": 48.0}
    group, params = load([{"joint": "j", "gear_ratio": 9.0, "motor": motor}])
    close(group.reflected_inertia(with_rotors(params, [2e-5])), [[1.62e-3]])
    close(81 * group.regions(params).back_emf_damping, [0.405])
    close(step(group, params, [10.8], [0.0]).motor_torque, [1.2])


def test_rotor_inertia_given_at_the_joints():
    text = robot(HOUND_LEG)
    for joint, value in {"HFE": 100 * 2e-4 + 3e-4, "KFE": 100 * 3e-4}.items():
        text = text.replace(
            f'"{joint}" type="revolute">', f'"{joint}" type="revolute"><dynamics rotor_inertia="{value}"/>'
        )
    group, params = urdf.loads(text)
    np.testing.assert_allclose(group.rotor_inertia(params), [2e-4, 3e-4], rtol=1e-12)
    text = text.replace(f'"{100 * 2e-4 + 3e-4}"', '"0"')
    with pytest.warns(UserWarning, match="rotor_inertia of joint 'HFE' is less than"):
        group, params = urdf.loads(text)
    close(group.rotor_inertia(params), [0, 3e-4])


def quadruped():
    legs = ("LF", "RF", "LH", "RH")
    actuators = []
    for leg in legs:
        actuators.append({"joint": f"{leg}_HAA", "gear_ratio": 6.0, "motor": OTHER})
        actuators.append({"joint": f"{leg}_HFE", "gear_ratio": 10.0, "motor": HOUND})
        coupling = [{"joint": f"{leg}_HFE", "ratio": 1.0}]
        actuators.append({"joint": f"{leg}_KFE", "gear_ratio": 10.0, "motor": HOUND, "couplings": coupling})
    return actuators


def test_region_equals_the_actuator_built_of_stages():
    """Torque drive, bus and torque limit in an `Actuator` are the operating region, in all four quadrants."""
    rng = np.random.default_rng(1)
    region = OperatingRegion(0.31, 0.087, 1 / 9.4, 36.0, 7.0)
    actuator = torque_actuator()
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(0.31, 0.087, 1 / 9.4), limit=jm.TorqueLimitParams(7.0)),
        supply=jm.FixedSupplyParams(36.0),
    )
    speed, torque = jnp.asarray(rng.uniform(-900, 900, 20_000)), jnp.asarray(rng.uniform(-25, 25, 20_000))
    state = actuator.init(params)
    _, out = jax.jit(jax.vmap(lambda w, t: actuator.step(state, params, t, 0 * w, w, jnp.asarray(1e-3))))(speed, torque)
    clipped, saturation = region.clip(speed, torque)
    np.testing.assert_allclose(out.motor_torque, clipped, rtol=0, atol=1e-12 * 7)
    quadrants = {(bool(w > 0), bool(t > 0)) for w, t in zip(speed, clipped, strict=True)}
    assert len(quadrants) == 4
    edge = np.abs(np.abs(region.bounds(speed).upper - torque)) < 1e-9
    np.testing.assert_array_equal(np.asarray(out.saturation)[~edge], np.asarray(saturation)[~edge])
    assert set(np.asarray(saturation)) == {0, 1, 2}


def test_a_quadruped_conserves_power_and_stays_inside():
    group, params = load(quadruped())
    assert len(group.names) == 12
    rng = np.random.default_rng(2)
    count = 100_000  # times twelve motors
    qvel, ctrl = jnp.asarray(rng.uniform(-60, 60, (count, 12))), jnp.asarray(rng.uniform(-90, 90, (count, 12)))
    state = group.init(params)
    run = jax.jit(jax.vmap(lambda u, t: group.step(state, params, t, u, u, 1e-3)[1]))
    out = run(qvel, ctrl)
    power = jnp.sum(out.motor_torque * out.motor_speed, axis=1) - jnp.sum(out.joint_torque * qvel, axis=1)
    scale = jnp.sum(jnp.abs(out.motor_torque * out.motor_speed), axis=1)
    assert jnp.max(jnp.abs(power) / scale) < 1e-12
    regions = group.regions(params)
    outside = jax.vmap(regions.violation)(out.motor_speed, out.motor_torque)
    assert jnp.max(outside / regions.peak_torque[None]) < 1e-12
    lower, upper = jax.vmap(lambda u: group.torque_bounds(params, u))(qvel)
    applied = out.motor_torque * group.gear_ratio(params)[None]
    np.testing.assert_allclose(applied, jnp.clip(ctrl, lower, upper), rtol=0, atol=1e-11 * 50)
    assert jnp.all(out.result == Result.OK)


def test_a_swinging_hip_uses_up_the_knee_motors_voltage():
    group, params = load(HOUND_LEG)
    params = eqx.tree_at(lambda p: p.coupling_ratio, params, jnp.array([12.0]))
    resting = group.torque_bounds(params, jnp.array([0.0, 0.0]))[1][1]
    swinging = group.torque_bounds(params, jnp.array([18.0, 0.0]))[1][1]
    close([resting, swinging], [30, 6], 10)


def test_bus_voltage_changes_inside_jit():
    group, params = load(quadruped())
    qvel, ctrl = jnp.full(12, 20.0), jnp.full(12, 80.0)
    state = group.init(params)

    @jax.jit
    @eqx.debug.assert_max_traces(max_traces=1)
    def torque(volts):
        return group.step(state, group.with_bus_voltage(params, volts), ctrl, qvel, qvel, 1e-3)[1].motor_torque

    for volts in (18.0, 24.0, 31.0):
        text = robot([{**a, "motor": {**a["motor"], "bus_voltage": volts}} for a in quadruped()])
        close(torque(volts), step(*urdf.loads(text), ctrl, qvel).motor_torque, 10)
    one = group.with_bus_voltage(params, 5.0, "LF_KFE")
    close(
        group.bus_voltage(one),
        [5.0 if name == "LF_KFE" else v for name, v in zip(group.names, group.bus_voltage(params), strict=True)],
    )
    each = group.with_bus_voltage(params, np.arange(1.0, 13.0))
    close(group.bus_voltage(each), np.arange(1, 13))
    with pytest.raises(ValueError, match="no actuator named 'tail'; the group has: LF_HAA"):
        group.with_bus_voltage(params, 5.0, "tail")
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="bus voltage must be positive and finite"):
            group.with_bus_voltage(params, bad)


def test_thousands_of_randomised_robots_trace_once():
    group, params = load(quadruped())
    rng = np.random.default_rng(5)

    @jax.jit
    @eqx.debug.assert_max_traces(max_traces=1)
    def run(volts, share):
        def one(volts, share):
            mine = group.with_bus_voltage(params, volts)
            resistance = params.actuators[0].motor.winding.resistance
            mine = eqx.tree_at(lambda p: p.actuators[0].motor.winding.resistance, mine, resistance * share)
            speed = jnp.full(12, 17.0)
            return group.step(group.init(mine), mine, jnp.full(12, 60.0), speed, speed, 1e-3)[1].joint_torque

        return jax.vmap(one)(volts, share)

    for _ in range(3):
        volts, share = jnp.asarray(rng.uniform(18, 30, 4096)), jnp.asarray(rng.uniform(0.8, 1.2, (4096, 12)))
        torque = run(volts, share)
    for at in (0, 1000, 4095):
        actuators = quadruped()
        for k, actuator in enumerate(actuators):
            motor = actuator["motor"]
            resistance = motor["resistance"] * float(share[at, k])
            actuator["motor"] = {**motor, "resistance": resistance, "bus_voltage": float(volts[at])}
        close(torque[at], step(*load(actuators), np.full(12, 60.0), np.full(12, 17.0)).joint_torque, 100)


def unlike():
    """Actuators of four structures, with gear losses, drag, dry friction, heat and a derated current."""
    plain = torque_actuator()
    servo = jm.Actuator(jm.Motor(jm.QuasiStatic()), jm.ServoDrive(), jm.FixedSupply(), drag=jm.MotorSideDrag())
    friction = jm.LoadDependentFriction(stribeck=jm.Stribeck())
    slow = jm.Actuator(
        jm.Motor(jm.Inductive(), limit=jm.TorqueLimit()),
        jm.TorqueDrive(),
        jm.FixedSupply(),
        jm.LossyGear(),
        dry_friction=friction,
    )
    hot = jm.Actuator(
        jm.Motor(jm.QuasiStatic(), jm.LumpedThermal()),
        jm.VoltageDrive(),
        jm.FixedSupply(),
        dry_friction=jm.CoulombFriction(),
        current_limit=jm.DeratedCurrentLimit(),
    )
    winding, inductive = jm.QuasiStaticParams(0.5, 0.05, 0.06), jm.InductiveParams(0.5, 0.05, 0.06, 1e-3)
    gears = [jm.GearParams(ratio) for ratio in (4.0, 5.0, -6.0, 7.0)]
    lossy = jm.LossyGearParams(-8.0, 1e-5, 0.8, 0.6, 0.01, 0.02)
    limit, drag = jm.TorqueLimitParams(0.7), jm.PolynomialDragParams(1e-4, 1e-6, 1e-8)
    stribeck = jm.LoadDependentFrictionParams(0.2, stribeck=jm.StribeckParams(0.1, 3.0))
    heat = jm.LumpedThermalParams(5.0, 2.0, 0.0039, 25.0, 40.0)

    def supplied(volts):
        return jm.FixedSupplyParams(volts)

    return [
        (plain, jm.ActuatorParams(jm.MotorParams(winding, limit=limit), supply=supplied(20.0), gear=gears[0])),
        (
            servo,
            jm.ActuatorParams(jm.MotorParams(winding), jm.ServoDriveParams(0.3), supplied(21.0), gears[1], drag=drag),
        ),
        (plain, jm.ActuatorParams(jm.MotorParams(winding, limit=limit), supply=supplied(22.0), gear=gears[2])),
        (
            slow,
            jm.ActuatorParams(
                jm.MotorParams(inductive, limit=limit), supply=supplied(23.0), gear=lossy, dry_friction=stribeck
            ),
        ),
        (
            hot,
            jm.ActuatorParams(
                jm.MotorParams(winding, heat),
                supply=supplied(24.0),
                gear=gears[3],
                dry_friction=jm.CoulombFrictionParams(0.15),
                current_limit=jm.DeratedCurrentLimitParams(9.0, 3.0, 35.0, 60.0),
            ),
        ),
    ]


def mounted(single, couplings=()):
    names = [f"j{at}" for at in range(len(single))]
    joints = [JointDescription(name, "revolute") for name in names]
    coupled = dict(couplings)
    return group_of(
        joints,
        [jm.MountedActuator(n, a, p, couplings=coupled.get(n, ())) for n, (a, p) in zip(names, single, strict=True)],
    )


def test_unlike_actuators_side_by_side():
    """A group of four structures equals its actuators one by one."""
    single = unlike()
    group, params = mounted(single)
    assert group.bank.members == ((0, 2), (1,), (3,), (4,))
    ctrl, qpos, qvel = jnp.array([2.0, 1.0, -3.0, 4.0, 8.0]), jnp.linspace(-1, 1, 5), jnp.array([30.0, 17, -2, -9, 6])
    state = group.init(params)
    singles = [actuator.init(p) for actuator, p in single]
    run, steps = jax.jit(group.step), [jax.jit(actuator.step) for actuator, _ in single]
    for _ in range(3):
        state, out = run(state, params, ctrl, qpos, qvel, 1e-3)
        for at, (actuator, p) in enumerate(single):
            shaft = isinstance(actuator.controller, jm.TorqueDrive)
            command = ctrl[at] / p.gear.ratio if shaft else ctrl[at]
            singles[at], alone = steps[at](singles[at], p, command, qpos[at], qvel[at], jnp.asarray(1e-3))
            close([out.motor_torque[at], out.joint_torque[at]], [alone.motor_torque, alone.joint_torque])
            close([out.current[at], out.supply_current[at]], [alone.current, alone.supply_current], 10)
            assert out.saturation[at] == alone.saturation
            none = jnp.zeros(())
            budget = actuator.dry_friction.budget(p.dry_friction, qvel[at], none, none)
            close(out.loss_torque[at], alone.drag_torque - jnp.sign(qvel[at]) * budget)
    assert abs(out.joint_torque[3] + 8.0 * out.motor_torque[3]) > 0.1
    assert out.saturation[4] == Saturation.CURRENT
    swapped = group.with_bus_voltage(params, 9.0, "j3")
    close(group.bus_voltage(swapped), [20, 21, 22, 9, 24])
    lower, upper = group.torque_bounds(params, qvel)
    assert jnp.all(lower <= upper)
    # A current limit is a bound too: Kt times the rated current, at the gear's output.
    close(group.torque_bounds(params, jnp.zeros(5))[1][4], 7 * 0.05 * 9)
    with pytest.raises(ValueError, match="a robot file holds torque-driven motors"):
        urdf.dumps(group, params)


def test_losses_behind_a_coupling_take_energy():
    """The knee's gear loses at the knee, its motor's drag also at the hip; power is lost in every motion."""
    single = unlike()
    group, params = mounted([single[1], single[3]], [("j1", (Coupling("j0", 3.0),)), ("j0", (Coupling("j1", -2.0),))])
    ratio = float(single[3][1].gear.ratio)
    run = jax.jit(lambda command, qvel: group.step(group.init(params), params, command, 0 * qvel, qvel, 1e-3)[1])
    drags = jax.jit(lambda qvel: group.drag_torque(params, qvel))
    for hip, knee, sign in itertools.product((-20.0, 0.0, 20.0), (-5.0, 0.0, 2.0), (-1, 1)):
        qvel = np.array([hip, knee])
        out = jax.tree.map(np.asarray, run(sign * jnp.array([0.4, 2.0]), jnp.asarray(qvel)))
        w, (first, second) = out.motor_speed, out.motor_torque
        close(w, [5 * hip - 2 * knee, 3 * hip - 8 * knee])
        into = -np.sign(knee) * second
        loss = -np.sign(knee) * max(0.2 * into + 0.01, (1 - 1 / 0.6) * into + 0.02)
        close(out.joint_torque, [5 * first + 3 * second, -2 * first + ratio * (second - loss)], 10)
        drag = -w[0] * (1e-4 + 1e-6 * abs(w[0]) + 1e-8 * w[0] ** 2)
        close(drags(jnp.asarray(qvel)), [5 * drag, -2 * drag])
        spent = out.motor_torque @ w - (out.joint_torque + out.loss_torque) @ qvel
        budget = 0.2 + 0.1 * math.exp(-((knee / 3.0) ** 2))
        close(spent, -drag * w[0] + ratio * loss * knee + budget * abs(knee), 100)
        assert spent >= 0


def test_what_a_group_cannot_hold():
    winding = jm.QuasiStaticParams(0.5, 0.05, 0.06)
    motor = jm.Motor(jm.QuasiStatic())
    params = jm.ActuatorParams(jm.MotorParams(winding), supply=jm.FixedSupplyParams(24.0))

    def group_of_one(actuator, params, monitor=False):
        group_of([JointDescription("a", "revolute")], [jm.MountedActuator("a", actuator, params)], monitor)

    with pytest.raises(ValueError, match="needs FixedSupply, not IdealSupply"):
        group_of_one(jm.Actuator(motor, jm.TorqueDrive()), params)
    loaded = jm.LoadDependentFriction(slow_load=jm.SymmetricLoadFriction())
    with pytest.raises(ValueError, match="LoadDependentFriction depends on the load's torque"):
        group_of_one(jm.Actuator(motor, jm.TorqueDrive(), jm.FixedSupply(), dry_friction=loaded), params)
    loose = dataclasses.replace(params, gear=jm.BacklashParams(5.0, 1e-5, 0.01, 100.0))
    with pytest.raises(ValueError, match="need stiff gears, not Backlash"):
        group_of_one(jm.Actuator(motor, jm.TorqueDrive(), jm.FixedSupply(), jm.Backlash()), loose)
    with pytest.raises(ValueError, match="monitor mode needs a commanded torque"):
        group_of_one(jm.Actuator(motor, jm.VoltageDrive(), jm.FixedSupply()), params, monitor=True)
    bad = eqx.tree_at(lambda p: p.motor.winding.resistance, params, jnp.asarray(-1.0))
    with pytest.raises(ValueError, match=r"^actuator 'a': motor.winding.resistance \[ohm\] is -1"):
        group_of_one(jm.Actuator(motor, jm.TorqueDrive(), jm.FixedSupply()), bad)


def test_monitor_mode():
    group, params = load(HOUND_LEG, enforced=False)
    out = step(group, params, [60.0, -50.0], [21.0, 3.0])
    close(out.motor_torque, [6, -5])
    assert list(out.saturation) == [Saturation.VOLTAGE, Saturation.PEAK_TORQUE]
    lower, upper = group.torque_bounds(params, jnp.zeros(2))
    assert jnp.all(jnp.isneginf(lower))
    assert jnp.all(jnp.isposinf(upper))
    with pytest.raises(ValueError, match="in monitor mode there are none"):
        group.scale_action(params, jnp.zeros(2), jnp.zeros(2))


@pytest.mark.parametrize("spoiled", ["ctrl", "qvel", "params"])
def test_not_a_number_is_reported_per_robot(spoiled):
    group, params = load(HOUND_LEG)
    batch = jax.tree.map(lambda x: jnp.stack([x] * 3), params)
    ctrl, qvel = jnp.ones((3, 2)), jnp.ones((3, 2))
    if spoiled == "ctrl":
        ctrl = ctrl.at[1, 0].set(jnp.nan)
    elif spoiled == "qvel":
        qvel = qvel.at[1, 0].set(jnp.nan)
    else:
        batch = eqx.tree_at(
            lambda p: p.actuators[0].motor.winding.resistance, batch, jnp.full((3, 2), 0.4).at[1, 0].set(jnp.nan)
        )
    out = jax.vmap(lambda p, t, u: group.step(group.init(p), p, t, u, u, 1e-3)[1])(batch, ctrl, qvel)
    assert list(out.result) == [Result.OK, Result.BAD_INPUT, Result.OK]
    assert jnp.isnan(out.motor_torque[1, 0])
    assert jnp.all(jnp.isfinite(out.motor_torque[jnp.array([0, 2])]))


def test_keeps_single_precision():
    with jax.enable_x64(False):
        group, params = load(HOUND_LEG)
        state = group.init(params)
        _, out = group.step(state, params, np.array([5.0, 3.0]), np.zeros(2), np.ones(2), 0.001)
        floats = [leaf for leaf in jax.tree.leaves(out) if jnp.issubdtype(leaf.dtype, jnp.floating)]
        assert {leaf.dtype for leaf in floats} == {jnp.dtype(jnp.float32)}
        np.testing.assert_allclose(out.joint_torque, [5.3, 3.0], rtol=1e-6)
        assert urdf.loads(urdf.dumps(group, params))[0] == group


def test_gradients_equal_central_differences():
    group, params = load(quadruped())
    rng = np.random.default_rng(7)
    qvel, ctrl = jnp.asarray(rng.uniform(-25, 25, 12)), jnp.asarray(rng.uniform(-60, 60, 12))
    weights = jnp.asarray(rng.normal(size=12))
    flat, unflatten = jax.flatten_util.ravel_pytree((params, qvel, ctrl))

    def score(x):
        params, qvel, ctrl = unflatten(x)
        out = group.step(group.init(params), params, ctrl, qvel, qvel, 1e-3)[1]
        return weights @ (out.joint_torque + 0.3 * out.loss_torque) + jnp.sum(out.supply_current)

    slope, value = jax.jit(jax.grad(score))(flat), jax.jit(jax.vmap(score))
    h = 1e-6 * np.maximum(np.abs(flat), 1e-2)
    here = np.asarray(flat)
    difference = (value(jnp.asarray(here + np.diag(h))) - value(jnp.asarray(here - np.diag(h)))) / (2 * h)
    np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-6 * float(jnp.max(jnp.abs(slope))) * 1e-2)
    np.testing.assert_allclose(jax.jit(jax.jacfwd(score))(flat), slope, rtol=1e-9, atol=1e-9)
    assert np.count_nonzero(slope) > 100


def test_gradients_are_finite_at_rest():
    group, params = load([{**a, "output_friction": 0.1} for a in HOUND_LEG])

    def score(params, qvel, ctrl):
        out = group.step(group.init(params), params, ctrl, qvel, qvel, 1e-3)[1]
        return jnp.sum(out.joint_torque + out.loss_torque) + jnp.sum(out.supply_current)

    for ctrl in (jnp.zeros(2), jnp.full(2, 30.0)):
        for leaf in jax.tree.leaves(jax.jit(jax.grad(score, argnums=(0, 1, 2)))(params, jnp.zeros(2), ctrl)):
            assert jnp.all(jnp.isfinite(leaf))


def test_stable_step_of_a_coupled_pair_separates_settling_from_oscillation():
    group, params = load(HOUND_LEG)
    params = with_rotors(params, [1e-4, 2e-4])
    mass = jnp.array([[0.03, 0.002], [0.002, 0.01]])
    bound = group.stable_step(params, mass)
    total = mass + group.reflected_inertia(params)

    def spread(dt):
        def body(speed, _):
            out = group.step(group.init(params), params, jnp.full(2, 1e3), speed, speed, dt)[1]
            return speed + dt * jnp.linalg.solve(total, out.joint_torque), speed

        _, speeds = jax.lax.scan(body, jnp.array([20.0, 21.0]), length=4000)
        return jnp.max(jnp.ptp(speeds[-50:], axis=0))

    assert spread(0.97 * bound) < 1e-3
    assert spread(1.05 * bound) > 1e-1


def test_round_trip_through_text():
    text = robot(
        [
            {**a, "name": f"m{k}", "model": "hound &lt;leg&gt;", "output_friction": 0.1 / 3}
            for k, a in enumerate(HOUND_LEG)
        ]
    )
    group, params = urdf.loads(text)
    params = with_rotors(group.with_bus_voltage(params, 100 / 7, "m1"), [1e-4 / 3, 0.0])
    again, numbers = urdf.loads(urdf.dumps(group, params))
    assert again == group
    jax.tree.map(np.testing.assert_array_equal, numbers, params)
    watched = load(HOUND_LEG, enforced=False)[0]
    assert isinstance(urdf.loads(urdf.dumps(watched, params))[0].enforcement, Monitored)
    with pytest.raises(ValueError, match="dumps writes one robot"):
        urdf.dumps(group, jax.tree.map(lambda x: jnp.stack([x, x]), params))


def test_replaces_the_actuators_of_a_robot_file():
    text = robot(HOUND_LEG, dynamics='<limit effort="5" velocity="3"/><dynamics damping="0.25"/>')
    group, params = urdf.loads(text)
    changed = group.with_bus_voltage(params, 19.0)
    written = urdf.dumps(group, changed, robot=text)
    assert written.count("<actuator") == 2
    assert 'effort="5"' in written
    again, numbers = urdf.loads(written)
    assert again == group
    jax.tree.map(np.testing.assert_array_equal, numbers, changed)


def test_recorded_files_survive_a_round_trip(shared):
    folder = shared / "goldens/raisim/urdf_cases"
    for case, record in json.loads((folder / "expected.json").read_text())["valid"].items():
        group, params = urdf.load(folder / "valid" / case / record["urdf"])
        assert list(group.names) == [a["name"] for a in record["actuators"]]
        assert list(group.models) == [a["model"] for a in record["actuators"]]
        close(
            1 / group.regions(params).back_emf_constant, [a["motor"]["velocity_constant"] for a in record["actuators"]]
        )
        close(group.regions(params).peak_torque, [float(a["motor"]["peak_torque"]) for a in record["actuators"]])
        again, numbers = urdf.loads(urdf.dumps(group, params))
        assert again == group
        jax.tree.map(np.testing.assert_array_equal, numbers, params)
        empty_or_not = group.step(
            group.init(params), params, jnp.zeros(len(group.names)), *[jnp.zeros(len(group.joint_names))] * 2, 1e-3
        )[1]
        assert empty_or_not.result == Result.OK


def described(**changes):
    motor = MotorDescription(0.4, 0.1, 0.1, 24.0, 3.0, changes.pop("rotor_inertia", None))
    motor = dataclasses.replace(motor, **{k: changes.pop(k) for k in ("resistance", "peak_torque") if k in changes})
    return dataclasses.replace(ActuatorDescription("knee", 9.0, motor, couplings=(Coupling("hip", 1.0),)), **changes)


JOINTS = (JointDescription("hip", "revolute"), JointDescription("knee", "revolute"))


def test_a_group_from_python():
    group, params = group_of(JOINTS, [described(rotor_inertia=2e-4, gear_ratio=-9.0)])
    close(group.transmission(params), [[1, -9]])
    close(group.reflected_inertia(params), 2e-4 * np.outer([1, -9], [1, -9]))
    lower, upper = group.torque_bounds(params, jnp.array([0.0, 20.0]))
    close([lower[0], upper[0]], [-27, 13.5], 10)
    with pytest.raises(ValueError, match="needs a positive gear_ratio, not -9"):
        urdf.dumps(group, params)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"resistance": -1.0}, "resistance must be positive"),
        ({"peak_torque": math.nan}, "peak torque must be positive"),
        ({"gear_ratio": 0.0}, "gear_ratio must be finite and not zero"),
        ({"output_friction": -0.1}, "output_friction must be finite and not negative"),
        ({"rotor_inertia": math.inf}, "rotor_inertia must be finite and not negative"),
        ({"couplings": (Coupling("hip", math.nan),)}, "coupling to 'hip' must be finite"),
        ({"couplings": (Coupling("knee", 1.0),)}, "coupled to the joint 'knee' that it drives"),
        ({"joint": "toe"}, "unknown joint 'toe'; the robot has: hip, knee"),
    ],
)
def test_a_group_from_python_refuses_bad_numbers(changes, reason):
    with pytest.raises(ValueError, match=f"^actuator '.*'.*{reason}"):
        group_of(JOINTS, [described(**changes)])


def test_rows_that_carry_more_than_a_command():
    group, params = load(HOUND_LEG)
    volts, enabled = jnp.array([18.0, 24.0]), jnp.array([True, False])
    row = jm.Input(jnp.array([30.0, 30.0]), bus_voltage=volts, enabled=enabled)
    qvel = jnp.array([17.0, 3.0])
    run = jax.jit(lambda *arguments: group.step(*arguments)[1])
    out = run(group.init(params), params, row, qvel, qvel, 1e-3)
    close(out.motor_torque, [(18 - 17) * 0.25, 0.0])
    assert list(out.saturation) == [Saturation.VOLTAGE, Saturation.NONE]
    assert [out.current[1], out.supply_current[1]] == [0, 0]


def test_a_bridge_that_is_off_does_not_load_the_battery():
    battery = jm.BatteryParams(jnp.full(2, 24.0), jnp.array([0.0, 1.0]), 0.3, 1.0)
    both, both_params = load(HOUND_LEG)
    one, one_params = load(HOUND_LEG[:1])
    out = []
    for group, params, row in (
        (both, both_params, jm.Input(jnp.array([20.0, 30.0]), enabled=jnp.array([True, False]))),
        (one, one_params, jnp.array([20.0])),
    ):
        group = dataclasses.replace(group, bus=jm.SharedBattery())
        params = dataclasses.replace(params, bus=battery)
        qvel = jnp.full(len(group.names), 3.0)
        out.append(group.step(group.init(params), params, row, qvel, qvel, 1e-3)[1])
    close(out[0].bus_voltage[0], out[1].bus_voltage[0])
    close(out[0].bus_current, out[1].bus_current)
    assert out[1].bus_voltage[0] < 23


def test_one_float_type():
    group, params = load(HOUND_LEG)
    single = jnp.ones(2, jnp.float32)
    with pytest.raises(TypeError, match="the params are float64 but an input of the step is float32"):
        group.step(group.init(params), params, single, single, single, 1e-3)
