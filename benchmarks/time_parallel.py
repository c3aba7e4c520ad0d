"""Whether a log's linear states are better replayed in parallel over time than row by row.

    python benchmarks/time_parallel.py

An inductive winding under measured speed is i_{k+1} = a i_k + b_k with known a, b_k. Row by row it is `jm.replay`, a
scan; in parallel it is `jax.lax.associative_scan` over the pairs (a, b_k), which computes more in log2(rows) turns.
Prints the time of the scan over that of the parallel form, for the currents and for the gradient of their mean square
in R and L, and how far the two forms are apart.
"""

import functools
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from measure import machine, race

import jaxmotor as jm

STEP = 1e-3
RESISTANCE, CONSTANT, INDUCTANCE = 1.2, 0.05, 2e-3
ACTUATOR = jm.Actuator(jm.Motor(jm.Inductive()), jm.VoltageDrive())


def by_rows(values, volts, speed):
    """Currents at the start of every row, by the library."""
    resistance, inductance = values
    winding = jm.InductiveParams(
        resistance, jnp.full_like(resistance, CONSTANT), jnp.full_like(resistance, CONSTANT), inductance
    )
    params = jm.ActuatorParams(jm.MotorParams(winding))
    state = ACTUATOR.init(params)
    zero = jnp.zeros_like(speed)
    return jm.replay(ACTUATOR, state, params, volts, zero, speed, jnp.asarray(STEP, volts.dtype))[1].current


def in_parallel(values, volts, speed):
    """The same currents by a scan over pairs."""
    resistance, inductance = values
    decay = jnp.exp(-STEP * resistance / inductance)
    reached = (volts - CONSTANT * speed) / resistance

    def both(early, late):
        return early[0] * late[0], late[0] * early[1] + late[1]

    pairs = jnp.full_like(reached, 1) * decay, (1 - decay) * reached
    ends = jax.lax.associative_scan(both, pairs)[1]
    return jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])


def main():
    """Print the table."""
    print({name: value for name, value in machine().items() if name != "machine"})
    for motors, rows in ((1, 20_000), (1, 600_000), (64, 20_000), (4096, 1000)):
        random = np.random.default_rng(0)
        volts = jnp.asarray(random.uniform(-12, 12, (motors, rows)), jnp.float32)
        speed = jnp.asarray(np.cumsum(random.normal(size=(motors, rows)), axis=1) * 0.1, jnp.float32)
        values = jnp.full(motors, RESISTANCE, jnp.float32), jnp.full(motors, INDUCTANCE, jnp.float32)
        forward = {form: jax.jit(jax.vmap(form)) for form in (by_rows, in_parallel)}
        mean = {form: lambda v, u, w, f=run: jnp.mean(jnp.square(f(v, u, w))) for form, run in forward.items()}
        slopes = {form: jax.jit(jax.grad(score)) for form, score in mean.items()}
        apart = float(
            jnp.max(jnp.abs(forward[by_rows](values, volts, speed) - forward[in_parallel](values, volts, speed)))
        )
        row = f"{motors:5d} motors, {rows:7d} rows:"
        for name, calls in (("currents", forward), ("gradient", slopes)):
            taken = race({form: functools.partial(call, values, volts, speed) for form, call in calls.items()}, 9)
            row += f" {name} {taken[by_rows]['best'] / taken[in_parallel]['best']:.2f},"
        print(row, f"apart {apart:.1e} A")


if __name__ == "__main__":
    main()
