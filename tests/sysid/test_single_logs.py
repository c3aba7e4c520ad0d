"""Several logs of one motor, each fitted by itself beside the joint fit."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sysid
from sysid._choose import choose_model
from sysid._linearized import linearized
from sysid._log_by_log import LogByLog
from sysid._normal_equations import Point
from sysid._problem import INITIAL_REACH
from sysid._setup import setup

from .motor_logs import TRUTH, brushed, log

COMPILED: list[str] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, duration, **more: COMPILED.append(event) if "backend_compile" in event else None
)


def logs(*resistances: float, seed: int = 20) -> list[sysid.Log]:
    made = [brushed(seed=seed + n, rows=400, resistance=r) for n, r in enumerate(resistances)]
    return [log(columns, name=f"run{n}") for n, columns in enumerate(made)]


@pytest.fixture(scope="module")
def alike():
    """The same motor three times; two starts, so that three logs take two turns."""
    return sysid.fit(logs(1.3, 1.3, 1.3), starts=2)


def test_logs_of_one_motor_agree(alike):
    assert alike.status == "ok"
    joint = {estimate.name: estimate for estimate in alike.estimates}
    assert [spread.name for spread in alike.spreads] == list(joint)
    for spread in alike.spreads:
        assert set(spread.values) == {"run0", "run1", "run2"}
        # Three logs of one length: each by itself knows a parameter about 3^0.5 times worse than all together.
        assert spread.expected == pytest.approx(3**0.5 * joint[spread.name].std_error, rel=0.4)
        assert spread.deviation < 3 * spread.expected
        assert spread.chance > 1e-3
        for value in spread.values.values():
            assert abs(value - TRUTH[spread.name]) < 5 * spread.expected
    assert alike.profiles == ()
    entry = alike.to_dict()["single_logs"]["resistance"]
    assert entry["ratio"] == pytest.approx(entry["deviation"] / entry["expected"])


def test_single_fits_of_other_logs_compile_nothing(alike):
    assert alike.spreads
    before = len(COMPILED)
    assert len(sysid.fit(logs(1.3, 1.3, 1.3, seed=40), starts=2).spreads) == len(alike.spreads)
    assert len(COMPILED) == before


def test_motors_that_differ_are_told_apart():
    result = sysid.fit(logs(1.25, 1.3, 1.4), starts=2)
    spread = next(s for s in result.spreads if s.name == "resistance")
    assert list(spread.values.values()) == pytest.approx([1.25, 1.3, 1.4], rel=0.01)
    assert spread.disagrees
    assert spread.ratio > 10
    caution = next(c for c in result.cautions if c.code == "logs_disagree")
    assert "resistance" in caution.parameters
    assert result.status == "warning"


def test_a_step_is_that_of_the_normal_equations_of_one_log(alike):
    assert alike.spreads
    model = choose_model(logs(1.25, 1.3, 1.4))
    made = setup(model, logs(1.25, 1.3, 1.4))
    problem = made.problem.stepped(1, reverse=False)
    free = model.free
    coordinates = free.coordinates([parameter.start for parameter in free.parameters])
    states = jnp.asarray(np.random.default_rng(3).normal(size=(3, len(problem.initial_names))))
    point = Point(jnp.asarray(coordinates), states)
    each = LogByLog(problem, 1)
    (around,) = each.look([each.start(point)])
    damping = 0.3
    (reached,) = each.steps(around, np.full((1, 3), damping))
    found = linearized(problem, point)
    for n in range(3):
        alone = dataclasses.replace(problem, counts=jnp.asarray(np.eye(3)[n]))
        with jax.numpy_dtype_promotion("standard"):
            value, normal = alone.normal(point, found)
        # Initial states of the other logs are believed all the same, which costs something wherever they stand.
        others = float(jnp.sum(jnp.delete(states, n, axis=0) ** 2)) / INITIAL_REACH**2 / 2
        assert around.cost[n] == pytest.approx(float(value) - others, rel=1e-12)
        step = normal.step(jnp.asarray(damping))
        move = np.clip(np.asarray(step.coordinates), -2, 2)
        assert reached.local[n] - np.asarray(coordinates) == pytest.approx(move, rel=1e-6, abs=1e-9)
        assert reached.initial[n] - np.asarray(states[n]) == pytest.approx(np.asarray(step.initial[n]), rel=1e-6)
