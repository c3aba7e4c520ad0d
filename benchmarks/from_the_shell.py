"""What a user waits for: whole commands from the shell, without a cache of compiled programs.

    python benchmarks/from_the_shell.py [twelve] [bristles] [long] [read] [--out FILE]

- `twelve`, `bristles`: twelve free parameters and one log of 10 s at 1 kHz through `sysid fit`; then, in one process,
  a first log and a second one of the same shape through `sysid.fit`.
- `long`: ten minutes at 1 kHz (600 000 rows) through `sysid fit`.
- `read`: ten million rows through `sysid.read_log`.

The logs are made here: by the library's own bench in steps of a tenth of a row, with white noise, as it is times that
are asked for. Prints, and writes as JSON, wall-clock and processor seconds and the peak memory of each process.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from measure import machine

import jaxmotor as jm
import sysid

TWELVE = """
command = "voltage"
[stages]
controller = "VoltageDrive"
winding = "Inductive"
cogging = "Cogging"
drag = "PolynomialDrag"
dry_friction = "LoadDependentFriction"
"dry_friction.stribeck" = "Stribeck"
load = "RigidLoad"
[parameters]
resistance = { start = "1.3 ohm" }
motor_constant = { start = "45 mN m/A" }
inductance = { start = "0.8 mH" }
inertia = { start = "4e-5 kg m^2" }
coulomb_friction = { start = "6 mN m" }
stribeck_friction = { start = "3 mN m" }
stribeck_velocity = { start = "4 rad/s" }
viscous_damping = { start = "2e-5 N m s/rad" }
quadratic_drag = { start = "1e-7 N m s^2/rad^2" }
cubic_drag = { fixed = "0 N m s^3/rad^3" }
amplitude = { start = "2 mN m" }
phase = { start = "0.5 rad" }
pole_count = { fixed = "7" }
current_offset = { start = "0.05 A" }
"""
BRISTLES = """
command = "voltage"
[stages]
controller = "VoltageDrive"
winding = "Inductive"
thermal = "LumpedThermal"
drag = "ViscousDrag"
bristle = "LuGre"
load = "RigidLoad"
[parameters]
resistance = { start = "1.3 ohm" }
motor_constant = { start = "45 mN m/A" }
inductance = { start = "0.8 mH" }
inertia = { start = "4e-5 kg m^2" }
lugre_stiffness = { start = "10 N m/rad" }
lugre_damping = { start = "0.02 N m s/rad" }
coulomb_friction = { start = "6 mN m" }
stiction_torque = { start = "9 mN m" }
stribeck_velocity = { start = "2 rad/s" }
viscous_damping = { start = "2e-5 N m s/rad" }
thermal_resistance = { start = "3 K/W" }
thermal_capacitance = { start = "4 J/K" }
temperature_coefficient = { fixed = "0.0039 1/K" }
ambient_temperature = { fixed = "25 degC" }
"""
BRUSHED = """
command = "voltage"
[stages]
controller = "VoltageDrive"
drag = "ViscousDrag"
dry_friction = "CoulombFriction"
load = "RigidLoad"
[parameters]
resistance = { start = "1.3 ohm" }
motor_constant = { start = "45 mN m/A" }
inertia = { start = "4e-5 kg m^2" }
coulomb_friction = { start = "6 mN m" }
viscous_damping = { start = "2e-5 N m s/rad" }
"""
STEP, FINER = 1e-3, 10
UNITS = {"position": "rad", "velocity": "rad/s", "current": "A", "temperature": "degC"}
NOISE = {"position": 1e-3, "velocity": 0.05, "current": 0.01, "temperature": 0.05}
OFF = 1.4
"""Factor by which the model file of a fit is off the motor that made the log."""

_SAME_SHAPE = """
import json, sys, time
import jax
jax.config.update("jax_enable_x64", True)
import sysid
model, spent = sysid.read_model(sys.argv[1]), []
for path in sys.argv[2:]:
    log = sysid.read_log(path)
    begun = time.perf_counter()
    fit = sysid.fit(log, model=model)
    spent.append(time.perf_counter() - begun)
print(json.dumps([spent, fit.status, {e.name: [e.value, e.flag] for e in fit.estimates}]))
"""
_READ = "import sys, sysid; log = sysid.read_log(sys.argv[1]); assert len(log) == int(sys.argv[2])"


def made(model, rows, seed):
    """Columns of a log of this motor under random levels of both signs with rests."""
    random = np.random.default_rng(seed)
    hold = random.integers(40, 250, rows // 40)
    volts = np.repeat(random.uniform(-9, 9, hold.size) * (random.random(hold.size) > 0.25), hold)[:rows]
    bench, params, finer = model.bench, model.params, np.repeat(volts, FINER)
    _, run = jax.jit(lambda u: jm.rollout(bench, bench.init(params), params, u, STEP / FINER))(jnp.asarray(finer))
    seen = {"position": run.qpos, "velocity": run.qvel, "current": run.actuator.current}
    if run.actuator.temperature is not None:
        seen["temperature"] = run.actuator.temperature
    columns = {"time [s]": np.arange(rows) * STEP, "voltage [V]": volts}
    for name, values in seen.items():
        every = np.asarray(values)[::FINER]
        columns[f"{name} [{UNITS[name]}]"] = every + NOISE[name] * random.standard_normal(rows)
    return columns


def written(folder, name, columns):
    path = folder / f"{name}.csv"
    pl.DataFrame(columns).write_csv(path, float_precision=6)
    return path


def shifted(text):
    """The model file with every start off by a factor, up and down in turn."""
    lines, up = [], True
    for line in text.splitlines():
        if "start" in line:
            number = line.split('"')[1].split()[0]
            line, up = line.replace(number, f"{float(number) * (OFF if up else 1 / OFF):.6g}", 1), not up
        lines.append(line)
    return "\n".join(lines)


def spent(command):
    """Wall-clock and processor seconds and peak memory [GB] of one process, and its output."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, text=True)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        out.seek(0)
        text = out.read()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{text}")
    peak = used.ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)
    return {"wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime, "peak_gb": peak}, text


def sysid_fit(folder, log, model=None):
    out = folder / "result"
    shutil.rmtree(out, ignore_errors=True)
    given = [] if model is None else ["--model", str(model)]
    row, _ = spent([sys.executable, "-m", "sysid.cli", "fit", str(log), *given, "--no-cache", "--out", str(out)])
    entry = json.loads((out / "fit.json").read_text(encoding="utf-8"))
    return row | {"status": entry["status"], "flags": {n: p["flag"] for n, p in entry["parameters"].items()}}


def twelve(folder, text):
    (folder / "true.toml").write_text(text, encoding="utf-8")
    (folder / "begun.toml").write_text(shifted(text), encoding="utf-8")
    model = sysid.read_model(folder / "true.toml")
    logs = [written(folder, f"log{seed}", made(model, 10_000, seed)) for seed in (0, 1)]
    row = sysid_fit(folder, logs[0], folder / "begun.toml")
    process, told = spent([sys.executable, "-c", _SAME_SHAPE, str(folder / "begun.toml"), *map(str, logs)])
    seconds, _, ends = json.loads(told.splitlines()[-1])
    # The sensors of the made logs have no offset, so that one has no relative error.
    truth = {p.name: p.start for p in model.free.parameters if p.name != "current_offset"}
    off = {name: value / truth[name] - 1 for name, (value, _) in ends.items() if name in truth}
    return (
        row
        | {"free": len(model.free.parameters), "first_log_s": seconds[0], "second_log_s": seconds[1], "off": off}
        | {"both_logs": process}
    )


def long(folder):
    (folder / "true.toml").write_text(BRUSHED, encoding="utf-8")
    columns = made(sysid.read_model(folder / "true.toml"), 600_000, 0)
    return sysid_fit(folder, written(folder, "long", columns))


def read(folder):
    rows = 10_000_000
    random = np.random.default_rng(0)
    volts = np.repeat(random.choice([-12.0, 0.0, 6.0, 12.0], rows // 1000), 1000)
    columns = {"time [s]": np.arange(rows) * STEP, "voltage [V]": volts}
    columns |= {
        "current [A]": volts / 1.2 + random.normal(0.0, 0.01, rows),
        "speed [rad/s]": random.normal(0, 30, rows),
    }
    path = written(folder, "large", columns)
    return spent([sys.executable, "-c", _READ, str(path), str(rows)])[0]


CASES = {
    "twelve": lambda folder: twelve(folder, TWELVE),
    "bristles": lambda folder: twelve(folder, BRISTLES),
    "long": long,
    "read": read,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all if none is named")
    parser.add_argument("--out", default="from_the_shell.json", help="where the JSON goes")
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    where, rows = machine(), {}
    print(", ".join(f"{key} {value}" for key, value in where.items()))
    for name in given.cases or list(CASES):
        with tempfile.TemporaryDirectory() as folder:
            rows[name] = CASES[name](pathlib.Path(folder))
        print(f"{name}: {json.dumps(rows[name])}", flush=True)
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump(where | {"load_after": machine()["load"], "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
