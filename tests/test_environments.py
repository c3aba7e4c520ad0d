"""Environments: reset and step as functions, batches, heat and energy in the books, and a policy that learns."""

import importlib.util
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("mujoco.mjx", reason="the mujoco extra is not installed")

from jaxmotor.environments import Costs, SwingLeg, SwingUp

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _standard_promotion():
    # MJX mixes float types and ranks.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize(("make", "motors"), [(SwingUp, 1), (SwingLeg, 2)])
def test_batch_of_episodes(make, motors):
    environment = make(costs=Costs(copper_loss=0.1, battery=0.01), horizon=3)
    free = make(horizon=3)

    @jax.jit
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


def example(name):
    path = pathlib.Path(__file__).resolve().parents[1] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_policy_swings_up():
    swing_up = example("swing_up")
    with jax.enable_x64(False):
        environment = SwingUp(costs=Costs(copper_loss=0.002))
        weights = swing_up.train(environment)
        result = swing_up.evaluate(environment, weights)
    assert result["success"] >= 0.95
    assert result["highest temperature"] > 30
