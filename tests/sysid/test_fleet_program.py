"""The sums of a fleet's program are those of each motor's own problem, differentiated another way."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import sysid
from sysid._fleet_data import fleet_data
from sysid._fleet_look import Look
from sysid._normal_equations import Point
from sysid._residual import curvature, weight
from sysid._setup import setup
from sysid._side_by_side import SideBySide, by_log

from . import motor_logs

MOTORS, ROWS = 3, 130
"""So many rows are padded, the longest log's are not."""


@pytest.fixture(scope="module")
def fleet():
    logs = [
        motor_logs.log(motor_logs.brushed(seed=k, rows=ROWS + 15 * k, resistance=1.2 + 0.1 * k), name=f"motor {k}")
        for k in range(MOTORS)
    ]
    model = sysid.choose_model(logs[:1])
    data = fleet_data(model, logs, None, 1, False)
    return logs, model, Look(data, Mesh(np.array(jax.local_devices()), ("motor",)), 2)


def _points(model, generator):
    at = np.asarray(model.free.coordinates([p.start for p in model.free.parameters]))
    return at + 0.05 * generator.standard_normal((MOTORS, len(at))), generator.standard_normal((MOTORS, 1, 2))


@pytest.mark.parametrize("near", [False, True])
def test_sums_are_those_of_each_problem(fleet, near):
    logs, model, look = fleet
    local, initial = _points(model, np.random.default_rng(0))
    motors, channels = np.arange(MOTORS), look.data.noise.shape[1]
    ones = np.ones((MOTORS, channels))
    cost, sums = look.sums(motors, np.zeros(MOTORS, int), ones, 2.0 * ones, np.full(MOTORS, near), local, initial)
    for k, log in enumerate(logs):
        # Reverse mode takes the number of steps as a plain number.
        problem = setup(model, [log]).problem.stepped(1, reverse=True)
        point = Point(jnp.asarray(local[k]), jnp.asarray(initial[k]))
        value, slope = jax.value_and_grad(problem.value)(point)
        assert cost[k] == pytest.approx(float(value), rel=1e-12)
        belief = initial[k, 0] / 100.0
        expected = np.concatenate([np.asarray(slope.coordinates), np.asarray(slope.initial[0]) - belief])
        np.testing.assert_allclose(sums.gradient[k, 0], expected, rtol=1e-8, atol=1e-6 * np.abs(expected).max())
        own = jax.jacrev(problem.residuals)(point)
        columns = jnp.concatenate([own.coordinates, own.initial[..., 0, :]], axis=-1)
        values = problem.residuals(point)
        counted = (curvature if near else weight)(values, jnp.asarray(2.0))
        wanted = jnp.einsum("scta,sct,sctb->ab", columns, counted, columns)
        np.testing.assert_allclose(sums.curvature[k, 0], wanted, rtol=1e-8, atol=1e-9 * float(jnp.abs(wanted).max()))
        np.testing.assert_allclose(sums.squares[k, 0], jnp.sum(values**2, axis=(0, 2)), rtol=1e-10)


def test_windows_return_to_the_measured_motion(fleet):
    _, model, look = fleet
    local, initial = _points(model, np.random.default_rng(1))
    spread = look.spread(np.arange(MOTORS), np.ones(MOTORS, int), local, initial)
    whole = look.spread(np.arange(MOTORS), np.zeros(MOTORS, int), local, initial)
    # A row long, a run cannot drift: what is off is the sensors' noise and what one step of it makes.
    speed = list(look.data.batch.channels).index("velocity")
    assert np.all(spread[:, speed] < 2)
    assert np.all(whole[:, speed] > 5)


def test_a_step_of_the_equations_solves_them_and_keeps_its_promise():
    generator = np.random.default_rng(2)
    segments, local, own = 5, 3, 2
    log = np.array([0, 0, 1, 1, 1])
    roots = generator.standard_normal((segments, 12, local + own))
    equations = SideBySide(
        curvature=np.einsum("sra,srb->sab", roots, roots),
        gradient=generator.standard_normal((segments, local + own)),
        initial=generator.standard_normal((segments, own)),
        log=log,
        believed=generator.standard_normal((2, local)),
        slopes=generator.standard_normal((2, local)),
        moves=np.ones((2, local)),
    )
    move, initial = equations.step(np.zeros(2))

    def cost(number, move, initial):
        """The quadratic cost of one log, written out."""
        total = np.sum((equations.believed[number] + equations.slopes[number] * move) ** 2) / 2
        for k, s in enumerate(np.flatnonzero(log == number)):
            by = np.concatenate([move, initial[k]])
            total += equations.gradient[s] @ by + by @ equations.curvature[s] @ by / 2
            total += np.sum(((equations.initial[s] + initial[k]) / 10.0) ** 2) / 2
        return total

    promise = equations.promise(move, initial)
    for number in range(2):
        mine = initial[log == number]
        still = cost(number, np.zeros(local), np.zeros_like(mine))
        least = cost(number, move[number], mine)
        assert promise[number] == pytest.approx(still - least, rel=1e-9)
        # Nowhere around is it lower.
        for _ in range(20):
            aside = 1e-3 * generator.standard_normal(local), 1e-3 * generator.standard_normal(mine.shape)
            assert cost(number, move[number] + aside[0], mine + aside[1]) > least


def test_sums_by_log():
    np.testing.assert_array_equal(
        by_log(np.array([0, 0, 1, 2, 2]), np.arange(10.0).reshape(5, 2)), [[2, 4], [4, 5], [14, 16]]
    )
