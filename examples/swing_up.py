"""Teach a small network to swing a pendulum up through a motor that cannot lift it: analytic policy gradient.

The return is differentiated through motor and body, over 4 s from random starts; Optax moves the weights.
Run: python examples/swing_up.py
"""

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from jaxmotor.environments import Costs, SwingUp

HIDDEN, BATCH, TRAINED, TESTED, HELD = 32, 64, 100, 200, 12
Policy = Callable[[jax.Array], jax.Array]


def first_weights(key: jax.Array) -> dict[str, jax.Array]:
    """Random weights, with a share that pushes along the speed: it pumps energy."""
    inner, outer = jax.random.split(key)
    return {
        "inner": 0.5 * jax.random.normal(inner, (HIDDEN, 7)),
        "inner_bias": jnp.zeros(HIDDEN),
        "outer": 0.1 * jax.random.normal(outer, (1, HIDDEN)),
        "outer_bias": jnp.zeros(1),
        "pump": jnp.full((1,), 4.0, float),
    }


def act(weights: dict[str, jax.Array], observation: jax.Array) -> jax.Array:
    """The share of the peak torque, from angle, speed and temperature."""
    cosine, sine, speed, _, temperature, *_ = observation
    products = [speed * cosine, speed * sine, sine * cosine]
    seen = jnp.stack([cosine, sine, speed, temperature - 0.25, *products])
    hidden = jnp.tanh(weights["inner"] @ seen + weights["inner_bias"])
    return jnp.tanh(weights["outer"] @ hidden + weights["outer_bias"] + weights["pump"] * speed)


def episode(environment: SwingUp, policy: Policy, key: jax.Array, steps: int) -> dict[str, jax.Array]:
    """Rewards and readings of an episode, one row per control step."""

    @jax.checkpoint
    def body(carry, _):
        state, observation = carry
        state, transition = environment.step(state, policy(observation))
        row = {"reward": transition.reward, "qpos": state.data.qpos[0], "upright": environment.upright(state.data)}
        return (state, transition.observation), row | transition.info

    return jax.lax.scan(body, environment.reset(key), None, length=steps)[1]


def train(environment: SwingUp, seed: int = 0, updates: int = 250, say: Any = None) -> Any:
    """The weights after so many `updates`."""
    rate = optax.join_schedules([optax.constant_schedule(0.01), optax.cosine_decay_schedule(0.01, 80)], [updates - 80])
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))

    def loss(weights, key):
        starts = jax.random.split(key, BATCH)
        policy = functools.partial(act, weights)
        return -jnp.mean(jax.vmap(lambda start: episode(environment, policy, start, TRAINED)["reward"])(starts))

    @jax.jit
    def update(weights, state, key):
        value, gradient = jax.value_and_grad(loss)(weights, key)
        moves, state = optimiser.update(gradient, state)
        return optax.apply_updates(weights, moves), state, value

    key, own = jax.random.split(jax.random.key(seed))
    weights = first_weights(own)
    state = optimiser.init(weights)
    for count, now in enumerate(jax.random.split(key, updates)):
        weights, state, value = update(weights, state, now)
        if say is not None and count % 25 == 0:
            say(f"update {count}: loss {float(value):.3f}")
    return weights


def evaluate(environment: SwingUp, policy: Policy, seed: int = 1, starts: int = 100) -> dict[str, float]:
    """Share of random starts that end upright and stay there for the last 0.5 s of 8 s, and how the motor fared."""

    @jax.jit
    def run(keys):
        return jax.vmap(lambda key: episode(environment, policy, key, TESTED))(keys)

    rows = run(jax.random.split(jax.random.key(seed), starts))
    return {
        "success": float(jnp.mean(jnp.all(rows["upright"][:, -HELD:], axis=1))),
        "highest temperature": float(jnp.max(rows["temperature"])),
        "saturated": float(jnp.mean(rows["saturated"])),
        "return": float(jnp.mean(jnp.sum(rows["reward"], axis=1))),
    }


if __name__ == "__main__":
    began = time.perf_counter()
    swing_up = SwingUp(costs=Costs(copper_loss=0.002))
    trained = train(swing_up, say=print)
    print(f"trained in {time.perf_counter() - began:.0f} s")
    print(evaluate(swing_up, functools.partial(act, trained)))
