"""What the motors cost beside the MJX step: a batch of pendulums with and without them, in turns, in one process.

    python benchmarks/mjx_overhead.py [environments]

Prints the least time of a physics step for the body alone under the same torque, and with its motor: as it passes, and
as the processor counts it, which other work on the machine disturbs less.
"""

import sys
import time

import jax
import jax.numpy as jnp
from mujoco import mjx as bare

from jaxmotor import mjx

STEPS, TURNS = 100, 15
BODY = """<mujoco><option timestep="0.004" integrator="Euler"/><worldbody><body>
<joint name="pivot" axis="0 1 0" damping="0.005"/><geom type="sphere" size="0.04" pos="0 0 -0.3" mass="0.4"/>
</body></worldbody><actuator>{}</actuator></mujoco>"""
MOTOR = """<dcmotor name="motor" joint="pivot" resistance="1.2" motorconst="0.04" gear="6" armature="1e-5"
damping="2e-5" saturation="0.1" {} thermal="6 1.5 0 0.0039 25 25"/>"""
MODELS = {
    "torque limit and heat": MOTOR.format(""),
    "all parts": MOTOR.format('inductance="0 0.002" cogging="0.002 12" lugre="50 0.01 0.005 0.008 0.5"'),
}


def programs(text: str, count: int):
    """The two batches, each a function without arguments."""
    model, group, params = mjx.put_model(text)
    start = jax.vmap(lambda angle: mjx.reset(model, group, params, angle[None]))(jnp.linspace(-1.0, 1.0, count))

    @jax.jit
    @jax.vmap
    def with_motors(data, state):
        def body(carry, _):
            data, state, out = mjx.step(model, *carry[:1], group, params, carry[1], jnp.array([3.0]))
            return (data, state), out.temperature

        return jax.lax.scan(body, (data, state), None, length=STEPS)[0][0].qpos

    @jax.jit
    @jax.vmap
    def alone(data):
        def body(data, _):
            return bare.step(model, data.replace(ctrl=jnp.array([0.1]))), None

        return jax.lax.scan(body, data, None, length=STEPS)[0].qpos

    return {"body alone": lambda: alone(start[0]), "with motors": lambda: with_motors(*start)}


def main(count: int) -> None:
    for name, motor in MODELS.items():
        runs = programs(BODY.format(motor), count)
        taken = {what: [] for what in runs}
        for turn in range(TURNS + 1):
            for what, run in runs.items():
                began = time.perf_counter(), time.process_time()
                jax.block_until_ready(run())
                ended = time.perf_counter(), time.process_time()
                if turn:
                    taken[what].append([(end - start) / STEPS for start, end in zip(began, ended, strict=True)])
        for clock, kind in enumerate(("passed", "of processor")):
            alone, both = (min(row[clock] for row in taken[what]) for what in ("body alone", "with motors"))
            print(
                f"{name}, {count} environments: body alone {alone * 1e6:.0f} us, with motors {both * 1e6:.0f} us "
                f"{kind} per step, {100 * (both / alone - 1):+.0f} %",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1024)
