"""Fits of a whole fleet in one program, beside fits of its motors one by one.

    python benchmarks/fleet.py [--motors N] [--rows N] [--singles N] [--out FILE]

Every motor has its own six parameters and its own log, simulated by the library with the noise of sensors. Prints
milliseconds per motor, cold and warm, of waiting time and of processor time, and by how much the answers differ.
XLA_FLAGS=--xla_force_host_platform_device_count=2 makes a device of each of two cores.
"""

import argparse
import json
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from measure import machine

import jaxmotor as jm
import sysid
from sysid import fit_fleet

# Six that a log without torque tells: with a torque constant of its own, only its ratio to the inertia would be.
NAMES = ("resistance", "motor_constant", "inertia", "viscous_damping", "coulomb_friction", "current_offset")
DT = 1e-3
ALIKE = 1e-6
"""Relative difference of parameters within which two fits are one."""


def bench():
    """Voltage, resistance, back-EMF, viscous drag, Coulomb friction, an inertia."""
    actuator = jm.Actuator(
        jm.Motor(jm.QuasiStatic()), jm.VoltageDrive(), drag=jm.ViscousDrag(), dry_friction=jm.CoulombFriction()
    )
    params = jm.ActuatorParams(
        jm.MotorParams(jm.QuasiStaticParams(1.3, 0.045, 0.045)),
        drag=jm.ViscousDragParams(2e-5),
        dry_friction=jm.CoulombFrictionParams(0.006),
    )
    return jm.Bench(actuator, jm.RigidLoad()), jm.BenchParams(params, jm.RigidLoadParams(4e-5))


def logs(motors, rows, seed=0):
    """A log of each of so many motors, whose parameters differ by a fifth; random levels of voltage, held."""
    generator = np.random.default_rng(seed)
    made, typical = bench()
    params = jax.tree.map(lambda x: jnp.asarray(np.asarray(x) * generator.uniform(0.8, 1.2, motors)), typical)
    params = eqx.tree_at(
        lambda p: p.actuator.motor.winding.torque_constant, params, params.actuator.motor.winding.back_emf_constant
    )
    volts = np.repeat(generator.uniform(-10, 10, (motors, -(-rows // 60))), 60, axis=1)[:, :rows]

    def run(params, volts):
        _, out = jm.rollout(made, made.init(params), params, volts, DT)
        return out.qvel, out.actuator.current

    speeds, currents = (np.asarray(x) for x in jax.jit(jax.vmap(run))(params, jnp.asarray(volts)))
    speeds = speeds + 0.05 * generator.standard_normal(speeds.shape)
    currents = currents + 0.01 * generator.standard_normal(currents.shape)
    return [
        sysid.Log(
            f"motor {k}", DT * np.arange(rows), {"voltage": volts[k], "current": currents[k], "velocity": speeds[k]}
        )
        for k in range(motors)
    ]


def timed(call):
    """What a call returns, and the seconds that it waited and that it computed."""
    waited, computed = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - waited, time.process_time() - computed


def measured(motors, rows, singles):
    """A row of numbers: a fleet of so many motors cold and warm, and `singles` of them fitted one by one, warm."""
    found, (made, params) = logs(motors, rows), bench()
    row = {"motors": motors, "rows": rows, "devices": jax.device_count()}
    for turn in ("cold", "warm"):
        fitted, waited, computed = timed(lambda: fit_fleet(found, made, params, NAMES))
        row[f"fleet_{turn}_ms"], row[f"fleet_{turn}_processor_ms"] = (1e3 * x / motors for x in (waited, computed))

    def single(number):
        return sysid.fit(found[number], made, params, NAMES, substeps=1)

    single(0)
    alone, waited, computed = timed(lambda: [single(k) for k in range(singles)])
    row["single_warm_ms"], row["single_warm_processor_ms"] = (1e3 * x / singles for x in (waited, computed))
    values = np.array([[estimate.value for estimate in fit.estimates] for fit in alone])
    apart = np.max(np.abs(fitted.values[:singles] / values - 1), axis=1)
    row["largest_difference"], row["median_difference"] = float(np.max(apart)), float(np.median(apart))
    # Costs with a kink have more than one lowest point, and either fit may find either.
    row["alike"] = int(np.sum(apart < ALIKE))
    row["statuses"] = {s: fitted.statuses.count(s) for s in sorted(set(fitted.statuses))}
    row["ratio_to_single"] = row["single_warm_ms"] / row["fleet_warm_ms"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--motors", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--singles", type=int, default=20)
    parser.add_argument("--out", default="fleet.json", help="where the JSON goes")
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    row = machine() | measured(given.motors, given.rows, given.singles)
    print(json.dumps(row, indent=1))
    with open(given.out, "w", encoding="utf-8") as file:
        json.dump(row, file, indent=1)


if __name__ == "__main__":
    main()
