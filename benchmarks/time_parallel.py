"""Whether logs are better replayed with all of their rows at once than row by row.

    python benchmarks/time_parallel.py

Times `jm.replay(...)` over `jm.replay(..., parallel=True)` under measured motion: for the outputs current and torque,
and for the gradient of their mean squares in all parameters. Tells how far the outputs are apart, as a share of the
largest.
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
SIZES = ((1, 1000), (1, 20_000), (1, 600_000), (64, 20_000), (4096, 1000))


def kinds():
    """Name, actuator and params of each motor."""
    winding = jm.InductiveParams(1.2, 0.05, 0.05, 2e-3)
    yield (
        "current",
        jm.Actuator(jm.Motor(jm.Inductive()), jm.VoltageDrive()),
        jm.ActuatorParams(jm.MotorParams(winding)),
    )
    yield (
        "current, bristles",
        jm.Actuator(jm.Motor(jm.Inductive(), bristle=jm.LuGre()), jm.VoltageDrive()),
        jm.ActuatorParams(jm.MotorParams(winding, bristle=jm.LuGreParams(30.0, 0.05, 0.004, 0.006, 1.0))),
    )
    yield (
        "current, integral",
        jm.Actuator(
            jm.Motor(jm.Inductive()), jm.PositionPID(jm.ErrorIntegral(), jm.VoltageLimit()), supply=jm.FixedSupply()
        ),
        jm.ActuatorParams(
            jm.MotorParams(winding),
            jm.PositionPIDParams(6.0, 0.02, jm.IntegralParams(3.0), jm.VoltageLimitParams(20.0)),
            supply=jm.FixedSupplyParams(24.0),
        ),
    )


def row(actuator, params, motors, rows):
    """Ratios of forward and gradient, and how far the outputs are apart."""
    random = np.random.default_rng(0)
    command = jnp.asarray(random.uniform(-12, 12, (motors, rows)), jnp.float32)
    speed = jnp.asarray(np.cumsum(random.normal(size=(motors, rows)), axis=1) * 0.1, jnp.float32)
    angle = jnp.cumsum(speed, axis=1) * jnp.float32(STEP)
    own = jax.tree.map(lambda x: jnp.full(motors, x, jnp.float32), params)

    def outputs(parallel, params):
        def one(p, u, q, w):
            out = jm.replay(actuator, actuator.init(p), p, u, q, w, STEP, parallel=parallel)[1]
            return out.current, out.motor_torque

        return jax.vmap(one)(params, command, angle, speed)

    def loss(parallel, params):
        return sum(jnp.mean(x**2) for x in outputs(parallel, params))

    forward = {way: jax.jit(functools.partial(outputs, way)) for way in (False, True)}
    slopes = {way: jax.jit(jax.grad(functools.partial(loss, way))) for way in (False, True)}
    apart = max(
        float(jnp.max(jnp.abs(x - y)) / jnp.max(jnp.abs(x)))
        for x, y in zip(forward[False](own), forward[True](own), strict=True)
    )
    ratios = []
    for calls in (forward, slopes):
        taken = race({way: functools.partial(call, own) for way, call in calls.items()}, 7)
        ratios.append(taken[False]["best"] / taken[True]["best"])
    return *ratios, apart


def main():
    """Print the table."""
    print({name: value for name, value in machine().items() if name != "machine"})
    for name, actuator, params in kinds():
        for motors, rows in SIZES:
            forward, gradient, apart = row(actuator, params, motors, rows)
            print(f"{name:18s} {motors:5d} x {rows:7d}: {forward:5.2f} {gradient:6.2f}   apart {apart:.0e}", flush=True)


if __name__ == "__main__":
    main()
