"""Teach a network the swing-up of `swing_up.py` by PPO, which asks nothing of the environment but samples.

PPO is rejax's (extra `train`), one compiled program. Of the JAX libraries that offer it, rejax 0.1.3 is the one that
runs with jax 0.10 on Python 3.11: brax 0.14.2 installs, but its PPO calls `jax.device_put_replicated`, which jax no
longer has; lerax 0.0.5 needs Python 3.13. Run: python examples/ppo.py

With its settings five seeds put 97 to 100 of 100 starts upright, each after 37 to 52 s on two busy cores:
python examples/ppo.py 5
"""

import dataclasses
import sys
import time
import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from swing_up import Policy, evaluate

from jaxmotor.environments import Costs, SwingUp

with warnings.catch_warnings():
    # rejax's own dependencies use names that jax is about to drop.
    warnings.simplefilter("ignore")
    from gymnax.environments import spaces
    from rejax import PPO

STEPS = 800_000


class Horizon(NamedTuple):
    """What rejax asks of an environment's parameters."""

    max_steps_in_episode: int


@dataclasses.dataclass(frozen=True, eq=False)
class AsGymnax:
    """One of our environments as gymnax's protocol, with episodes that start anew by themselves."""

    environment: Any

    @property
    def default_params(self) -> Horizon:
        return Horizon(self.environment.horizon)

    def reset(self, key: jax.Array, params: Any) -> tuple[jax.Array, Any]:
        """First observation, state."""
        del params
        state, observation = self.environment.reset(key)
        return observation, state

    def step(self, key: jax.Array, state: Any, action: jax.Array, params: Any) -> tuple[Any, ...]:
        """Observation, state, reward, done, info."""
        action = jnp.reshape(action, (len(self.environment.group.names),))
        after, transition = self.environment.step(state, action)
        done = transition.terminated | transition.truncated
        fresh = self.reset(key, params)
        observation, state = jax.tree.map(
            lambda new, old: jnp.where(done, new, old), fresh, (transition.observation, after)
        )
        return observation, state, transition.reward, done, {}

    def action_space(self, params: Any) -> Any:
        """A box from -1 to 1 per motor."""
        del params
        return spaces.Box(-1.0, 1.0, (len(self.environment.group.names),))

    def observation_space(self, params: Any) -> Any:
        """As many numbers as the environment observes."""
        del params
        observation, _ = jax.eval_shape(lambda key: self.reset(key, None), jax.random.key(0))
        return spaces.Box(-jnp.inf, jnp.inf, observation.shape)


def train(environment: SwingUp, seed: int = 0, steps: int = STEPS) -> Policy:
    """The policy, without its noise, after so many control steps of 256 environments in all."""
    learner = PPO.create(
        env=AsGymnax(environment),
        agent_kwargs={"hidden_layer_sizes": (64, 64), "activation": "tanh"},
        total_timesteps=steps,
        eval_freq=steps,
        skip_initial_evaluation=True,
        num_envs=256,
        num_steps=32,
        num_epochs=4,
        num_minibatches=8,
        learning_rate=1e-3,
        gamma=0.99,
        ent_coef=0.0,
        max_grad_norm=0.5,
        normalize_observations=True,
        normalize_rewards=True,
    )
    learned, _ = jax.jit(learner.train)(jax.random.key(seed))
    weights = learned.actor_ts.params["params"]
    quiet = {"params": weights | {"action_log_std": jnp.full_like(weights["action_log_std"], -20.0)}}
    act = learner.make_act(learned.replace(actor_ts=learned.actor_ts.replace(params=quiet)))
    return lambda observation: jnp.reshape(act(observation, jax.random.key(0)), (-1,))


if __name__ == "__main__":
    swing_up = SwingUp(costs=Costs(copper_loss=0.002))
    for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        began = time.perf_counter()
        learned = train(swing_up, seed=number)
        print(f"seed {number}: trained in {time.perf_counter() - began:.0f} s, {evaluate(swing_up, learned)}")
