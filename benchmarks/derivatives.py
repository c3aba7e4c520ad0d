"""What derivatives of a rollout cost beside the rollout: gradients in all parameters, one tangent.

python benchmarks/derivatives.py [--motors N] [--rows N] [--repeats N]
"""

import argparse
import json

import jax
import jax.numpy as jnp
import motors
import numpy as np
from forward import LAWS
from measure import compiled, extra_memory, race

import jaxmotor as jm


def derivatives(name, batch, rows, dtype, repeats):
    """A row of the table: times of gradients and of a tangent over that of the forward rollout."""
    bench, params = LAWS[name][0]()
    own, ctrl = motors.many(params, batch, dtype), motors.commands(rows, batch, dtype)
    shared = jax.tree.map(lambda x: jnp.asarray(x, dtype), params)
    one = motors.library(bench)

    def traces(params, axis):
        return jax.vmap(one, in_axes=(axis, 0))(params, ctrl)

    def loss(axis):
        return lambda params: sum(jnp.sum(x**2) for x in traces(params, axis))

    def tangent(params):
        return jax.jvp(lambda p: traces(p, 0), (params,), (jax.tree.map(jnp.ones_like, params),))

    functions = {
        "forward": (lambda p: traces(p, 0), own),
        "forward, shared": (lambda p: traces(p, None), shared),
        "gradient, shared": (jax.value_and_grad(loss(None)), shared),
        "gradient": (jax.value_and_grad(loss(0)), own),
        "tangent": (tangent, own),
    }
    programs = {key: compiled(function, p) for key, (function, p) in functions.items()}
    taken = race({key: lambda key=key: programs[key][0](functions[key][1]) for key in functions}, repeats)
    best = {key: seen["best"] for key, seen in taken.items()}
    return {
        "what": "derivatives",
        "motor": name,
        "batch": batch,
        "rows": rows,
        "float": np.dtype(dtype).name,
        "ns_per_step": {key: 1e9 * seconds / (batch * rows) for key, seconds in best.items()},
        "ratios": {
            "gradient, shared": best["gradient, shared"] / best["forward, shared"],
            "gradient": best["gradient"] / best["forward"],
            "tangent": best["tangent"] / best["forward"],
        },
        "compile_s": {key: seconds for key, (_, seconds) in programs.items()},
        "extra_mb": {key: extra_memory(program) / 1e6 for key, (program, _) in programs.items()},
    }


def memory(rows, batch, segment, repeats):
    """The gradient of a long run's last state, plain and in parts: memory and time."""
    bench, params = motors.full()
    many, ctrl = motors.many(params, batch, np.float32), motors.commands(rows, batch, np.float32)

    def gradient(segment):
        def last(params):
            def one(p, c):
                return jm._rollout.advance(bench, bench.init(p), p, c, motors.DT, segment=segment)[0].qpos

            return jnp.sum(jax.vmap(one)(params, ctrl) ** 2)

        return compiled(jax.grad(last), many)[0]

    programs = {"plain": gradient(None), "in parts": gradient(segment)}
    taken = race({key: lambda key=key: programs[key](many) for key in programs}, repeats)
    mb = {key: extra_memory(program) / 1e6 for key, program in programs.items()}
    return {
        "what": "memory",
        "motor": "full",
        "batch": batch,
        "rows": rows,
        "segment": segment,
        "float": "float32",
        "extra_mb": mb,
        "ns_per_step": {key: 1e9 * seen["best"] / (batch * rows) for key, seen in taken.items()},
        "ratios": {
            "memory": mb["in parts"] / mb["plain"],
            "time": taken["in parts"]["best"] / taken["plain"]["best"],
        },
    }


def compiling():
    """Seconds to compile one full rollout and its gradient, short and long."""
    bench, params = motors.full()
    params = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), params)
    one = motors.library(bench)

    def loss(params, ctrl):
        return sum(jnp.sum(x**2) for x in one(params, ctrl))

    seconds = {}
    for key, function in (("rollout", one), ("gradient", jax.grad(loss))):
        for rows in (200, 20_000):
            # A fresh function each time, or the second would come out of a cache.
            tries = [compiled(lambda *x, f=function: f(*x), params, jnp.zeros(rows, jnp.float32))[1] for _ in range(2)]
            seconds[f"{key}, {rows} rows"] = min(tries)
    return {
        "what": "compile",
        "motor": "full",
        "compile_s": seconds,
        "ratios": {key: seconds[f"{key}, 20000 rows"] / seconds[f"{key}, 200 rows"] for key in ("rollout", "gradient")},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--motors", type=int, default=4096)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=21)
    given = parser.parse_args()
    print(json.dumps(derivatives("full", given.motors, given.rows, np.float32, given.repeats), indent=1))
