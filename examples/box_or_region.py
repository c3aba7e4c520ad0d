"""Does it matter which torque limits a policy is trained under? A box, or the operating region of the true motor.

A box allows the peak torque at any speed, as most simulators do. In truth the bus voltage takes torque away at speed.
Policies of several seeds learn to jump over a beam under either, by analytic policy gradient, and all are judged on the
true motor. Run: python examples/box_or_region.py

What was chosen after a look at results: the task (a gait in the air, which feedback puts right, showed no difference),
the episode's length (until shortly after landing) and the training: the clock, the clipping, a first policy that
stands, the rate, the number of updates, and two tries for every seed (with one, a policy of the box had not learned to
jump on its box), until each seed of either kind could jump where it was trained. But for the task, nothing was chosen
by how policies of the box fare on the true motor. The beam's height is the environment's own; all is the same for both.
"""

import operator
import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxmotor.environments import JumpLeg

HIDDEN, BATCH, CHUNK, TESTED, TRIES = 16, 8, 25, 100, 2
BEATS = np.arange(12) * 0.1
KINDS = ("box, on its box", "box", "region")
Rows = dict[str, dict[str, jax.Array]]


def boxed(params: Any) -> Any:
    """The same motors on a bus that never limits."""
    return eqx.tree_at(lambda p: p[0].supply.bus_voltage, params, params[0].supply.bus_voltage * 1e3)


def first_weights(key: jax.Array) -> dict[str, jax.Array]:
    """A little noise on a leg that stands: springs and dampers about the crouch, and about its weight in torque."""
    inner, outer = jax.random.split(key)
    size = 6 + len(BEATS)
    return {
        "inner": jax.random.normal(inner, (HIDDEN, size)) / jnp.sqrt(jnp.asarray(float(size))),
        "bias": jnp.zeros(HIDDEN),
        "outer": 0.01 * jax.random.normal(outer, (2, HIDDEN)),
        "clock": jnp.zeros((2, len(BEATS))),
        "hold": jnp.full((2,), 0.46, float),
        "spring": jnp.full((2,), 2.0, float),
        "damper": jnp.full((2,), 1.0, float),
    }


def act(weights: dict[str, jax.Array], observation: jax.Array) -> jax.Array:
    """Shares of the peak torques, from the body and the time alone: motors that saturate look the same to both kinds.

    The time is felt as a row of bumps, one per 0.1 s, so that a push can be moved without moving what comes after it.
    """
    clock = jnp.exp(-(((observation[6] - BEATS) / 0.1) ** 2))
    seen = jnp.concatenate([observation[:6], clock])
    network = weights["outer"] @ jnp.tanh(weights["inner"] @ seen + weights["bias"])
    # The belt's motor turns with the difference of the joints.
    error, speed = (
        jnp.stack([hip, knee - hip])
        for hip, knee in ((0.8 - observation[1], -1.6 - observation[2]), (observation[4], observation[5]))
    )
    feedback = weights["spring"] * error - weights["damper"] * speed
    return jnp.tanh(network + weights["clock"] @ clock + weights["hold"] + feedback)


def episode(environment: JumpLeg, params: Any, weights: Any, key: jax.Array) -> dict[str, jax.Array]:
    """Rewards and readings of a whole episode, one row per control step; a fall is noted and does not end it."""

    @jax.checkpoint
    def body(carry, _):
        state, observation = carry
        state, transition = environment.step(state, act(weights, observation))
        row = {
            "reward": transition.reward,
            "fallen": transition.terminated,
            "trunk": environment.trunk(state.data),
            "speed": state.out.qvel,
            "torque": state.out.joint_torque,
        }
        return (state, transition.observation), row | transition.info

    return jax.lax.scan(body, environment.reset(key, params), None, length=environment.horizon)[1]


def twice(key: jax.Array, count: int) -> jax.Array:
    """The same keys for both kinds."""
    return jnp.concatenate([jax.random.split(key, count)] * 2)


def study(environment: JumpLeg, seeds: int = 5, updates: int = 250, say: Any = None) -> Rows:
    """Episodes of the trained policies, by `KINDS`, with leading axes (seeds, episodes, steps).

    Of every seed's `TRIES` the one that lost least in its own last updates is kept. The first kind is what the training
    under the box promised; the others are judged on the true motor.
    """
    true, box = environment.params, boxed(environment.params)

    def each(count, *params):
        return jax.tree.map(lambda *x: jnp.repeat(jnp.stack(x), count, axis=0), *params)

    trained_on = each(seeds * TRIES, box, true)
    weights = jax.vmap(first_weights)(twice(jax.random.key(0), seeds * TRIES))
    # A leg that tumbles can leave what numbers hold; such an update is left out.
    optimiser = optax.apply_if_finite(optax.adam(optax.cosine_decay_schedule(0.02, updates)), updates)
    state = jax.vmap(optimiser.init)(weights)

    def loss(weights, params, start):
        return -jnp.sum(episode(environment, params, weights, start)["reward"])

    @jax.vmap
    def update(weights, state, params, key):
        starts = jax.random.split(key, BATCH)
        values, gradients = jax.vmap(jax.value_and_grad(loss), (None, None, 0))(weights, params, starts)
        gradient, _ = optax.per_example_global_norm_clip(gradients, 1.0)
        moves, state = optimiser.update(gradient, state)
        return optax.apply_updates(weights, moves), state, jnp.mean(values)

    @jax.jit
    def learn(weights, state, keys):
        def body(carry, now):
            *carry, values = update(*carry, trained_on, twice(now, seeds * TRIES))
            return tuple(carry), values

        return jax.lax.scan(body, (weights, state), keys)

    for count, now in enumerate(jax.random.split(jax.random.key(1), (updates // CHUNK, CHUNK))):
        (weights, state), values = learn(weights, state, now)
        lost = jnp.nan_to_num(jnp.mean(values, axis=0), nan=jnp.inf).reshape(2 * seeds, TRIES)
        if say is not None:
            least = np.round(np.min(lost, axis=1), 3)
            say(f"update {(count + 1) * CHUNK}, lost by seed: box {least[:seeds]}, region {least[seeds:]}")
    chosen = jnp.arange(2 * seeds) * TRIES + jnp.argmin(lost, axis=1)
    weights = jax.tree.map(operator.itemgetter(chosen), weights)

    @jax.jit
    @jax.vmap
    def judged(weights, params):
        starts = jax.random.split(jax.random.key(2), TESTED)
        return jax.vmap(lambda start: episode(environment, params, weights, start))(starts)

    again = jax.tree.map(lambda x: jnp.concatenate([x[:seeds], x]), weights)
    rows = judged(again, each(seeds, box, true, true))
    rows = jax.tree.map(lambda x: x.reshape(len(KINDS), seeds, *x.shape[1:]), rows)
    return {kind: jax.tree.map(operator.itemgetter(at), rows) for at, kind in enumerate(KINDS)}


def figures(row: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Of one kind: return, saturated share of motors and steps [%] and falls [%], a number per seed."""
    return {
        "return": jnp.mean(jnp.sum(row["reward"], axis=2), axis=1),
        "saturated [%]": 100 * jnp.mean(row["saturated"], axis=(1, 2)),
        "falls [%]": 100 * jnp.mean(jnp.any(row["fallen"], axis=2), axis=1),
    }


def table(rows: Rows) -> str:
    """Mean, and least to greatest over seeds."""
    lines = [" ".join([f"{'trained under':16}", *(f"{name:>26}" for name in figures(rows["box"]))])]
    for kind, row in rows.items():
        cells = [f"{jnp.mean(x):.3g} ({jnp.min(x):.3g} to {jnp.max(x):.3g})" for x in figures(row).values()]
        lines.append(" ".join([f"{kind:16}", *(f"{cell:>26}" for cell in cells)]))
    return "\n".join(lines)


if __name__ == "__main__":
    began = time.perf_counter()
    print(table(study(JumpLeg(horizon=120), say=print)))
    print(f"in {time.perf_counter() - began:.0f} s")
