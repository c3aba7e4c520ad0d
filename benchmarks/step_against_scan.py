"""What a stage costs: whole rollouts against hand-written scans of the same equations, in the same run.

    python benchmarks/step_against_scan.py [--out FILE] [--repeats N] [--batch N] [--rows N]

Prints a table and writes JSON. Both sides are compiled; runs alternate, and the speed is the median over
pairs of neighbouring runs, by the processor time that each took: waiting for a core that others hold is not counted
(`waiting_speed` counts it).
"""

import argparse
import json
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
from hand_written import full_scan, plain_scan
from motors import DT, full, library as ours, plain


def compared(name, library, hand, arguments, repeats):
    """Alternating runs of two compiled functions: a row of the table."""
    compiled, seconds = [], []
    for function in (library, hand):
        start = time.perf_counter()
        compiled.append(jax.jit(function).lower(*arguments).compile())
        seconds.append(time.perf_counter() - start)
    results = [run(*arguments) for run in compiled]
    gap = max(
        float(np.max(np.abs(np.asarray(a) - np.asarray(b))) / (np.max(np.abs(np.asarray(b))) + 1e-12))
        for a, b in zip(*results, strict=True)
    )
    taken: list[list[float]] = [[], []]
    waited: list[list[float]] = [[], []]
    for k in range(2 * repeats):
        start, spent = time.perf_counter(), time.process_time()
        jax.block_until_ready(compiled[k % 2](*arguments))
        taken[k % 2].append(time.process_time() - spent)
        waited[k % 2].append(time.perf_counter() - start)
    medians = [statistics.median(x) for x in taken]
    return {
        "case": name,
        "library_s": medians[0],
        "hand_written_s": medians[1],
        "speed_of_hand_written": statistics.median(hand / own for own, hand in zip(*taken, strict=True)),
        "best_case": min(taken[1]) / min(taken[0]),
        "waiting_speed": statistics.median(hand / own for own, hand in zip(*waited, strict=True)),
        "compile_library_s": seconds[0],
        "compile_hand_written_s": seconds[1],
        "largest_relative_difference": gap,
    }


def alone(motor, rows, repeats):
    """One motor without company: the latency of a step."""
    if motor == "plain":
        bench, params = plain()
        ctrl, scan = 12 * jnp.sin(0.003 * jnp.arange(float(rows))), plain_scan(DT)
    else:
        bench, params = full()
        ctrl, scan = 2 * jnp.sign(jnp.sin(0.01 * jnp.arange(float(rows)))), full_scan(DT)
    params, ctrl = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), (params, ctrl))
    return compared(f"one {motor} motor, {rows:_} steps".replace("_", " "), ours(bench), scan, (params, ctrl), repeats)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="step_against_scan.json", help="where the JSON goes")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--rows", type=int, default=1000)
    given = parser.parse_args()
    rows = []
    rows.append(alone("plain", 100_000, 3 * given.repeats))
    rows.append(alone("full", 20 * given.rows, 3 * given.repeats))
    bench, params = full()
    ctrl = 2 * jnp.sign(jnp.sin(0.01 * jnp.arange(float(given.rows))))
    spread = jnp.linspace(0.9, 1.1, given.batch)
    many = jax.tree.map(lambda x: x * spread, params)
    commands = ctrl * spread[:, None]
    case = f"{given.batch} full motors, {given.rows} steps"
    rows.append(compared(case, jax.vmap(ours(bench)), jax.vmap(full_scan(DT)), (many, commands), given.repeats))
    for row in rows:
        print(
            f"{row['case']:32s} library {row['library_s']:8.4f} s   hand-written {row['hand_written_s']:8.4f} s   "
            f"speed {row['speed_of_hand_written']:5.2f} of it (best runs {row['best_case']:5.2f})   "
            f"compile {row['compile_library_s']:.1f} s / {row['compile_hand_written_s']:.1f} s   "
            f"difference {row['largest_relative_difference']:.1e}"
        )
    with open(given.out, "w") as file:
        json.dump(
            {"backend": jax.default_backend(), "jax": jax.__version__, "float": "float32", "rows": rows}, file, indent=1
        )


if __name__ == "__main__":
    main()
