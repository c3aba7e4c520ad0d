"""Batteries: balance of this very step, charge, energy, and the sag laws of others."""

import dataclasses

import equinox as eqx
import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jaxmotor as jm
from jaxmotor import urdf
from jaxmotor._actuator_bank import sort_by_kind
from jaxmotor._battery import Battery, BatteryParams, BatteryState
from jaxmotor._bus import SharedBattery
from jaxmotor._bus_balance import BusLoad, balanced_bus_voltage
from jaxmotor._group import ActuatorGroup, GroupParams
from jaxmotor._lagged_sag import SagParams, SupplyCurrentSag, TorqueSag, WindingCurrentSag
from jaxmotor._transmission import Transmission

CELLS = BatteryParams(
    open_circuit_voltage=jnp.array([19.0, 22.0, 23.0, 25.2]),
    charge_points=jnp.array([0.0, 0.2, 0.7, 1.0]),
    internal_resistance=0.08,
    capacity=4.5,
    initial_charge=0.6,
)
WINDING = jm.QuasiStaticParams(0.35, 0.07, 0.07)


def terminal_voltages(loads, bus_voltage):
    """v of each winding, written as the plain clips."""
    asked = np.clip(loads.slope * bus_voltage + loads.constant, loads.lower, loads.upper)
    return np.clip(asked, -loads.ceiling * bus_voltage, loads.ceiling * bus_voltage)


def power(loads, bus_voltage):
    volts = terminal_voltages(loads, bus_voltage)
    return np.sum(volts * (loads.conductance * volts + loads.offset))


def random_loads(rng, count):
    """Torque- and duty-driven windings, driving and braking, some with a current limit."""
    duty = rng.random(count) < 0.5
    windowed = rng.random(count) < 0.4
    resistance, back_emf = rng.uniform(0.1, 2, count), rng.uniform(-28, 28, count)
    limit = np.where(windowed, rng.uniform(2, 40, count), np.inf)
    return BusLoad(
        slope=jnp.asarray(np.where(duty, rng.uniform(-1.3, 1.3, count), 0.0)),
        constant=jnp.asarray(np.where(duty, 0.0, rng.uniform(-40, 40, count))),
        lower=jnp.asarray(back_emf - limit * resistance),
        upper=jnp.asarray(back_emf + limit * resistance),
        ceiling=jnp.asarray(np.where(duty, rng.uniform(0.5, 1.0, count), 1.0)),
        conductance=jnp.asarray(1 / resistance),
        offset=jnp.asarray(-back_emf / resistance),
    )


balance = jax.jit(balanced_bus_voltage)


@settings(max_examples=150)
@given(st.integers(0, 2**31), st.sampled_from([1, 3, 12]), st.floats(8, 40), st.floats(0, 0.6))
def test_source_and_loads_balance(seed, count, source, resistance):
    loads = random_loads(np.random.default_rng(seed), count)
    voltage = float(balance(source, resistance, loads))
    loads = jax.tree.map(np.asarray, loads)
    drawn = power(loads, voltage)
    scale = 1 + abs(voltage) * (source + resistance * np.sum(np.abs(loads.conductance * source + loads.offset)))
    if voltage > 0:
        np.testing.assert_allclose(voltage * (source - voltage), resistance * drawn, rtol=0, atol=1e-11 * scale)
    # The highest: above it the source could feed more than the loads take.
    for higher in voltage * (1 + 1e-6) + np.geomspace(1e-6, 100, 60):
        assert higher * (higher - source) + resistance * power(loads, higher) > -1e-9 * scale


@pytest.mark.parametrize("seed", range(6))
def test_the_balance_knows_no_unit(seed):
    """In millivolts and milliamperes it is the same balance: no voltage is small by itself."""
    loads, small = random_loads(np.random.default_rng(seed), 3), 1e-3
    scaled = dataclasses.replace(
        loads,
        **{name: getattr(loads, name) * small for name in ("constant", "lower", "upper", "offset")},
    )
    np.testing.assert_allclose(balance(24.0 * small, 0.5, scaled), small * balance(24.0, 0.5, loads), rtol=1e-12)


def test_a_stiff_source_does_not_sag():
    loads = random_loads(np.random.default_rng(0), 12)
    assert balance(24.0, 0.0, loads) == 24.0


def test_closed_form_for_one_duty():
    """V = (E - r d o) / (1 + r g d²)."""
    duty, conductance, offset = 0.7, 2.0, -3.0
    one = jnp.ones(1)
    loads = BusLoad(duty * one, 0 * one, -jnp.inf * one, jnp.inf * one, one, conductance * one, offset * one)
    expected = (24 - 0.1 * duty * offset) / (1 + 0.1 * conductance * duty**2)
    np.testing.assert_allclose(balance(24.0, 0.1, loads), expected, rtol=1e-14)


def test_more_power_than_the_source_has_collapses_to_the_bridge_limit():
    """A constant power beyond E²/4r has no bus voltage; the bridge then gives all it has."""
    one = jnp.ones(1)
    loads = BusLoad(0 * one, 20 * one, -jnp.inf * one, jnp.inf * one, one, 5 * one, 0 * one)
    voltage = balance(24.0, 0.4, loads)
    np.testing.assert_allclose(voltage, 24 / (1 + 0.4 * 5), rtol=1e-14)


def test_gradients_of_the_balance_equal_central_differences():
    rng = np.random.default_rng(3)
    checked = 0
    flat, unflatten = jax.flatten_util.ravel_pytree((jnp.asarray(24.0), jnp.asarray(0.15), random_loads(rng, 4)))
    score = jax.jit(lambda x: balanced_bus_voltage(*unflatten(x)))
    slope_of = jax.jit(jax.grad(score))
    for _ in range(20):
        loads = random_loads(rng, 4)
        flat = jax.flatten_util.ravel_pytree((jnp.asarray(24.0), jnp.asarray(0.15), loads))[0]
        keep = np.flatnonzero(np.isfinite(flat) & (np.asarray(flat) != 0))
        slope = slope_of(flat)
        assert np.all(np.isfinite(slope))
        for k in keep:
            h = 1e-6 * abs(float(flat[k]))
            ahead, here, behind = (float(score(flat.at[k].add(s * h))) for s in (1, 0, -1))
            if np.isclose(ahead - here, here - behind, rtol=1e-3, atol=1e-12):
                np.testing.assert_allclose(slope[k], (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-7)
                checked += 1
    assert checked > 400


def driven(controller, bus_or_supply=None, **stages):
    return jm.Actuator(jm.Motor(jm.QuasiStatic()), controller, bus_or_supply or jm.FixedSupply(), **stages)


def stepper(group):
    """The compiled step of a group or an actuator."""
    return jax.jit(lambda *arguments: group.step(*arguments))


def group_of(controllers, bus, bus_params, winding=WINDING, volts=24.0, controller_params=None):
    """Actuators without gears, each on a joint of its own, on one bus."""
    count = len(controllers)
    windings = winding if isinstance(winding, list) else [winding] * count
    each = [
        jm.ActuatorParams(
            jm.MotorParams(windings[k]),
            None if controller_params is None else controller_params[k],
            jm.FixedSupplyParams(volts),
        )
        for k in range(count)
    ]
    bank, stacked = sort_by_kind([driven(controller) for controller in controllers], each)
    names = tuple(f"m{k}" for k in range(count))
    wiring = Transmission(count, tuple(range(count)))
    group = ActuatorGroup(names, names, ("revolute",) * count, ("",) * count, wiring, bank, bus)
    return group, GroupParams(stacked, jnp.zeros(0), *(jnp.zeros(count) for _ in range(4)), bus=bus_params)


def test_winding_current_is_not_bus_current():
    winding = jm.QuasiStaticParams(0.5, 0.05, 0.05)
    drives = [jm.VoltageDrive()] * 3
    group, params = group_of(drives, SharedBattery(), constant_battery(0.0), winding)
    qvel = jnp.array([100.0, -100.0, 100.0])
    _, out = stepper(group)(group.init(params), params, jnp.array([12.0, -12.0, 2.0]), qvel, qvel, 1e-3)
    np.testing.assert_allclose(out.current, [14, -14, -6], rtol=1e-12)
    np.testing.assert_allclose(out.supply_current, [7, 7, -0.5], rtol=1e-12)
    np.testing.assert_allclose(out.bus_current, 13.5, rtol=1e-12)
    np.testing.assert_allclose(out.voltage * out.current, 24 * out.supply_current, rtol=1e-12)


def test_a_shorted_motor_draws_nothing():
    winding = jm.QuasiStaticParams(0.5, 0.02, 0.02)
    group, params = group_of([jm.VoltageDrive()] * 3, SharedBattery(), constant_battery(0.1), winding)
    speed = jnp.full(3, 300.0)
    _, out = stepper(group)(group.init(params), params, jnp.array([0.0, 6.0, 3.0]), speed, speed, 1e-3)
    np.testing.assert_allclose(out.current, [-12, 0, -6], atol=1e-12)
    np.testing.assert_allclose(out.motor_torque, [-0.24, 0, -0.12], atol=1e-12)
    assert out.supply_current[0] == 0


def constant_battery(internal_resistance, volts=24.0, capacity=2.0):
    return BatteryParams(jnp.full(2, volts), jnp.array([0.0, 1.0]), internal_resistance, capacity, 0.5)


def test_one_step_of_a_mixed_group_balances_on_this_steps_currents():
    """Gain r Σ g d² above one, where a bus that is one step late would diverge."""
    duty, torque = jm.DutyDrive(), jm.TorqueDrive()
    group, params = group_of([duty, torque, duty, torque], SharedBattery(), constant_battery(0.5))
    speed, ctrl = jnp.array([50.0, 120.0, -80.0, -200.0]), jnp.array([0.9, 1.5, 0.4, 0.8])
    state, step = group.init(params), stepper(group)
    seen = []
    for _ in range(3):
        state, out = step(state, params, ctrl, speed, speed, 1e-3)
        seen.append(out.bus_voltage[0])
        np.testing.assert_allclose(out.bus_voltage[0], 24 - 0.5 * out.bus_current, rtol=1e-13)
        np.testing.assert_allclose(out.bus_voltage[0] * out.bus_current, out.voltage @ out.current, rtol=1e-12)
    assert seen[0] == seen[1] == seen[2]
    np.testing.assert_allclose(state.bus.charge, 0.5 - 3 * float(out.bus_current) * 1e-3 / (3600 * 2), rtol=1e-12)


def test_a_battery_without_regeneration():
    numbers = constant_battery(0.2)
    bus = SharedBattery(Battery(regeneration=False))
    group, params = group_of([jm.VoltageDrive()] * 2, bus, numbers)
    braking = jnp.array([250.0, 250.0])
    state, out = stepper(group)(group.init(params), params, jnp.array([8.0, 8.0]), braking, braking, 1e-3)
    assert jnp.all(out.supply_current < 0)
    assert out.bus_current == 0
    assert jnp.all(out.bus_voltage == 24)
    assert state.bus.charge == 0.5
    # One brakes while the other drives: the battery gives only the difference.
    mixed = jnp.array([250.0, 0.0])
    _, out = stepper(group)(group.init(params), params, jnp.array([8.0, 15.0]), mixed, mixed, 1e-3)
    assert out.supply_current[0] < 0 < out.supply_current[1]
    np.testing.assert_allclose(out.bus_current, jnp.sum(out.supply_current), rtol=1e-12)
    np.testing.assert_allclose(out.bus_voltage[0], 24 - 0.2 * out.bus_current, rtol=1e-12)
    charging = SharedBattery(Battery())
    group, params = group_of([jm.VoltageDrive()] * 2, charging, numbers)
    state, out = stepper(group)(group.init(params), params, jnp.array([8.0, 8.0]), braking, braking, 1e-3)
    assert out.bus_voltage[0] > 24
    assert state.bus.charge > 0.5


def test_voltage_follows_charge():
    battery = Battery()
    for charge, expected in {0.0: 19.0, 0.1: 20.5, 0.45: 22.5, 1.0: 25.2, 1.5: 25.2, -0.2: 19.0}.items():
        state = BatteryState(jnp.asarray(charge), jnp.zeros(()))
        np.testing.assert_allclose(battery.open_circuit_voltage(state, CELLS), expected)


def test_single_actuator_and_group_of_one_agree():
    actuator = driven(jm.TorqueDrive(), Battery())
    params = jm.ActuatorParams(jm.MotorParams(WINDING), supply=CELLS)
    group, grouped = group_of([jm.TorqueDrive()], SharedBattery(), CELLS)
    state, many = actuator.init(params), group.init(grouped)
    step = jnp.asarray(1e-2)
    run_group, run_alone = stepper(group), stepper(actuator)
    for torque, speed in ((0.9, 50.0), (2.0, 200.0), (-1.0, 250.0), (0.1, -10.0)):
        torque, speed = jnp.asarray(torque), jnp.asarray(speed)
        state, out = run_alone(state, params, torque, speed, speed, step)
        many, outs = run_group(many, grouped, torque[None], speed[None], speed[None], step)
        np.testing.assert_allclose(outs.motor_torque[0], out.motor_torque, rtol=1e-13)
        np.testing.assert_allclose(outs.bus_current, out.supply_current, rtol=1e-13)
        np.testing.assert_allclose(many.bus.charge, state.supply.charge, rtol=1e-15)


def test_a_measured_bus_takes_the_place_of_the_battery():
    actuator = driven(jm.DutyDrive(), Battery())
    params = jm.ActuatorParams(jm.MotorParams(WINDING), supply=CELLS)
    row = jm.Input(jnp.asarray(0.5), bus_voltage=jnp.asarray(20.0))
    speed = jnp.asarray(30.0)
    _, out = stepper(actuator)(actuator.init(params), params, row, speed, speed, jnp.asarray(1e-3))
    np.testing.assert_allclose(out.voltage, 10, rtol=1e-14)


def test_battery_params_are_checked():
    with pytest.raises(ValueError, match=r"open_circuit_voltage has shape \(3,\), but charge_points has \(2,\)"):
        BatteryParams(jnp.ones(3), jnp.array([0.0, 1.0]), 0.1, 2.0)
    with pytest.raises(ValueError, match="charge_points must rise, not"):
        BatteryParams(jnp.ones(2), jnp.array([1.0, 0.0]), 0.1, 2.0)
    group, params = group_of([jm.TorqueDrive()], SharedBattery(), CELLS)
    with pytest.raises(ValueError, match="follows from its SharedBattery"):
        group.with_bus_voltage(params, 20.0)


def test_energy_balance_over_a_run():
    """Chemical energy = heat in the battery + copper + shaft work, and the shaft work is kinetic energy."""
    drives = [jm.TorqueDrive(), jm.DutyDrive(), jm.TorqueDrive()]
    group, params = group_of(drives, SharedBattery(), CELLS)
    inertia, dt, steps = jnp.array([2e-4, 3e-4, 1e-4]), 1e-3, 2000
    times = jnp.linspace(0, steps * dt, steps)
    ctrl = jnp.stack([1.2 * jnp.sin(9 * times), 0.9 * jnp.cos(7 * times), -0.8 * jnp.sin(21 * times)], axis=1)

    def body(carry, command):
        state, speed = carry
        # The speed in the middle of the step, so that torque times it is the change of kinetic energy.

        def closer(_, middle):
            out = group.step(state, params, command, speed, middle, dt)[1]
            return speed + dt * out.joint_torque / inertia / 2

        middle = jax.lax.fori_loop(0, 40, closer, speed)
        source = group.bus.battery.open_circuit_voltage(state.bus, params.bus)
        after, out = group.step(state, params, command, speed, middle, dt)
        drawn = source * (state.bus.charge - after.bus.charge) * 3600 * params.bus.capacity
        heat = (params.bus.internal_resistance * out.bus_current**2 + jnp.sum(0.35 * out.current**2)) * dt
        end = speed + dt * out.joint_torque / inertia
        return (after, end), (drawn, heat, jnp.sum(inertia * (end**2 - speed**2)) / 2)

    run = jax.jit(lambda: jax.lax.scan(body, (group.init(params), jnp.zeros(3)), ctrl)[1])
    drawn, heat, kinetic = (np.asarray(x) for x in run())
    # A charge near 0.5 carries 1e-16 of 0.5 · Q · E, some 1e-11 J a row.
    total = np.sum(np.abs(drawn)) + np.sum(heat)
    assert total > 10
    assert abs(np.sum(drawn) - np.sum(heat) - np.sum(kinetic)) < 1e-9 * total


def test_gradients_through_a_run_are_finite_and_right():
    group, params = group_of([jm.TorqueDrive(), jm.DutyDrive()], SharedBattery(), CELLS)
    ctrl = jnp.stack([jnp.linspace(0, 2, 30), jnp.linspace(1, -1, 30)], axis=1)

    def score(params):
        def body(carry, command):
            state, speed = carry
            state, out = group.step(state, params, command, speed, speed, 2e-3)
            return (state, speed + 2e-3 * out.joint_torque / 1e-3), out.bus_voltage[0]

        (state, speed), volts = jax.lax.scan(body, (group.init(params), jnp.zeros(2)), ctrl)
        return jnp.sum(speed) + jnp.sum(volts) + 100 * state.bus.charge

    flat, unflatten = jax.flatten_util.ravel_pytree(params)
    run = jax.jit(lambda x: score(unflatten(x)))
    slope = jax.jit(jax.grad(lambda x: score(unflatten(x))))(flat)
    assert np.all(np.isfinite(slope))
    for k in range(flat.size):
        h = 1e-6 * max(abs(float(flat[k])), 1e-2)
        difference = (run(flat.at[k].add(h)) - run(flat.at[k].add(-h))) / (2 * h)
        np.testing.assert_allclose(slope[k], difference, rtol=1e-5, atol=1e-5 * float(jnp.max(jnp.abs(slope))))


def test_gradients_at_rest_are_finite():
    group, params = group_of([jm.TorqueDrive(), jm.DutyDrive()], SharedBattery(), CELLS)

    def score(params, ctrl, qvel):
        _, out = group.step(group.init(params), params, ctrl, qvel, qvel, 1e-3)
        return jnp.sum(out.motor_torque) + out.bus_current + out.bus_voltage[0]

    for leaf in jax.tree.leaves(jax.jit(jax.grad(score, argnums=(0, 1, 2)))(params, jnp.zeros(2), jnp.zeros(2))):
        assert jnp.all(jnp.isfinite(leaf))


@pytest.mark.parametrize("regeneration", [True, False])
def test_single_precision(regeneration):
    with jax.enable_x64(False):
        numbers = jax.tree.map(lambda x: x.astype(jnp.float32), CELLS)
        actuator = driven(jm.TorqueDrive(), Battery(regeneration))
        winding = jax.tree.map(lambda x: x.astype(jnp.float32), WINDING)
        params = jm.ActuatorParams(jm.MotorParams(winding), supply=numbers)
        f = jnp.float32
        state, out = stepper(actuator)(actuator.init(params), params, f(0.9), f(0), f(50), f(1e-3))
        assert state.supply.charge.dtype == out.motor_torque.dtype == jnp.float32
        np.testing.assert_allclose(out.motor_torque, 0.9, rtol=1e-5)


def test_a_robot_file_on_one_battery(shared):
    group, params = urdf.load(shared / "goldens/raisim/urdf_cases/valid/v02_linked_shared_file_and_coupling/r.urdf")
    group = eqx.tree_at(lambda g: g.bus, group, SharedBattery(), is_leaf=lambda x: x is group.bus)
    params = eqx.tree_at(lambda p: p.bus, params, CELLS, is_leaf=lambda x: x is None)
    _, out = stepper(group)(group.init(params), params, jnp.full(3, 15.0), jnp.zeros(3), jnp.full(3, 10.0), 1e-3)
    assert jnp.all(out.bus_voltage == out.bus_voltage[0])
    np.testing.assert_allclose(out.bus_voltage[0], 22.8 - 0.08 * out.bus_current, rtol=1e-12)


def test_torque_sag_of_the_newton_draft(shared):
    run = np.load(shared / "goldens/newton/draft_battery_torque_sag.npz")
    for battery in (0, 1):
        mine = np.flatnonzero(run["dof_battery"] == battery)
        numbers = SagParams(*(float(run[name][battery]) for name in ("nominal_voltage", "sag_gain", "min_voltage")))
        winding = [jm.QuasiStaticParams(*(float(run[n][k]) for n in ("resistance", "kt", "kt"))) for k in mine]
        servo = [jm.ServoDriveParams(float(run["kp"][k]), float(run["max_pwm"][k])) for k in mine]
        group, params = group_of([jm.ServoDrive()] * len(mine), TorqueSag(), numbers, winding, 1.0, servo)
        state, step = group.init(params), stepper(group)
        for row in range(60):
            rows = [jnp.asarray(run[name][row, mine], jnp.float64) for name in ("target_q", "q", "qd")]
            state, out = step(state, params, *rows, 1e-3)
            np.testing.assert_allclose(out.motor_torque, run["tau"][row, mine], rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(out.bus_voltage[0], run["battery_voltage"][row, battery], rtol=1e-5)


def test_winding_current_sag_of_bam(shared):
    run = np.load(shared / "goldens/newton/bam_mujoco_sag.npz")
    kt = float(run["kt"])
    numbers = SagParams(float(run["vin"]), float(run["drop_resistance"]), float(run["vin_min"]))
    servo = [jm.ServoDriveParams(float(run["kp"] * run["error_gain"]), float(run["max_pwm"]))] * 2
    winding = jm.QuasiStaticParams(float(run["resistance"]), kt, kt)
    group, params = group_of([jm.ServoDrive()] * 2, WindingCurrentSag(), numbers, winding, 1.0, servo)
    state, step = group.init(params), stepper(group)
    for row in range(300):
        measure = jnp.asarray(np.sum(np.abs(run["prev_actuator_torque"][row])) / kt)
        state = eqx.tree_at(lambda s: s.bus.measure, state, measure)
        rows = [jnp.asarray(run[name][row]) for name in ("target_q", "q", "qd")]
        state, out = step(state, params, *rows, 1e-3)
        np.testing.assert_allclose(out.bus_voltage[0], run["vin_effective"][row], rtol=1e-12)
        np.testing.assert_allclose(out.motor_torque, run["tau"][row], rtol=1e-12, atol=1e-12)


def test_supply_current_sag_of_bam(shared):
    run = np.load(shared / "goldens/newton/spec_bam_head_duty_sag.npz")
    kt = float(run["kt"])
    numbers = SagParams(float(run["vin"]), float(run["drop_resistance"]), float(run["vin_min"]))
    winding = jm.QuasiStaticParams(float(run["resistance"]), kt, kt)
    group, params = group_of([jm.DutyDrive()] * 4, SupplyCurrentSag(), numbers, winding, 1.0)
    state, step = group.init(params), stepper(group)
    for duty, qd, volts, current, tau in zip(
        *(run[name] for name in ("duty", "qd", "vin_effective", "battery_current", "tau")), strict=True
    ):
        np.testing.assert_allclose(state.bus.measure, current, rtol=1e-12, atol=1e-12)
        state, out = step(state, params, jnp.asarray(duty), jnp.asarray(qd), jnp.asarray(qd), 1e-3)
        np.testing.assert_allclose(out.bus_voltage[0], volts, rtol=1e-12)
        np.testing.assert_allclose(out.motor_torque, tau, rtol=1e-12, atol=1e-12)
