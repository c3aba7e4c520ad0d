"""Newton's actuators: its page's equations, its recorded runs, and gradients where its own are wrong."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor import urdf
from jaxmotor._controller import Demand
from jaxmotor._engine_numbers import to_isaaclab, to_newton
from jaxmotor._newton import newton_dc_clamp, newton_motor_dc, position_based_limit
from jaxmotor._newton_drive import (
    NewtonDelay,
    NewtonDelayParams,
    NewtonPD,
    NewtonPDParams,
    NewtonPID,
    NewtonPIDParams,
)
from jaxmotor._region import OperatingRegion


@pytest.fixture(scope="module")
def goldens(shared):
    def load(name):
        recorded = np.load(shared / f"goldens/newton/{name}.npz")
        return {
            key: recorded[key].astype(float) if recorded[key].dtype.kind == "f" else recorded[key] for key in recorded
        }

    return load


def close(got, expected, tol=1e-5):
    """The error measure that the recorded runs are given with."""
    assert np.max(np.abs(np.asarray(got) - expected) / np.maximum(1, np.abs(expected))) < tol


def per_slot(function):
    return jax.jit(jax.vmap(function))


def ideal(controller, **stages):
    """A drive whose torque reaches the shaft as it is, or through a torque limit."""
    return jm.Actuator(jm.Motor(jm.QuasiStatic(), **stages), controller)


ONE = jm.QuasiStaticParams(1.0, 1.0, 1.0)
DT = jnp.asarray(1e-3)


def test_pid_by_hand():
    """tau = const + ff + kp e + ki s + kd (qd* - qd) with the integral that holds this step's error."""
    params = NewtonPIDParams(3.0, 0.5, 7.0, 1.0, 0.25)
    state = NewtonPID().init(params)
    demand = Demand((jnp.asarray(0.8), jnp.asarray(2.0), jnp.asarray(0.125)), None, ONE)
    first, request = NewtonPID().step(state, params, demand, jnp.asarray(0.2), jnp.asarray(0.4), jnp.asarray(0.1))
    assert float(first.integral) == pytest.approx(0.06, rel=1e-14)
    by_hand = 0.25 + 0.125 + 3 * 0.6 + 7 * 0.06 + 0.5 * 1.6
    assert float(request.torque) == pytest.approx(by_hand, rel=1e-14)
    bounded, request = NewtonPID().step(
        first, dataclasses.replace(params, integral_bound=jnp.asarray(0.1)), demand, jnp.asarray(0.2), jnp.asarray(0.4),
        jnp.asarray(0.1),
    )  # fmt: skip
    assert float(bounded.integral) == 0.1
    assert float(request.torque) == pytest.approx(by_hand + 7 * 0.04, rel=1e-14)


def test_motor_dc_follows_the_page(goldens):
    run = goldens("spec_motor_dc")
    actuator, params = newton_motor_dc(run["kt"], run["resistance"], run["supply_voltage"])
    state = jax.vmap(actuator.init)(params)
    step = per_slot(lambda s, p, u, w: actuator.step(s, p, u, jnp.zeros_like(w), w, DT)[1])
    out = step(state, params, jnp.asarray(run["u_command"]), jnp.asarray(run["qd"]))
    for name, value in {"u_clamped": out.voltage, "current": out.current, "tau": out.motor_torque}.items():
        close(value, run[name], 1e-12)
    close(out.supply_current, run["source_current"], 1e-12)
    close(run["supply_voltage"] * out.supply_current, np.asarray(out.voltage * out.current), 1e-12)
    at_duty = jm.Actuator(actuator.motor, jm.DutyDrive(), actuator.supply)
    step = per_slot(lambda s, p, d, w: at_duty.step(s, p, d, jnp.zeros_like(w), w, DT)[1])
    duty = np.where(run["supply_voltage"] > 0, run["duty"], 0.7)
    close(step(state, params, jnp.asarray(duty), jnp.asarray(run["qd"])).motor_torque, run["tau"], 1e-12)
    same = ~np.isnan(run["tau_newton_clampingdc_or_nan"])
    close(out.motor_torque[same], run["tau_newton_clampingdc_or_nan"][same])
    close(out.motor_torque, run["tau_bam"])


def test_motor_dc_refuses_what_its_page_refuses():
    for bad in (None, 0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match=r"kt (is missing|must be positive)"):
            newton_motor_dc(bad, 1.0, 12.0)
        with pytest.raises(ValueError, match=r"resistance (is missing|must be positive)"):
            newton_motor_dc(0.1, bad, 12.0)
    with pytest.raises(ValueError, match="vin is missing"):
        newton_motor_dc(0.1, 1.0, None)
    with pytest.raises(ValueError, match="motor 2 of 3: kt must be positive"):
        newton_motor_dc([0.1, -0.1, 0.1], 1.0, 12.0)
    with pytest.raises(ValueError, match=r"vin has shape \(2,\), but kt has \(3,\)"):
        newton_motor_dc([0.1] * 3, [1.0] * 3, [12.0] * 2)


def test_dc_clamp(goldens):
    run = goldens("clamping_dc_motor")
    region = newton_dc_clamp(run["saturation_effort"], run["velocity_limit"], run["max_motor_effort"])
    bounds = region.bounds(run["qd"])
    close(bounds.lower, run["bound_lower"])
    close(bounds.upper, run["bound_upper"])
    close(region.clip(run["qd"], run["effort_in"])[0], run["effort_out"])
    finite = np.isfinite(run["max_motor_effort"])
    velocity = run["velocity_limit"] * (1 + run["max_motor_effort"] / run["saturation_effort"])
    close(region.overspeed_limit[finite], velocity[finite])


def test_box_and_table_clamps(goldens):
    run = goldens("clamping_max_effort")
    drive = ideal(jm.TorqueDrive(), limit=jm.TorqueLimit())
    zero = jnp.zeros(())
    step = per_slot(
        lambda limit, effort: drive.step(
            drive.init(params := jm.ActuatorParams(jm.MotorParams(ONE, limit=jm.TorqueLimitParams(limit)))),
            params, effort, zero, zero, DT,
        )[1].motor_torque
    )  # fmt: skip
    close(step(jnp.asarray(run["max_effort"]), jnp.asarray(run["effort_in"])), run["effort_out"])
    run = goldens("clamping_position_based")
    limit = position_based_limit(jnp.asarray(run["lookup_positions"]), jnp.asarray(run["lookup_efforts"]), run["q"])
    close(jnp.clip(jnp.asarray(run["effort_in"]), -limit, limit), run["effort_out"])


def test_pd(goldens):
    run = goldens("drive_pd")
    actuator = ideal(NewtonPD())

    def one(kp, kd, const, command, q, qd):
        params = jm.ActuatorParams(jm.MotorParams(ONE), NewtonPDParams(kp, kd, const))
        return actuator.step(actuator.init(params), params, command, q, qd, DT)[1].motor_torque

    command = np.stack([run["target_q"], run["target_qd"], run["feedforward"]], axis=1)
    torque = per_slot(one)(
        *(jnp.asarray(x) for x in (run["kp"], run["kd"], run["const_effort"], command, run["q"], run["qd"]))
    )
    close(run["joint_f_before"] + torque, run["joint_f_after"])


def pid_params(run):
    gains = [jnp.asarray(run[name]) for name in ("kp", "kd", "ki", "integral_max")]
    return jax.vmap(lambda *g: jm.ActuatorParams(jm.MotorParams(ONE), NewtonPIDParams(*g)))(*gains)


def restarted(mask, start, state):
    """The state with the masked elements of the batch put back to the start."""
    return jax.tree.map(lambda a, b: jnp.where(mask.reshape(-1, *[1] * (b.ndim - 1)), a, b), start, state)


def test_pid_with_reset(goldens):
    run = goldens("drive_pid")
    actuator, params = ideal(NewtonPID()), pid_params(run)
    start = state = jax.vmap(actuator.init)(params)
    step = per_slot(lambda s, p, c, q, w: actuator.step(s, p, c, q, w, jnp.asarray(float(run["dt"]))))
    for row in range(run["q"].shape[0]):
        if row == run["reset_before_step"]:
            state = restarted(jnp.asarray(run["reset_mask"]), start, state)
        command = np.stack([run["target_q"][row], run["target_qd"][row], np.zeros(8)], axis=1)
        rows = [jnp.asarray(x) for x in (command, run["q"][row], run["qd"][row])]
        state, out = step(state, params, *rows)
        close(out.motor_torque, run["joint_f"][row])
        close(state.controller.integral, run["integral_after"][row])


def test_delay_with_reset(goldens):
    run = goldens("delay")
    delay = NewtonDelay(5, inputs=3)
    params = jax.vmap(NewtonDelayParams)(jnp.asarray(run["delay_steps"], jnp.float64))
    start = state = jax.vmap(delay.init)(params)
    step = per_slot(lambda s, p, c: delay.step(s, p, c, DT, DT, DT))
    for row in range(run["target_q"].shape[0]):
        if row == run["reset_before_step"]:
            state = restarted(jnp.asarray(run["reset_mask"]), start, state)
        command = np.stack([run[name][row] for name in ("target_q", "target_qd", "feedforward")], axis=1)
        state, late = step(state, params, jnp.asarray(command))
        expected = np.stack([run[name][row] for name in ("delayed_q", "delayed_qd", "delayed_ff")], axis=1)
        np.testing.assert_array_equal(late, expected)


def pipeline(run):
    """Delay, PD, DC clamp and box clamp of one slot: (params of every slot, init, step)."""
    delay, drive = NewtonDelay(5), NewtonPD()

    def params(slot):
        return (
            NewtonDelayParams(slot["delay_steps"]),
            NewtonPDParams(slot["kp"], slot["kd"]),
            newton_dc_clamp(slot["saturation_effort"], slot["velocity_limit"], slot["max_motor_effort"]),
            slot["max_effort"],
        )

    def step(state, params, target, q, qd):
        late, gains, region, box = params
        state, target = delay.step(state, late, target, q, qd, DT)
        command = jnp.stack([target, jnp.zeros_like(target), jnp.zeros_like(target)])
        _, request = drive.step(None, gains, jm.Demand(command, None, None), q, qd, DT)
        effort, _ = region.clip(qd, request.torque)
        return state, request.torque, jnp.clip(effort, -box, box)

    names = ("delay_steps", "kp", "kd", "saturation_effort", "velocity_limit", "max_motor_effort", "max_effort")
    slots = {name: jnp.asarray(run[name], jnp.float64) for name in names}
    return jax.vmap(params)(slots), lambda p: delay.init(p[0]), step


def test_pipeline_in_closed_loop(goldens):
    run = goldens("pipeline_closed_loop")
    params, init, step = pipeline(run)
    state, step = jax.vmap(init)(params), per_slot(step)
    single = np.float32
    qpos, qvel, dt = (single(run[name]) for name in ("q", "qd", "dt"))
    qpos, qvel = qpos[0], qvel[0]
    for row in range(run["q"].shape[0]):
        close(qpos, run["q"][row])
        close(qvel, run["qd"][row])
        target = jnp.asarray(run["target_q"][row])
        # The recorded motion for the efforts, where the gains would magnify its float32 rounding.
        _, raw, effort = step(state, params, target, jnp.asarray(run["q"][row]), jnp.asarray(run["qd"][row]))
        close(raw, run["effort_raw"][row])
        close(effort, run["effort_out"][row])
        state, _, effort = step(state, params, target, *(jnp.asarray(x, jnp.float64) for x in (qpos, qvel)))
        # The recorded load moved in float32, whose rounding a closed loop feeds back.
        qvel = single(qvel + dt * single(effort) / single(run["inertia"]))
        qpos = single(qpos + dt * qvel)


def test_gradients_recorded_where_newton_is_right(goldens):
    run = goldens("gradients_pd_dc")
    names = ("kp", "kd", "q", "qd", "target_q", "target_qd", "saturation_effort", "velocity_limit", "max_motor_effort")

    def effort(kp, kd, q, qd, target_q, target_qd, stall, speed, peak):
        command = jnp.stack([target_q, target_qd, jnp.zeros_like(q)])
        _, request = NewtonPD().step(None, NewtonPDParams(kp, kd), jm.Demand(command, None, None), q, qd, DT)
        return newton_dc_clamp(stall, speed, peak).clip(qd, request.torque)[0]

    values = [jnp.asarray(run[name]) for name in names]
    close(per_slot(effort)(*values), run["effort_out"])
    slopes = per_slot(jax.grad(effort, argnums=tuple(range(9))))(*values)
    for name, slope in zip(names, slopes, strict=True):
        close(slope, run[f"d_{name}"], 1e-4)


def central(function, at, h=1e-6):
    return np.array([(function(at + h * e) - function(at - h * e)) / (2 * h) for e in np.eye(len(at))])


def test_gradient_of_two_stacked_clamps():
    """A tighter second clamp on the negative side: all slope belongs to the second."""

    def effort(x):
        first, second = (newton_dc_clamp(40.0, 30.0, limit) for limit in (x[0], x[1]))
        return second.clip(0.0, first.clip(0.0, x[2])[0])[0]

    at = jnp.array([8.0, 4.0, -20.0])
    slope = jax.grad(effort)(at)
    np.testing.assert_allclose(slope, [0, -1, 0], atol=1e-12)
    np.testing.assert_allclose(slope, central(effort, at), atol=1e-6)


def test_gradient_of_pid_over_several_steps():
    actuator = ideal(NewtonPID())

    def efforts(x):
        params = jm.ActuatorParams(jm.MotorParams(ONE), NewtonPIDParams(x[0], x[1], x[2], 0.4))
        state, total = actuator.init(params), 0.0
        for k in range(4):
            command = jnp.stack([x[3], jnp.zeros_like(x[3]), jnp.zeros_like(x[3])])
            state, out = actuator.step(state, params, command, x[4] + 0.1 * k, x[5], jnp.asarray(0.02))
            total = total + (k + 1.0) * out.motor_torque
        return total

    at = jnp.array([30.0, 0.7, 5.0, 0.6, 0.1, 0.3])
    np.testing.assert_allclose(jax.jit(jax.grad(efforts))(at), central(jax.jit(efforts), at), rtol=1e-6)


def test_gradient_through_a_delay():
    delay = NewtonDelay(4)

    def pulled(x):
        params = NewtonDelayParams(x[0])
        state, total = delay.init(params), 0.0
        for k in range(5):
            state, late = delay.step(state, params, x[1 + k], DT, DT, DT)
            total = total + 20.0 * late * (k + 1)
        return total

    at = jnp.array([1.3, 0.2, -0.4, 0.9, 0.5, 0.1])
    np.testing.assert_allclose(jax.grad(pulled)(at), central(pulled, at), rtol=1e-6, atol=1e-7)


def test_servo_with_current_cap_of_bam(goldens):
    run = goldens("bam_voltage_servo")
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()), jm.ServoDrive(), jm.FixedSupply(), current_limit=jm.CurrentLimit()
    )
    cap = np.where(run["current_limited"], run["max_current"], np.inf)

    def one(kt, resistance, vin, gain, duty, cap, target, q, qd):
        params = jm.ActuatorParams(
            jm.MotorParams(jm.QuasiStaticParams(resistance, kt, kt)),
            jm.ServoDriveParams(gain, duty),
            jm.FixedSupplyParams(vin),
            current_limit=jm.CurrentLimitParams(cap),
        )
        return actuator.step(actuator.init(params), params, target, q, qd, DT)[1]

    gain = run["kp"] * run["error_gain"]
    values = (run["kt"], run["resistance"], run["vin"], gain, run["max_pwm"], cap, run["target_q"], run["q"], run["qd"])
    out = per_slot(one)(*map(jnp.asarray, values))
    close(out.voltage, run["voltage"], 1e-12)
    close(out.motor_torque, run["tau"], 1e-12)


ROBOT = """<robot><joint name="hip" type="revolute"/><joint name="knee" type="revolute"/>
<actuator joint="knee" gear_ratio="9" output_damping="0.02" output_friction="0.3">
<motor resistance="0.31" torque_constant="0.087" back_emf_constant="0.08" bus_voltage="36" peak_torque="6"/></actuator>
</robot>"""


def test_numbers_for_other_simulators():
    group, params = urdf.loads(ROBOT)
    gear = dataclasses.replace(params.actuators[0].gear, rotor_inertia=jnp.array([2e-5]))
    actuators = dataclasses.replace(params.actuators[0], gear=gear)
    params = dataclasses.replace(params, actuators=(actuators,))
    motor = OperatingRegion(0.31, 0.087, 0.08, 36, 6)
    lab = to_isaaclab(group, params)["knee"]
    assert set(lab) == {
        "saturation_effort", "effort_limit", "velocity_limit", "armature", "friction", "viscous_friction",
    }  # fmt: skip
    assert {"actuator_effort_limit", "actuator_velocity_limit"} < set(to_isaaclab(group, params, version=3)["knee"])
    np.testing.assert_allclose(lab["armature"], 81 * 2e-5)
    newton = to_newton(group, params)["knee"]
    clamp = newton["ClampingDCMotor"]
    region = newton_dc_clamp(**clamp)
    speed = jnp.linspace(-120, 120, 41)
    lower, upper = (9 * x for x in (motor.bounds(9 * speed).lower, motor.bounds(9 * speed).upper))
    np.testing.assert_allclose(region.bounds(speed).lower, lower, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(region.bounds(speed).upper, upper, rtol=1e-12, atol=1e-12)
    dc = newton["MotorDC"]
    np.testing.assert_allclose(dc["kt"] ** 2 / dc["resistance"], 81 * 0.087 * 0.08 / 0.31, rtol=1e-12)
    assert dc["vin"] == 36
    with pytest.raises(ValueError, match="versions 2 and 3, not 1"):
        to_isaaclab(group, params, version=1)
