"""What is left to gain around a point, against the program that takes the steps; fits that move starts one by one."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sysid
from sysid import _problem
from sysid._choose import choose_model
from sysid._cores import each
from sysid._linearized import around, linearized, seen
from sysid._normal_equations import Point
from sysid._rest import cost, one_step_further, step_ahead
from sysid._setup import setup

from .motor_logs import brushed, log


@pytest.fixture
def problem_and_point():
    """A problem of three pieces with a prior, and a point that is off its optimum."""
    one = log(brushed(rows=300))
    made = setup(choose_model([one]), [one], window=0.1)
    owners = len(made.problem.owner)
    prior = dataclasses.replace(
        made.problem.prior, mean=jnp.full(owners, 0.5), width=jnp.where(jnp.arange(owners) == 1, 0.3, jnp.inf)
    )
    problem = dataclasses.replace(made.problem, prior=prior).stepped(1, reverse=False)
    starts = made.model.free.coordinates([parameter.start for parameter in made.model.free.parameters])
    generator = np.random.default_rng(0)
    coordinates = jnp.asarray(np.asarray(starts) + 0.02 * generator.normal(size=owners))
    return problem, Point(coordinates, jnp.asarray(0.1 * generator.normal(size=(len(made.cut), 2))))


def test_cost_and_step_are_those_of_the_normal_equations(problem_and_point):
    problem, point = problem_and_point
    assert problem.batch.dt.shape[0] > 1
    found = linearized(problem, point)
    value, normal = problem.normal(point, found)
    assert cost(problem, point, np.asarray(found.residuals)) == pytest.approx(float(value), rel=1e-12)
    expected = normal.step(jnp.asarray(0.0))
    ahead, gain = step_ahead(problem, point, found)
    np.testing.assert_allclose(ahead.coordinates - point.coordinates, expected.coordinates, rtol=1e-5)
    np.testing.assert_allclose(ahead.initial - point.initial, expected.initial, rtol=1e-5, atol=1e-9)
    # Along a Gauss-Newton step a quadratic falls by half of what its slope promises.
    slope = jnp.sum(expected.coordinates * normal.shared_gradient) + jnp.sum(expected.initial * normal.own_gradient)
    assert gain == pytest.approx(-float(slope) / 2, rel=1e-6)


def test_the_step_that_is_left_leads_to_the_optimum(problem_and_point):
    problem, point = problem_and_point
    backward = problem.stepped(1, reverse=True)
    slope = eqx.filter_jit(jax.grad(lambda point, problem: problem.value(point)))
    # Newton's steps from afar would lead anywhere.
    for near in 10 * (False,) + 4 * (True,):
        point, gain = step_ahead(problem, point, linearized(problem, point), near)
    assert gain < 1e-12
    off = Point(point.coordinates + 1e-7, point.initial)
    several = jax.tree.map(lambda x: jnp.stack([x, x]), off)
    value = float(backward.value(off))
    moved = one_step_further(problem, several, np.array([value, value * 0.99]), linearized(problem, off))
    np.testing.assert_array_equal(moved.coordinates[0], off.coordinates)
    steep, flat = (slope(p, backward).coordinates for p in (off, Point(moved.coordinates[1], moved.initial[1])))
    assert float(jnp.max(jnp.abs(flat))) < 0.01 * float(jnp.max(jnp.abs(steep)))
    # What promises much is not taken unseen.
    far = jax.tree.map(lambda x: x[None], Point(point.coordinates + 0.05, point.initial))
    around_far = linearized(problem, Point(far.coordinates[0], far.initial[0]))
    left = one_step_further(problem, far, np.array([value]), around_far)
    np.testing.assert_array_equal(left.coordinates, far.coordinates)
    # Nor is what leads far without a promise: nothing is known of a coordinate without derivatives.
    flat = around_far.derivatives.at[..., 2].multiply(1e-9)
    blind = dataclasses.replace(around_far, derivatives=flat)
    left = one_step_further(problem, far, np.array([1e12]), blind)
    np.testing.assert_array_equal(left.coordinates, far.coordinates)
    lost = dataclasses.replace(around_far, derivatives=around_far.derivatives.at[0, 0, 3].set(jnp.nan))
    left = one_step_further(problem, far, np.array([value]), lost)
    np.testing.assert_array_equal(left.coordinates, far.coordinates)


def test_a_held_coordinate_stays(problem_and_point):
    problem, point = problem_and_point
    held = dataclasses.replace(problem, moves=problem.moves.at[0].set(0.0))
    ahead, _ = step_ahead(held, point, linearized(held, point))
    assert ahead.coordinates[0] == point.coordinates[0]
    assert ahead.coordinates[1] != point.coordinates[1]


def test_whole_loops_see_the_same(problem_and_point):
    problem, point = problem_and_point
    whole = dataclasses.replace(problem, whole=True)
    several = jax.tree.map(lambda x: jnp.stack([x, 1.01 * x]), point)
    for finer in (1, 4):
        ours, theirs = seen(whole, point, finer), seen(problem, point, finer)
        np.testing.assert_allclose(ours.residuals, theirs.residuals, rtol=1e-9, atol=1e-9)
    ours, theirs = around(whole, several), around(problem, several)
    np.testing.assert_allclose(ours.residuals, theirs.residuals, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.derivatives, theirs.derivatives, rtol=1e-7, atol=1e-7)


def test_results_come_in_the_order_of_their_items():
    assert each(lambda x: x * x, range(5)) == [0, 1, 4, 9, 16]
    assert each(str, ()) == []
    with jax.default_device(jax.devices()[0]):
        assert each(lambda _: jnp.zeros(()).devices() == {jax.devices()[0]}, range(2)) == [True, True]
    with pytest.raises(ZeroDivisionError):
        each(lambda x: 1 / x, (1, 0))


def test_fits_start_by_start_end_where_those_side_by_side_do(monkeypatch):
    # A quarter of the electrical time constant is too long a step: both ways have to refine it.
    one = log(brushed(rows=800, inductance=3e-3, seed=3))
    assert setup(choose_model([one]), [one]).problem.faster().whole
    ours = sysid.fit(one)
    assert ours.settings["substeps"] > 1
    monkeypatch.setattr(_problem, "worthwhile", lambda lanes: False)
    theirs = sysid.fit(one)
    assert ours.settings == theirs.settings
    assert [caution.code for caution in ours.cautions] == [caution.code for caution in theirs.cautions]
    for our, their in zip(ours.estimates, theirs.estimates, strict=True):
        assert our.flag == their.flag
        assert our.value == pytest.approx(their.value, abs=0.05 * their.std_error)
        assert our.std_error == pytest.approx(their.std_error, rel=0.01)
