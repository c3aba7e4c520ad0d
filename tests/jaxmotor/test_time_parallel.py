"""A replay of all rows at once: equal to the one row after the other, in values and derivatives, or refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm

ROWS = 300
STEP = 1e-3
BENT = 1e-4
"""A deflection of the bristles in steady motion, g / sigma0 [rad], which a last state may be far below."""
replay = jax.jit(jm.replay, static_argnums=0, static_argnames="parallel")


def inductive(rate=None, rate_params=None):
    return jm.Inductive() if rate is None else jm.Inductive(rate), jm.InductiveParams(
        1.2, 0.05, 0.04, 2e-3, rate_params
    )


def made(
    controller=None,
    controller_params=None,
    winding=None,
    bristle=None,
    bristle_params=None,
    supply=None,
    supply_params=None,
    gear_params=None,
    **others,
):
    kind, own = winding or inductive()
    motor = jm.Motor(kind, cogging=jm.Cogging(), bristle=bristle or jm.Frictionless(), limit=jm.TorqueLimit())
    actuator = jm.Actuator(
        motor, controller or jm.VoltageDrive(), supply=supply or jm.IdealSupply(), drag=jm.ViscousDrag(), **others
    )
    params = jm.ActuatorParams(
        jm.MotorParams(
            own, limit=jm.TorqueLimitParams(0.3), cogging=jm.CoggingParams(0.01, 6.0, 0.2), bristle=bristle_params
        ),
        controller_params,
        supply=supply_params,
        gear=gear_params or jm.GearParams(3.0, 1e-5),
        drag=jm.ViscousDragParams(1e-5),
    )
    return actuator, params


LUGRE = (jm.LuGre(), jm.LuGreParams(30.0, 0.05, 0.004, 0.006, 1.0))
BUS = {"supply": jm.FixedSupply(), "supply_params": jm.FixedSupplyParams(9.0)}
KINDS = {
    "current": made(),
    "nothing": made(winding=(jm.QuasiStatic(), jm.QuasiStaticParams(1.2, 0.05, 0.04))),
    "fixed time constant": made(winding=(jm.FixedTimeConstant(), jm.FixedTimeConstantParams(1.2, 0.05, 0.04, 4e-3))),
    "bristles alone": made(
        winding=(jm.QuasiStatic(), jm.QuasiStaticParams(1.2, 0.05, 0.04)),
        bristle=jm.Dahl(),
        bristle_params=jm.DahlParams(30.0, 0.004),
    ),
    "current and bristles": made(bristle=LUGRE[0], bristle_params=LUGRE[1]),
    "bristles that weaken behind a gear with losses": made(
        bristle=jm.LuGre(jm.PowerDecay(), jm.GaussianDecay()),
        bristle_params=jm.LuGreParams(30.0, 0.05, 0.004, 0.006, 1.0, jm.PowerDecayParams(1.5)),
        gear=jm.LossyGear(),
        gear_params=jm.LossyGearParams(-3.0, 1e-5, 0.8, 0.6, 1e-3, 2e-3),
    ),
    "integral, current and bristles on a bus that saturates": made(
        jm.PositionPID(jm.ErrorIntegral(), jm.VoltageLimit()),
        jm.PositionPIDParams(6.0, 0.02, jm.IntegralParams(30.0), jm.VoltageLimitParams(8.0)),
        bristle=LUGRE[0],
        bristle_params=LUGRE[1],
        **BUS,
    ),
    "travelling target": made(jm.VelocityPI(jm.TargetIntegral()), jm.VelocityPIParams(0.1, jm.IntegralParams(2.0))),
    "torque space": made(
        jm.TorqueSpacePID(integral=jm.ErrorIntegral()), jm.TorqueSpacePIDParams(0.2, 1e-3, jm.IntegralParams(0.5))
    ),
    "servo": made(jm.ServoDrive(), jm.ServoDriveParams(2.0), **BUS),
    "duty": made(jm.DutyDrive(), **BUS),
    "torque": made(jm.TorqueDrive(), **BUS),
    "temperature": (
        jm.Actuator(jm.Motor(jm.QuasiStatic(), jm.LumpedThermal(), bristle=jm.LuGre()), jm.TorqueDrive()),
        jm.ActuatorParams(
            jm.MotorParams(
                jm.QuasiStaticParams(1.2, 0.05, 0.04),
                jm.LumpedThermalParams(2.0, 0.4, 0.0039, 20.0, 25.0),
                None,
                None,
                LUGRE[1],
            )
        ),
    ),
    "shorted": made(jm.ShortedDrive()),
}


def motion(dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    speed = np.cumsum(random.normal(size=ROWS))
    return [jnp.asarray(x, dtype) for x in (random.uniform(-8, 8, ROWS), np.cumsum(speed) * STEP, speed)]


def both(kind, rows, dt=STEP, params=None, state=None):
    actuator, own = KINDS[kind]
    params = own if params is None else params
    state = actuator.init(params) if state is None else state
    return [replay(actuator, state, params, *rows, dt, parallel=parallel) for parallel in (False, True)]


def close(ours, theirs, rtol, size=0.0):
    ours, theirs = jax.tree.leaves(ours), jax.tree.leaves(theirs)
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * max(size, float(jnp.max(jnp.abs(other)))))


@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_one_row_after_the_other(kind):
    sequential, parallel = both(kind, motion())
    close(parallel[1], sequential[1], 1e-12)
    if jax.tree.leaves(sequential[0]):
        close(parallel[0], sequential[0], 1e-12, BENT)


@pytest.mark.parametrize("kind", ["current and bristles", "integral, current and bristles on a bus that saturates"])
def test_steps_of_their_own_rows_without_power_and_a_start_that_is_not_rest(kind):
    command, angle, speed = motion(seed=1)
    enabled = jnp.arange(ROWS) % 50 < 40
    bus = jnp.linspace(5.0, 12.0, ROWS) if "bus" in kind else None
    steps = np.linspace(0.2, 3, ROWS) * STEP
    actuator, params = KINDS[kind]
    state = jax.tree.map(lambda x: x + 0.01, actuator.init(params))
    sequential, parallel = both(kind, (jm.Input(command, bus, enabled), angle, speed), steps, state=state)
    close(parallel[1], sequential[1], 1e-12)
    close(parallel[0], sequential[0], 1e-12, BENT)


def test_rooms_of_their_own_rows():
    _, angle, speed = motion()
    room = jnp.linspace(15.0, 40.0, ROWS)
    sequential, parallel = both("temperature", (jm.Input(jnp.full(ROWS, 0.1), None, None, room), angle, speed), 0.5)
    assert float(sequential[1].temperature[-1]) > 45
    close(parallel, sequential, 1e-12)


def test_what_is_no_number_stays_where_it_came_from():
    command, angle, speed = motion()
    outs = [out for _, out in both("current and bristles", (command, angle, speed.at[100].set(jnp.nan)))]
    clean = both("current and bristles", (command, angle, speed))[1][1]
    for name in ("current", "motor_torque"):
        sequential, parallel = (np.asarray(getattr(out, name)) for out in outs)
        np.testing.assert_array_equal(np.isnan(parallel), np.isnan(sequential))
        assert np.isnan(parallel[101:]).all()
        np.testing.assert_array_equal(parallel[:100], getattr(clean, name)[:100])


@pytest.mark.parametrize("kind", ["temperature", "integral, current and bristles on a bus that saturates"])
def test_float32(kind):
    params = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), KINDS[kind][1])
    sequential, parallel = both(kind, motion(np.float32), np.float32(STEP), params)
    close(parallel[1], sequential[1], 3e-5)


def test_derivatives_are_those_of_one_row_after_the_other():
    actuator, params = KINDS["integral, current and bristles on a bus that saturates"]
    rows = motion()

    def loss(params, parallel):
        out = jm.replay(actuator, actuator.init(params), params, *rows, STEP, parallel=parallel)[1]
        return jnp.mean(out.current**2) + jnp.mean(out.motor_torque**2)

    slopes = [jax.jit(jax.grad(loss), static_argnums=1)(params, parallel) for parallel in (False, True)]
    close(slopes[1], slopes[0], 1e-10)
    ones = jax.tree.map(lambda x: jnp.ones_like(jnp.asarray(x)), params)
    forward = jax.jit(lambda p: jax.jvp(lambda p: loss(p, True), (p,), (ones,))[1])(jax.tree.map(jnp.asarray, params))
    assert float(forward) == pytest.approx(float(sum(jax.tree.leaves(slopes[0]))), rel=1e-10)


def test_a_held_voltage_charges_the_winding_by_the_exponential():
    """i = V/R (1 - e^{-t R/L}) at a locked shaft, whatever the steps."""
    random = np.random.default_rng(3)
    steps = random.uniform(0.1, 2, ROWS) * STEP
    still = jnp.zeros(ROWS)
    _, out = both("current", (jnp.full(ROWS, 6.0), still, still), steps)[1]
    time = np.concatenate([[0], np.cumsum(steps)[:-1]])
    np.testing.assert_allclose(out.current, 6 / 1.2 * -np.expm1(-time * 1.2 / 2e-3), rtol=1e-12)


def test_under_jit_and_side_by_side():
    actuator, params = KINDS["current and bristles"]
    command, angle, speed = motion()
    many = jax.tree.map(lambda x: jnp.asarray(x) * jnp.linspace(0.8, 1.2, 3), params)

    def run(params, parallel):
        return jm.replay(actuator, actuator.init(params), params, command, angle, speed, STEP, parallel=parallel)

    sequential, parallel = [jax.jit(jax.vmap(lambda p, w=way: run(p, w)))(many) for way in (False, True)]
    close(parallel, sequential, 1e-12)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows(rows):
    sequential, parallel = both("current and bristles", [x[:rows] for x in motion()])
    for one, other in zip(jax.tree.leaves(parallel), jax.tree.leaves(sequential), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


class Tuned(jm.VoltageDrive):
    """A drive of a user's own."""


class Foldback(jm.Actuator):
    """An actuator of a user's own."""


REFUSED = {
    "Foldback": (Foldback(jm.Motor(jm.QuasiStatic()), jm.VoltageDrive()), None),
    "CurrentRateLimit": made(winding=inductive(jm.CurrentRateLimit(), jm.CurrentRateLimitParams(2e4))),
    "SlewLimiter": made(setpoint=jm.SlewLimiter()),
    "Delay": made(delay=jm.Delay(4)),
    "IntegralBound": made(jm.PositionPID(jm.ErrorIntegral(jm.IntegralBound()))),
    "FollowingIntegral": made(jm.VelocityPI()),
    "CurrentLimit": made(current_limit=jm.CurrentLimit()),
    "Backlash": made(gear=jm.Backlash()),
    "Tuned": made(Tuned()),
}


@pytest.mark.parametrize("stage", REFUSED)
def test_refused(stage):
    actuator, rows = REFUSED[stage][0], motion()
    params = KINDS["current"][1]
    with pytest.raises(ValueError, match=f"parallel=True cannot replay {stage}, of which no line"):
        jm.replay(actuator, KINDS["current"][0].init(params), params, *rows, STEP, parallel=True)


def test_a_winding_that_warms_is_refused():
    actuator = jm.Actuator(jm.Motor(jm.Inductive(), jm.LumpedThermal()), jm.VoltageDrive())
    params = jm.ActuatorParams(jm.MotorParams(inductive()[1], jm.LumpedThermalParams(4.0, 40.0, 0.0039, 20.0)))
    with pytest.raises(ValueError, match="LumpedThermal"):
        jm.replay(actuator, actuator.init(params), params, *motion(), STEP, parallel=True)
