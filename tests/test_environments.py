"""Environments: reset and step as functions, batches, heat and energy in the books, and a policy that learns."""

import functools
import importlib.util
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("mujoco.mjx", reason="the mujoco extra is not installed")

from mujoco import mjx as bare

from jaxmotor.environments import Costs, JumpLeg, SwingLeg, SwingUp

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
# Most of the time of these tests is compilation, so it does without what only makes programs fast.
QUICKLY_COMPILED = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _standard_promotion():
    # MJX mixes float types and ranks.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize(("make", "motors"), [(SwingUp, 1), (SwingLeg, 2), (JumpLeg, 2)])
def test_batch_of_episodes(make, motors):
    environment = make(costs=Costs(copper_loss=0.1, battery=0.01), horizon=3)
    free = make(horizon=3)

    @QUICKLY_COMPILED
    @jax.vmap
    def run(key, scale):
        params = jax.tree.map(lambda x: x * scale, environment.params)
        state, first = environment.reset(key, params)
        action = 0.7 * jnp.ones(motors)

        def body(state, _):
            after, transition = environment.step(state, action)
            return after, (transition, free.task_reward(after.data, after.steps))

        return first, jax.lax.scan(body, state, None, length=3)[1]

    first, (transition, task) = run(jax.random.split(jax.random.key(0), 4), jnp.array([1.0, 1.0, 1.1, 1.2]))
    assert transition.observation.shape == (4, 3, first.shape[1])
    assert np.all(np.isfinite(transition.observation))
    np.testing.assert_array_equal(transition.truncated, [[False, False, True]] * 4)
    assert not np.any(transition.terminated)
    info = transition.info
    seconds = environment.substeps * environment.model.opt.timestep
    price = seconds * (0.1 * info["copper_loss"] + 0.01 * info["battery_power"])
    np.testing.assert_allclose(transition.reward, task - price, rtol=1e-12)
    assert info["temperature"].shape == (4, 3, motors)
    assert np.all(np.diff(info["temperature"], axis=1) > 0)


def test_what_a_fall_is():
    """A leg that does nothing stays under the beam, which ends the episode; one over it and landed goes on."""
    environment = JumpLeg()
    data = bare.make_data(environment.model)
    times = np.arange(0, 151)
    heights = {"at rest": 0.42, "over": 0.71, "low": 0.19}
    fallen = {}
    for name, height in heights.items():
        there = data.replace(qpos=jnp.array([height - 0.6, 0.8, -1.6]))
        fallen[name] = np.asarray(environment.fallen(there, jnp.asarray(times)))
    passing = (0.008 * times > 0.399) & (0.008 * times < 0.461)
    np.testing.assert_array_equal(fallen["at rest"], passing)
    assert not np.any(fallen["over"])
    assert np.all(fallen["low"])


def test_floor_carries_the_trunk():
    """The floor's push at rest, through its lever arms, is the weight at every joint: power of a sinking sole."""
    environment = JumpLeg()
    hip, knee, deep = 0.5, -1.2, 0.004
    legs = 0.3 * (np.cos(hip) + np.cos(hip + knee))
    data = bare.make_data(environment.model)
    speed = np.array([0.0, 0.3, -0.2])

    def sole(q):
        return q[0] + 0.6 - 0.3 * (np.cos(q[1]) + np.cos(q[1] + q[2])) - 0.02

    qpos = np.array([legs + 0.02 - 0.6 - deep, hip, knee])
    arms = np.array([(sole(qpos + 1e-6 * e) - sole(qpos - 1e-6 * e)) / 2e-6 for e in np.eye(3)])
    push = 8000 * deep - 60 * arms @ speed
    felt = environment.applied(data.replace(qpos=jnp.array(qpos), qvel=jnp.array(speed)))
    np.testing.assert_allclose(felt, push * arms, rtol=1e-6)
    above = data.replace(qpos=jnp.array(qpos + np.array([2 * deep, 0, 0])), qvel=jnp.array(speed))
    np.testing.assert_array_equal(environment.applied(above), 0)


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_policy_swings_up():
    """A minute, mostly compilation: 200 updates from 16 episodes of 4 s each."""
    swing_up = example("swing_up")
    with jax.enable_x64(False):
        environment = SwingUp(costs=Costs(copper_loss=0.002))
        weights = swing_up.train(environment)
        result = swing_up.evaluate(environment, functools.partial(swing_up.act, weights))
    assert result["success"] >= 0.95
    assert result["highest temperature"] > 30


@pytest.mark.slow
def test_policy_of_an_existing_ppo_swings_up(monkeypatch):
    """A minute: 800 000 control steps, of which PPO sees rewards only."""
    pytest.importorskip("rejax", reason="the train extra is not installed")
    monkeypatch.syspath_prepend(EXAMPLES)
    with jax.enable_x64(False):
        ppo = example("ppo")
        environment = SwingUp(costs=Costs(copper_loss=0.002))
        result = ppo.evaluate(environment, ppo.train(environment))
    assert result["success"] >= 0.9
