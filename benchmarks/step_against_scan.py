"""What a stage costs: whole rollouts against hand-written scans of the same equations, in the same run.

    python benchmarks/step_against_scan.py [--out FILE] [--repeats N] [--batch N] [--rows N]

Prints a table and writes JSON. Both sides are compiled; runs alternate, and the speed is the median over
pairs of neighbouring runs, so that whatever else the machine does falls on both alike.
"""

import argparse
import json
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
from hand_written import full_scan, plain_scan

import jaxmotor as jm

DT = 1e-3


def plain():
    """One motor on an inertia: voltage, resistance, viscous drag, Coulomb friction, MuJoCo's Euler rule."""
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()), jm.VoltageDrive(), drag=jm.ViscousDrag(), dry_friction=jm.CoulombFriction()
    )
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(0.6, 0.04, 0.04)),
        gear=jm.GearParams(10.0, 1e-5),
        drag=jm.ViscousDragParams(1e-5),
        dry_friction=jm.CoulombFrictionParams(0.02),
    )
    return jm.Bench(actuator, jm.RigidLoad(), jm.Euler()), jm.BenchParams(params, jm.RigidLoadParams(0.01))


def full():
    """Every feature of MuJoCo's dcmotor, on a bus and with dry friction."""
    actuator = jm.Actuator(
        jm.Motor(
            jm.FixedTimeConstant(rate=jm.CurrentRateLimit()),
            jm.LumpedThermal(),
            jm.TorqueLimit(),
            jm.Cogging(),
            jm.LuGre(),
        ),
        jm.PositionPID(jm.ErrorIntegral(jm.IntegralBound()), jm.VoltageLimit()),
        supply=jm.FixedSupply(),
        drag=jm.PolynomialDrag(),
        dry_friction=jm.CoulombFriction(),
        setpoint=jm.SlewLimiter(),
    )
    params = jm.ActuatorParams(
        jm.MotorParams(
            jm.FixedTimeConstantParams(0.6, 0.04, 0.04, 4e-4, rate=jm.CurrentRateLimitParams(2e4)),
            jm.LumpedThermalParams(4.0, 40.0, 0.0039, 20.0),
            jm.TorqueLimitParams(1.2),
            jm.CoggingParams(0.003, 14.0, 0.2),
            jm.LuGreParams(30.0, 0.05, 0.004, 0.006, 1.0),
        ),
        jm.PositionPIDParams(
            6.0, 0.02, jm.IntegralParams(3.0, jm.IntegralBoundParams(1.0)), jm.VoltageLimitParams(20.0)
        ),
        supply=jm.FixedSupplyParams(24.0),
        gear=jm.GearParams(10.0, 1e-5),
        drag=jm.PolynomialDragParams(1e-5, 1e-7, 1e-9),
        dry_friction=jm.CoulombFrictionParams(0.02),
        setpoint=jm.SlewLimiterParams(50.0),
    )
    return jm.Bench(actuator, jm.RigidLoad(), jm.Euler()), jm.BenchParams(params, jm.RigidLoadParams(0.01))


def ours(bench):
    """What both sides return: last angle and speed, and the traces of angle and current."""

    def run(params, ctrl):
        state, out = jm.rollout(bench, bench.init(params), params, ctrl, DT)
        return state.qpos, state.qvel, out.qpos, out.actuator.current

    return run


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
    for k in range(2 * repeats):
        start = time.perf_counter()
        jax.block_until_ready(compiled[k % 2](*arguments))
        taken[k % 2].append(time.perf_counter() - start)
    medians = [statistics.median(x) for x in taken]
    return {
        "case": name,
        "library_s": medians[0],
        "hand_written_s": medians[1],
        "speed_of_hand_written": statistics.median(hand / own for own, hand in zip(*taken, strict=True)),
        "best_case": min(taken[1]) / min(taken[0]),
        "compile_library_s": seconds[0],
        "compile_hand_written_s": seconds[1],
        "largest_relative_difference": gap,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="step_against_scan.json", help="where the JSON goes")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--rows", type=int, default=1000)
    given = parser.parse_args()
    rows = []
    bench, params = plain()
    ctrl = 12 * jnp.sin(0.003 * jnp.arange(100_000.0))
    rows.append(
        compared("one plain motor, 100 000 steps", ours(bench), plain_scan(DT), (params, ctrl), 3 * given.repeats)
    )
    bench, params = full()
    ctrl = 2 * jnp.sign(jnp.sin(0.01 * jnp.arange(float(given.rows))))
    rows.append(compared("one full motor", ours(bench), full_scan(DT), (params, ctrl), 3 * given.repeats))
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
