"""How many starts walk: half where they end alike, all where not, more where the better of them end apart."""

import jax.numpy as jnp
import numpy as np
import pytest

from sysid import _halves
from sysid._choose import choose_model
from sysid._halves import distinct, first_leg
from sysid._normal_equations import Point
from sysid._setup import setup
from sysid._solve import Stage
from sysid._solvers import solver_named

from .motor_logs import brushed, log

STAGE = Stage("short windows", np.zeros((1, 4), bool), 12, 1e-3)


def at(*costs):
    """Points that are known by what they cost."""
    return Point(jnp.asarray(costs, float)[:, None], jnp.zeros((len(costs), 1, 2)))


@pytest.fixture
def walked(monkeypatch):
    """The walk of starts that stay where they are; which stages ran, and how many scouts were asked for."""
    ran, asked = [], []

    def stay(mover, problem, points, stages, progress):
        (stage,) = stages
        ran.append((stage.words, stage.iterations, points.coordinates.shape[0]))
        return points, np.asarray(points.coordinates)[:, 0], []

    monkeypatch.setattr(_halves, "solve", stay)
    one = log(brushed(rows=60))
    problem, mover = setup(choose_model([one]), [one]).problem, solver_named("levenberg-marquardt")

    def walk(*costs, lanes=3, scouts=()):
        def sent(number):
            asked.append(number)
            return at(*np.resize(scouts, number))

        points, values, _ = first_leg(mover, problem, at(*costs), STAGE, sent, print, lanes)
        np.testing.assert_array_equal(np.asarray(points.coordinates)[:, 0], values)
        assert points.initial.shape == (len(values), 1, 2)
        return values.tolist()

    return walk, ran, asked


def test_a_half_that_agrees_is_enough(walked):
    walk, ran, asked = walked
    assert walk(1.0, 1.019, 1.01, 0.1, 0.2, 0.3) == [1.0, 1.019, 1.01]
    assert ran == [("short windows", 12, 3)]
    assert not asked


def test_two_are_too_few_to_agree(walked):
    walk, _, asked = walked
    assert walk(1.0, 1.0, 1.0, 1.0, lanes=2) == [1.0, 1.0, 1.0, 1.0]
    assert not asked


@pytest.mark.parametrize("lost", [9.0, np.nan, np.inf])
def test_the_other_half_walks_where_the_first_ends_apart(walked, lost):
    walk, ran, asked = walked
    assert walk(1.0, 1.021, lost, 1.01, 1.005, 9.0)[:2] == [1.0, 1.021]
    assert ran == [("short windows", 12, 3)] * 2
    assert not asked


def test_scouts_join_where_the_better_half_ends_apart(walked):
    walk, ran, asked = walked
    found = walk(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, scouts=(0.5, 1.5, 7.0, np.nan, 8.0, 8.0))
    assert asked == [18]
    # 0.5 and 1.5 come three times each among eighteen.
    assert sorted(found) == [0.5, 0.5, 0.5, 1.0, 1.5, 1.5]
    assert ran[2:] == [("more starts", 4, 3)] * 6


def test_a_single_lane_sends_nobody(walked):
    walk, ran, asked = walked
    assert walk(3.0, lanes=1) == [3.0]
    assert len(ran) == 1
    assert not asked


def test_starts_that_came_to_one_place_walk_on_as_one():
    places = jnp.asarray([[1.0, 2.0], [1.04, 1.96], [1.0, 2.06], [1.0, 2.0], [np.nan, 0.0]])
    points = Point(places, jnp.arange(5.0)[:, None, None])
    kept, values = distinct(points, np.array([1.01, 1.0, 1.015, 1.03, np.nan]))
    # The second is the best: the first is near to it, the third too far away in its second coordinate, the fourth in
    # its cost.
    np.testing.assert_array_equal(kept.initial[:, 0, 0], [1, 2, 3, 4])
    np.testing.assert_array_equal(values, [1.0, 1.015, 1.03, np.nan])
