"""Servo loops: gains in volts and newton metres, integrals and their bounds, limits, command filters."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

WINDING = jm.QuasiStaticParams(2.0, 0.05, 0.05)


def driven(controller, params, **parts):
    """A motor with R = 2 ohm, K = 0.05 under this controller."""
    stages = {key: stage for key, (stage, _) in parts.items()}
    values = {key: value for key, (_, value) in parts.items()}
    actuator = jm.Actuator(jm.Motor(jm.QuasiStatic()), controller, **stages)
    return actuator, jm.ActuatorParams(jm.MotorParams(WINDING), params, **values)


def torque(actuator, params, command, qpos=0.0, qvel=0.0, dt=1e-3):
    _, out = actuator.step(actuator.init(params), params, jnp.asarray(command), *map(jnp.asarray, (qpos, qvel, dt)))
    return out.motor_torque


def integrals_and_volts(actuator, params, commands, qpos=None, dt=1e-3):
    """Integral before, and voltage during, each row with the shaft at `qpos` and at rest."""
    rows = len(commands)
    angles = jnp.zeros(rows) if qpos is None else jnp.asarray(qpos)

    def body(state, row):
        after, out = actuator.step(state, params, *row, jnp.zeros(()), jnp.asarray(dt))
        return after, (state.controller.integral, out.voltage)

    run = jax.jit(lambda: jax.lax.scan(body, actuator.init(params), (jnp.asarray(commands), angles))[1])
    return [np.asarray(x) for x in run()]


# P06: stiffness K k_p / R, damping K (k_d + K) / R.
def test_gains_in_volts():
    def slopes(kp, kd):
        actuator, params = driven(jm.PositionPID(), jm.PositionPIDParams(kp, kd))
        return [-float(x) for x in jax.grad(functools.partial(torque, actuator, params, 0.0), argnums=(0, 1))(0.1, 0.2)]

    assert slopes(10.0, 0.0) == pytest.approx([0.25, 0.00125], rel=1e-12)
    assert slopes(400.0, 0.0)[0] == pytest.approx(10.0, rel=1e-12)
    assert slopes(400.0, 0.35)[1] == pytest.approx(0.01, rel=1e-12)


def test_one_function_converts_gains():
    wanted = jm.TorqueSpacePIDParams(10.0, 0.01)
    volts = jm.convert_gains(wanted, WINDING)
    assert isinstance(volts, jm.PositionPIDParams)
    assert float(volts.proportional_gain) == pytest.approx(400.0, rel=1e-12)
    assert float(volts.derivative_gain) == pytest.approx(0.35, rel=1e-12)
    # Kt and Ke apart: k_d = Kt / R (k_d + Ke).
    other = jm.QuasiStaticParams(3.0, 0.06, 0.04)
    newton_metres = jm.convert_gains(jm.PositionPIDParams(9.0, 0.5, jm.IntegralParams(4.0)), other)
    assert float(newton_metres.proportional_gain) == pytest.approx(0.18, rel=1e-12)
    assert float(newton_metres.integral.integral_gain) == pytest.approx(0.08, rel=1e-12)
    assert float(newton_metres.derivative_gain) == pytest.approx(0.02 * 0.54, rel=1e-12)
    back = jm.convert_gains(newton_metres, other)
    np.testing.assert_allclose(jax.tree.leaves(back), [9.0, 0.5, 4.0], rtol=1e-12)


def test_converted_gains_act_the_same_with_limits_and_a_hot_winding():
    integral = jm.ErrorIntegral(jm.IntegralBound())
    gains = jm.PositionPIDParams(
        20.0, 0.4, jm.IntegralParams(60.0, jm.IntegralBoundParams(0.03)), jm.VoltageLimitParams(12.0)
    )
    rng = np.random.default_rng(0)
    rows = [jnp.asarray(rng.normal(0, s, 200)) for s in (1.0, 1.0, 20.0)]
    torques = []
    for controller, params in (
        (jm.PositionPID(integral, jm.VoltageLimit()), gains),
        (jm.TorqueSpacePID(("pos",), integral, jm.VoltageLimit()), jm.convert_gains(gains, WINDING)),
    ):
        motor = jm.Motor(jm.QuasiStatic(), thermal=jm.LumpedThermal())
        node = jm.LumpedThermalParams(8.0, 0.05, 0.0039, 25.0, 60.0)
        actuator_params = jm.ActuatorParams(jm.MotorParams(WINDING, thermal=node), params)
        actuator = jm.Actuator(motor, controller)
        _, outs = jm.replay(actuator, actuator.init(actuator_params), actuator_params, *rows, 1e-3)
        torques.append(outs.motor_torque)
    np.testing.assert_allclose(*torques, rtol=1e-10, atol=1e-12)


# P26.
def test_integral_clamp():
    integral = jm.ErrorIntegral(jm.IntegralBound())
    bounded = jm.IntegralParams(10.0, jm.IntegralBoundParams(0.2))
    commands = np.where(np.arange(10_500) < 10_000, 1.0, -1.0)
    actuator, params = driven(jm.PositionPID(integral), jm.PositionPIDParams(5.0, 0.0, bounded))
    x, volts = integrals_and_volts(actuator, params, commands)
    assert x[9999] == pytest.approx(0.2, abs=1e-12)
    assert volts[9999] == pytest.approx(7.0, abs=1e-9)
    assert x[10_200] == pytest.approx(0.0, abs=1e-3)
    assert x[10_400] == pytest.approx(-0.2, abs=1e-3)
    assert volts[10_401] == pytest.approx(-7.0, abs=1e-9)
    limited = jm.PositionPIDParams(5.0, 0.0, bounded, jm.VoltageLimitParams(6.0))
    actuator, params = driven(jm.PositionPID(integral, jm.VoltageLimit()), limited)
    x, volts = integrals_and_volts(actuator, params, commands)
    assert volts[9999] == 6.0
    assert x[9999] == pytest.approx(0.2, abs=1e-12)
    # Another step, error and bound: 0.04 rad s at 2 rad and 2 ms takes 10 rows.
    actuator, params = driven(
        jm.PositionPID(integral), jm.PositionPIDParams(1.0, 0.0, jm.IntegralParams(3.0, jm.IntegralBoundParams(0.04)))
    )
    x, _ = integrals_and_volts(actuator, params, np.full(20, 2.0), dt=2e-3)
    np.testing.assert_allclose(x, np.minimum(4e-3 * np.arange(20), 0.04), rtol=1e-12)


def test_integral_is_first_order():
    # x' = u - theta with theta = sin 3 t, u = 1: x(1) = 1 - (1 - cos 3) / 3.
    exact = 1 - (1 - np.cos(3)) / 3
    actuator, params = driven(
        jm.PositionPID(jm.ErrorIntegral()), jm.PositionPIDParams(1.0, 0.0, jm.IntegralParams(1.0))
    )
    rows = np.array([100, 200, 400, 800])
    errors = [
        abs(
            integrals_and_volts(actuator, params, np.ones(n + 1), np.sin(3 / n * np.arange(n + 1)), 1 / n)[0][-1]
            - exact
        )
        for n in rows
    ]
    assert np.polyfit(np.log(1 / rows), np.log(errors), 1)[0] == pytest.approx(1, abs=0.1)


def travelling(integral, gains):
    """Speed of a loaded motor after 10 s of a 10 rad/s command."""
    actuator, params = driven(jm.VelocityPI(integral), jm.VelocityPIParams(0.05, gains))
    bench = jm.Bench(actuator, jm.RigidLoad())
    bench_params = jm.BenchParams(params, jm.RigidLoadParams(1e-3, 1e-4))
    _, outs = jm.rollout(bench, bench.init(bench_params), bench_params, jnp.full(10_000, 10.0), 1e-3)
    return float(outs.qvel[-1])


def test_speed_loop_travels_unless_its_target_is_bounded():
    assert travelling(jm.FollowingIntegral(), jm.FollowingIntegralParams(2.0, 1.0)) == pytest.approx(10, rel=1e-4)
    assert travelling(jm.TargetIntegral(), jm.IntegralParams(2.0)) == pytest.approx(10, rel=1e-4)
    # MuJoCo's bound on the target itself holds the motor near 1 rad.
    bound = jm.IntegralParams(2.0, jm.IntegralBoundParams(1.0))
    assert abs(travelling(jm.TargetIntegral(jm.IntegralBound()), bound)) < 0.05


def test_following_bound_is_on_the_difference():
    actuator, params = driven(jm.VelocityPI(), jm.VelocityPIParams(0.0, jm.FollowingIntegralParams(3.0, 0.5)))
    # A blocked shaft at 7 rad: the target follows at 0.5 rad, whatever it was before, so 1.5 V; back within one row
    # per 0.5 rad when the command turns.
    commands = np.where(np.arange(2000) < 1000, 5.0, -5.0)
    x, volts = integrals_and_volts(actuator, params, commands, np.full(2000, 7.0))
    assert volts[0] == -1.5
    assert volts[1000] == pytest.approx(1.5)
    assert volts[1100] == pytest.approx(0.0, abs=1e-9)
    assert volts[1999] == pytest.approx(-1.5)
    assert np.abs(x[1:] - 7).max() <= 0.5 + 5e-3 + 1e-12
    free, params = driven(jm.VelocityPI(jm.NoIntegral()), jm.VelocityPIParams(0.3))
    assert float(torque(free, params, 10.0, 1.0, 4.0)) == pytest.approx(0.025 * (0.3 * 6 - 0.05 * 4), rel=1e-12)


@pytest.mark.parametrize(
    ("inputs", "command", "demand", "added"),
    [
        (("pos",), 0.5, 2.0 * (0.5 - 0.1) + 0.1 * (0 - 3.0), 0.0),
        (("vel",), 4.0, 2.0 * (0 - 0.1) + 0.1 * (4.0 - 3.0), 0.0),
        (("ff",), 0.3, 2.0 * (0 - 0.1) + 0.1 * (0 - 3.0) + 0.3, 0.0),
        (("pos", "ff"), [0.5, -0.2], 2.0 * 0.4 - 0.3 - 0.2, 0.0),
        (("pos", "vel", "ff", "voltage"), [0.5, 4.0, 0.3, 1.5], 2.0 * 0.4 + 0.1 + 0.3, 1.5),
    ],
)
def test_torque_space(inputs, command, demand, added):
    actuator, params = driven(jm.TorqueSpacePID(inputs), jm.TorqueSpacePIDParams(2.0, 0.1))
    # The nameplate motor gives the demanded torque exactly; a raw voltage adds K v / R.
    assert float(torque(actuator, params, command, 0.1, 3.0)) == pytest.approx(demand + 0.025 * added, rel=1e-12)


def test_voltage_is_added_behind_the_limit():
    controller = jm.TorqueSpacePID(("ff", "voltage"), voltage_limit=jm.VoltageLimit())
    actuator, params = driven(controller, jm.TorqueSpacePIDParams(0.0, 0.0, voltage_limit=jm.VoltageLimitParams(6.0)))
    _, out = actuator.step(actuator.init(params), params, jnp.asarray([10.0, 2.0]), *map(jnp.asarray, (0.0, 0.0, 1e-3)))
    assert float(out.voltage) == 8.0


def test_torque_demand_follows_the_back_emf_within_the_step():
    # A constant torque demand accelerates without the droop of a held voltage: w = tau t / J, exact.
    actuator, params = driven(jm.TorqueSpacePID(("ff",)), jm.TorqueSpacePIDParams(0.0))
    bench, params = jm.Bench(actuator, jm.RigidLoad()), jm.BenchParams(params, jm.RigidLoadParams(1e-4))
    _, outs = jm.rollout(bench, bench.init(params), params, jnp.full(11, 0.01), 0.1)
    assert float(outs.qvel[-1]) == pytest.approx(0.01 / 1e-4, rel=1e-12)


def test_shorted_motor_brakes():
    actuator, params = driven(jm.ShortedDrive(), None)
    bench, params = jm.Bench(actuator, jm.RigidLoad()), jm.BenchParams(params, jm.RigidLoadParams(1e-4))
    _, outs = jm.rollout(bench, bench.init(params, qvel=100.0), params, jnp.zeros((101, 0)), 1e-3)
    # K^2 / R = 1.25e-3, so the time constant is 0.08 s.
    assert float(outs.qvel[-1]) == pytest.approx(100 * np.exp(-0.1 / 0.08), rel=1e-9)


@pytest.mark.parametrize(
    ("inputs", "match"),
    [(("vel", "pos"), "in this order"), (("speed",), "some of"), (("voltage",), "VoltageDrive"), ((), "ShortedDrive")],
)
def test_inputs_are_checked(inputs, match):
    with pytest.raises(ValueError, match=match):
        jm.TorqueSpacePID(inputs)


def test_integral_needs_a_position_and_commands_fit_their_inputs():
    with pytest.raises(ValueError, match="needs 'pos'"):
        jm.TorqueSpacePID(("vel",), jm.ErrorIntegral())
    actuator, params = driven(jm.TorqueSpacePID(("pos", "vel")), jm.TorqueSpacePIDParams(1.0))
    with pytest.raises(ValueError, match="the inputs are"):
        torque(actuator, params, 1.0)


def test_slew_acts_in_the_same_step_and_on_the_first_input_only():
    stage, params = jm.SlewLimiter(), jm.SlewLimiterParams(30.0)
    zero = jnp.zeros(())

    def body(state, command):
        return stage.step(state, params, command, zero, zero, jnp.asarray(0.01))

    _, out = jax.lax.scan(body, stage.init(params), jnp.asarray([1.0, 1.0, 0.5, -1.0]))
    np.testing.assert_allclose(out, [0.3, 0.6, 0.5, 0.2])
    _, out = jax.lax.scan(body, stage.init(params), jnp.asarray([[1.0, 9.0], [1.0, -9.0]]))
    np.testing.assert_allclose(out, [[0.3, 9.0], [0.6, -9.0]])


def test_filters_in_a_chain_and_a_common_range():
    chain = (
        jm.SetpointChain((jm.CommandRange(), jm.SlewLimiter())),
        (jm.CommandRangeParams(-1.0, 2.0), jm.SlewLimiterParams(1e3)),
    )
    actuator, params = driven(jm.VoltageDrive(), None, setpoint=chain)
    still = jnp.zeros(4)
    _, outs = jm.replay(actuator, actuator.init(params), params, jnp.asarray([5.0, 5.0, 5.0, -5.0]), still, still, 1e-3)
    np.testing.assert_allclose(outs.voltage, [1.0, 2.0, 2.0, 1.0])
    _, clipped = jm.CommandRange().step(None, chain[1][0], jnp.asarray([9.0, 0.5]), *[jnp.zeros(())] * 3)
    np.testing.assert_allclose(clipped, [2.0, 0.5])


@pytest.mark.parametrize("space", ["volts", "newton metres"])
def test_stiff_speed_feedback_is_stable_at_any_step(space):
    # J dw/dt = -(K (k_d + K) / R) w with K k_d / R = 1: a step of 50 of its time constants comes to rest.
    gains = jm.PositionPIDParams(0.0, 40.0)
    controller, params = (
        (jm.PositionPID(), gains) if space == "volts" else (jm.TorqueSpacePID(), jm.convert_gains(gains, WINDING))
    )
    actuator, params = driven(controller, params)
    bench, params = jm.Bench(actuator, jm.RigidLoad()), jm.BenchParams(params, jm.RigidLoadParams(1e-3))
    _, outs = jm.rollout(bench, bench.init(params, qvel=10.0), params, jnp.zeros(3), np.array([1e-3, 0.05, 0.05]))
    assert float(outs.qvel[1]) == pytest.approx(10 * np.exp(-1.00125), rel=1e-9)
    assert abs(float(outs.qvel[2])) < 1e-9
