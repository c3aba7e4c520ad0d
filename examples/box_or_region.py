"""Does it matter which torque limits a policy is trained under? A box, or the operating region of the true motor.

A box allows the peak torque at any speed, as most simulators do. In truth the bus voltage takes torque away at speed.
Policies of several seeds learn a running gait under either, by analytic policy gradient, and all are judged on the true
motor. Run: python examples/box_or_region.py
"""

import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from jaxmotor.environments import SwingLeg

HIDDEN, BATCH, STEPS, TESTED = 32, 8, 84, 32


def boxed(params: Any) -> Any:
    """The same motors on a bus that never limits."""
    return eqx.tree_at(lambda p: p[0].supply.bus_voltage, params, params[0].supply.bus_voltage * 1e3)


def first_weights(key: jax.Array, size: int) -> dict[str, jax.Array]:
    """Random weights beside a weak spring and damper towards the gait."""
    inner, outer = jax.random.split(key)
    return {
        "inner": jax.random.normal(inner, (HIDDEN, size)) / jnp.sqrt(jnp.asarray(float(size))),
        "bias": jnp.zeros(HIDDEN),
        "outer": 0.1 * jax.random.normal(outer, (2, HIDDEN)),
        "spring": jnp.full((2,), 3.0, float),
        "damper": jnp.full((2,), 1.0, float),
    }


def act(weights: dict[str, jax.Array], observation: jax.Array) -> jax.Array:
    """Shares of the peak torques."""
    speed, error = observation[2:4], observation[4:6]
    # The belt's motor turns with the difference of the joints.
    feedback = weights["spring"] * error - weights["damper"] * speed
    return jnp.tanh(weights["outer"] @ jnp.tanh(weights["inner"] @ observation + weights["bias"]) + feedback)


def episode(environment: SwingLeg, params: Any, weights: Any, key: jax.Array) -> dict[str, jax.Array]:
    """Rewards and readings of two strides and more, one row per control step."""

    @jax.checkpoint
    def body(carry, _):
        state, observation = carry
        state, transition = environment.step(state, act(weights, observation))
        row = {"reward": transition.reward, "qpos": state.data.qpos, "speed": state.out.qvel}
        return (state, transition.observation), row | {"torque": state.out.joint_torque} | transition.info

    return jax.lax.scan(body, environment.reset(key, params), None, length=STEPS)[1]


def study(
    environment: SwingLeg, seeds: int = 5, updates: int = 150, say: Any = None
) -> dict[str, dict[str, jax.Array]]:
    """Episodes on the true motor of the policies of each training, with leading axes (seeds, episodes, steps)."""
    true = environment.params
    trained_on = jax.tree.map(lambda *x: jnp.stack(x), *[boxed(true)] * seeds, *[true] * seeds)
    keys = jnp.concatenate([jax.random.split(jax.random.key(0), seeds)] * 2)
    size = environment.reset(jax.random.key(0))[1].shape[0]
    weights = jax.vmap(lambda key: first_weights(key, size))(keys)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(0.02, updates)))
    state = jax.vmap(optimiser.init)(weights)

    def returned(weights, params, key):
        starts = jax.random.split(key, BATCH)
        return -jnp.mean(jax.vmap(lambda start: episode(environment, params, weights, start)["reward"])(starts))

    @jax.jit
    @jax.vmap
    def update(weights, state, params, key):
        value, gradient = jax.value_and_grad(returned)(weights, params, key)
        moves, state = optimiser.update(gradient, state)
        return optax.apply_updates(weights, moves), state, value

    for count, now in enumerate(jax.random.split(jax.random.key(1), updates)):
        pairs = jnp.concatenate([jax.random.split(now, seeds)] * 2)
        weights, state, value = update(weights, state, trained_on, pairs)
        if say is not None and count % 25 == 0:
            say(f"update {count}: box {jnp.mean(value[:seeds]):.4f}, region {jnp.mean(value[seeds:]):.4f}")

    @jax.jit
    @jax.vmap
    def judged(weights):
        starts = jax.random.split(jax.random.key(2), TESTED)
        return jax.vmap(lambda start: episode(environment, true, weights, start))(starts)

    rows = judged(weights)
    return {
        "box": jax.tree.map(lambda x: x[:seeds], rows),
        "region": jax.tree.map(lambda x: x[seeds:], rows),
    }


def table(rows: dict[str, dict[str, jax.Array]]) -> str:
    """Per training: mean and standard deviation over seeds, on the true motor."""
    lines = [f"{'trained under':14} {'return':>16} {'saturated [%]':>16} {'copper loss [W]':>16}"]
    for name, row in rows.items():
        shown = [
            jnp.mean(jnp.sum(row["reward"], axis=2), axis=1),
            100 * jnp.mean(row["saturated"], axis=(1, 2)),
            jnp.mean(row["copper_loss"], axis=(1, 2)),
        ]
        lines.append(f"{name:14} " + " ".join(f"{f'{jnp.mean(x):.3f} ± {jnp.std(x):.3f}':>16}" for x in shown))
    return "\n".join(lines)


if __name__ == "__main__":
    began = time.perf_counter()
    print(table(study(SwingLeg(frequency=4.0), say=print)))
    print(f"in {time.perf_counter() - began:.0f} s")
