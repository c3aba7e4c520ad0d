"""What a loop gains that gives the state of its motors away: memory and time of one full step.

python benchmarks/donation.py
"""

import jax
import motors
import numpy as np
from measure import machine, race

import jaxmotor as jm

MOTORS = 65_536


def main():
    """Print both ways."""
    bench, params = motors.full()
    many, ctrl = motors.many(params, MOTORS, np.float32), motors.commands(1, MOTORS, np.float32)

    def step(state, many):
        return jax.vmap(lambda s, p, c: jm.advance(bench, s, p, c, motors.DT)[0])(state, many, ctrl)

    state, calls = {}, {}
    for way, given_away in (("kept", ()), ("given away", (0,))):
        program = jax.jit(step, donate_argnums=given_away)
        state[way] = jax.vmap(bench.init)(many)
        reused = program.lower(state[way], many).compile().memory_analysis().alias_size_in_bytes

        def call(way=way, program=program):
            state[way] = program(state[way], many)
            return state[way]

        calls[way] = call
        print(f"{way}: {reused / 1e6:.2f} MB of the old state hold the new one")
    taken = race(calls, 50)
    print({way: f"{seen['best'] * 1e6:.0f} us" for way, seen in taken.items()}, machine()["processor"])


if __name__ == "__main__":
    main()
