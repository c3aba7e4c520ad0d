"""What a log cannot tell of its friction is said: terms that it never excites, and ends at a bound."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
import sysid

STEP, ROWS, NOISE = 5e-3, 240, 1e-3


def turned(torque: np.ndarray, speed: float, load_friction: float) -> sysid.Log:
    """A balanced wheel under a known torque, begun at `speed` [rad/s], whose friction is a share of the torque alone;
    angle and speed with noise."""
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()),
        jm.TorqueDrive(),
        drag=jm.ViscousDrag(),
        dry_friction=jm.LoadDependentFriction(jm.SymmetricLoadFriction()),
    )
    params = jm.BenchParams(
        jm.ActuatorParams(
            jm.MotorParams(jm.QuasiStaticParams(1.0, 0.1, 0.1)),
            drag=jm.ViscousDragParams(0.02),
            dry_friction=jm.LoadDependentFrictionParams(0.0, jm.SymmetricLoadFrictionParams(load_friction)),
        ),
        jm.RigidLoadParams(inertia=0.02),
    )
    bench = jm.Bench(actuator, jm.RigidLoad())
    _, out = jm.rollout(bench, bench.init(params, qvel=speed), params, jnp.asarray(torque), STEP)
    generator = np.random.default_rng(0)
    return sysid.Log(
        name="turned",
        time=np.arange(ROWS).astype(np.float64) * STEP,
        channels={
            "torque": torque,
            "velocity": np.asarray(out.qvel) + 10 * NOISE * generator.standard_normal(ROWS),
        },
    )


@pytest.fixture(scope="module")
def fast():
    """A wheel that never comes near rest: friction that fades by 0.5 rad/s is gone at every row of this log. Drag is
    held at more than it is, which leaves less than nothing to Coulomb's term."""
    rows = np.arange(ROWS).astype(np.float64)
    log = turned(0.6 + 0.3 * np.sin(0.09 * rows), speed=25.0, load_friction=0.2)
    assert log.channels["velocity"].min() > 15
    held = {"torque_offset": 0.0, "viscous_damping": 0.04}
    return sysid.fit(log, friction="M2", fix=held, starts=2, substeps=1)


def test_stribeck_terms_that_a_fast_log_does_not_excite(fast):
    found = {estimate.name: estimate for estimate in fast.estimates}
    slow = {"stribeck_friction", "stribeck_velocity", "stribeck_exponent"}
    told = {caution.code: set(caution.parameters) for caution in fast.cautions}
    for name in slow:
        assert found[name].flag in ("not excited", "open", "at bound")
        assert found[name].std_error is None or found[name].flag == "open"
    assert slow <= set.union(*told.values())
    assert fast.status == "warning"


def test_a_term_that_ends_at_zero_has_no_error_bar(fast):
    found = {estimate.name: estimate for estimate in fast.estimates}
    assert found["coulomb_friction"].value < 1e-4
    assert found["coulomb_friction"].flag == "at bound"
    assert found["coulomb_friction"].ci95 is None
    caution = next(c for c in fast.cautions if c.code == "at_bound")
    assert "coulomb_friction" in caution.parameters
