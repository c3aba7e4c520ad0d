"""Parameters: array leaves of one type, units, and values that no motor has."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotor as jm
from jaxmotor._parameter import parameter_fields


@pytest.mark.parametrize("make", [float, np.float64, np.float32, lambda x: jnp.asarray(x), int])
def test_leaf_type_whatever_the_number(make):
    """Cases P32 and P36: no leaf stays a Python float, so no gradient is None."""
    leaf = jm.ViscousDragParams(make(2)).viscous_damping
    assert isinstance(leaf, jax.Array)
    assert leaf.dtype == jnp.float64
    assert jm.ViscousDragParams(jnp.asarray(2, jnp.float32)).viscous_damping.dtype == jnp.float32


def test_batches_and_tracers_pass():
    assert jm.ViscousDragParams([1.0, 2.0]).viscous_damping.shape == (2,)
    slope = jax.grad(lambda b: jm.ViscousDragParams(b).viscous_damping ** 2)(3.0)
    assert float(slope) == 6.0
    jax.jit(lambda b: jm.check_params(jm.ViscousDragParams(b)))(-1.0)


def test_every_parameter_has_a_unit_and_a_path():
    params = jm.ActuatorParams(jm.MotorParams(jm.QuasiStaticParams(1.0, 2.0, 3.0)), drag=jm.ViscousDragParams(0.1))
    found = {path: field.metadata["unit"] for path, field, _ in parameter_fields(params)}
    assert found == {
        "motor.winding.resistance": "ohm",
        "motor.winding.torque_constant": "N m/A",
        "motor.winding.back_emf_constant": "V s/rad",
        "gear.ratio": "1",
        "gear.rotor_inertia": "kg m^2",
        "drag.viscous_damping": "N m s/rad",
    }


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (jm.QuasiStaticParams(0.0, 1.0, 1.0), r"resistance \[ohm\] is 0.0: it must be positive"),
        (jm.QuasiStaticParams(np.inf, 1.0, 1.0), "resistance"),
        (jm.QuasiStaticParams(1.0, [1.0, np.nan, 1.0], 1.0), r"torque_constant.*batch element 1"),
        (jm.ViscousDragParams(-1e-9), "not negative"),
        (jm.TorqueLimitParams(np.nan), "peak_torque"),
        (jm.GearParams(0.0), "ratio.*not zero"),
        (jm.LossyGearParams(2.0, 1e-5, 1.1, 0.5), "driving_efficiency.*at most one"),
        (jm.LossyGearParams(2.0, 1e-5, 0.9, 1.5), "driven_efficiency.*at most one"),
    ],
)
def test_values_that_no_motor_has(params, words):
    with pytest.raises(ValueError, match=words):
        jm.check_params(params)


def test_values_that_are_fine():
    jm.check_params(jm.TorqueLimitParams(np.inf))
    jm.check_params(jm.GearParams(-3.0))
    jm.check_params(jm.LossyGearParams(2.0, 1e-5, 1.0, -0.3))


def test_one_program_for_motors_that_differ_in_numbers():
    """Case P36."""
    traces = []

    @jax.jit
    def current(params):
        traces.append(1)
        return jm.QuasiStatic().current(None, params, jnp.asarray(6.0), jnp.asarray(1.0))

    for resistance in (1.0, 1.2, np.float64(2.0), 3):
        current(jm.QuasiStaticParams(resistance, 0.05, 0.05))
    assert len(traces) == 1
