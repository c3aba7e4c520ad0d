"""Coordinates and values of free parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sysid._adjust import free_parameter
from sysid._bijector import Affine, Logarithm, Logit
from sysid._choose import choose_model
from sysid._free import FreeParameter, places
from sysid._log import Log

REAL = st.floats(-1e6, 1e6)
POSITIVE = st.floats(1e-9, 1e9)


@settings(max_examples=60)
@given(value=REAL, scale=POSITIVE)
def test_affine_round_trip(value, scale):
    bijector = Affine(jnp.asarray(scale))
    back = bijector.value(bijector.coordinate(jnp.asarray(value)))
    np.testing.assert_allclose(back, value, rtol=1e-14, atol=1e-300)


@settings(max_examples=60)
@given(value=POSITIVE)
def test_logarithm_round_trip(value):
    bijector = Logarithm(jnp.asarray(1e-12))
    np.testing.assert_allclose(bijector.value(bijector.coordinate(jnp.asarray(value))), value, rtol=1e-13)


@settings(max_examples=60)
@given(share=st.floats(1e-6, 1 - 1e-6), lower=REAL, span=POSITIVE)
def test_logit_round_trip(share, lower, span):
    bijector = Logit(jnp.asarray(lower), jnp.asarray(lower + span))
    value = lower + share * span
    back = bijector.value(bijector.coordinate(jnp.asarray(value)))
    np.testing.assert_allclose(back, value, rtol=1e-12, atol=1e-9 * span + 1e-15 * abs(lower))


@settings(max_examples=60)
@given(coordinate=st.floats(-1e300, 1e300))
def test_every_coordinate_is_an_admissible_value(coordinate):
    at = jnp.asarray(coordinate)
    inside = float(Logit(jnp.asarray(0.0), jnp.asarray(1e-3)).value(at))
    assert 0.0 <= inside <= 1e-3
    assert float(Logarithm(jnp.asarray(1e-12)).value(at)) >= 0.999e-12


@pytest.mark.parametrize(
    "bijector", [Affine(jnp.asarray(3.0)), Logarithm(jnp.asarray(1e-9)), Logit(*jnp.eye(2)[0][::-1])]
)
def test_gradient_is_that_of_the_map(bijector):
    at, step = jnp.asarray(-0.7), 1e-6
    slope = (bijector.value(at + step) - bijector.value(at - step)) / (2 * step)
    np.testing.assert_allclose(jax.grad(bijector.value)(at), slope, rtol=1e-8)


def _parameter(**changes) -> FreeParameter:
    time = np.arange(50) * 1e-3
    model = choose_model([Log("a", time, dict.fromkeys(("voltage", "current", "velocity"), np.sin(40 * time)))])
    return free_parameter(places(model.subject)["viscous_damping"], model.subject, **changes)


@pytest.mark.parametrize("start", [0.0, 1e-3, 5e-4, -1.0, 1.0])
def test_a_start_on_a_bound_is_moved_off_it(start):
    parameter = _parameter(start=start, lower=0.0, upper=1e-3)
    assert 0 < parameter.inside(start) < 1e-3
    coordinate = parameter.bijector().coordinate(jnp.asarray(parameter.inside(start)))
    assert abs(float(coordinate)) < 10
    slope = jax.grad(parameter.bijector().value)(coordinate)
    assert float(slope) > 1e-8


def test_a_start_at_zero_of_a_positive_parameter_can_move():
    parameter = _parameter(start=0.0)
    assert isinstance(parameter.bijector(), Logarithm)
    coordinate = parameter.bijector().coordinate(jnp.asarray(parameter.inside(0.0)))
    assert np.isfinite(float(coordinate))
    assert float(jax.grad(parameter.bijector().value)(coordinate)) > 0
