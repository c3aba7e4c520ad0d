"""The same motor, the same logs, the same start: MuJoCo's own `mujoco.sysid` (finite differences) beside `sysid.fit`.

    python benchmarks/against_mujoco_sysid.py [--out FILE]

MuJoCo's engine makes a `dcmotor` with LuGre friction and two logs of 3000 rows, angle and speed with white noise. The
inertia is known, seven parameters move. Without a measured current the logs fix K/R and K^2/R + B1 but none of R, K and
B1: one combination stays open. Both sides step by MuJoCo's `implicitfast` rule, to 1e-12. MuJoCo's toolbox is told that
a log begins at rest and minimises a sum of squares; `sysid.fit` estimates the state of the first row and counts
residuals beyond two standard deviations linearly. The cost is half the sum of squares, in units of the noise, of each
side's own prediction, and beside it that of its parameters from rest by MuJoCo's engine. Prints a table and writes
JSON. Needs `pip install 'mujoco[sysid]'`.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import mujoco
import numpy as np
from measure import machine
from mujoco import rollout, sysid as toolbox

import jaxmotor as jm
import sysid
from jaxmotor import mjcf
from sysid._identifiability import OPEN, in_words

ROWS, STEP = 3000, 1e-3
NOISE = {"position": 1e-3, "velocity": 0.2}
"""Of the sensors [rad, rad/s]."""

INERTIA = 5e-5
TRUTH = {
    "resistance": 1.3,
    "motor_constant": 0.045,
    "viscous_damping": 3e-5,
    "lugre_stiffness": 8.0,
    "coulomb_friction": 0.006,
    "stiction_torque": 0.010,
    "stribeck_velocity": 3.0,
}
BRISTLE_DAMPING = 0.02
_OFF = (1.5, 0.7, 2.0, 0.6, 1.6, 1.5, 0.5)
STARTS = {
    "near": {name: value * off**0.25 for (name, value), off in zip(TRUTH.items(), _OFF, strict=True)},
    "far": {name: value * off for (name, value), off in zip(TRUTH.items(), _OFF, strict=True)},
}
"""Where both sides begin."""

REACH = 10.0
"""Bounds of every parameter: this factor below and above its start."""


def xml():
    """The motor at the truth, as MJCF."""
    p = TRUTH
    lugre = (p["lugre_stiffness"], BRISTLE_DAMPING, p["coulomb_friction"], p["stiction_torque"], p["stribeck_velocity"])
    return f"""
        <mujoco>
          <option timestep="{STEP}" gravity="0 0 0" integrator="implicitfast"/>
          <worldbody>
            <body>
              <joint name="shaft" type="hinge" axis="0 0 1"/>
              <inertial pos="0 0 0" mass="0.1" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
            </body>
          </worldbody>
          <actuator>
            <dcmotor name="motor" joint="shaft" input="voltage" resistance="{p["resistance"]}"
                     motorconst="{p["motor_constant"]}" damping="{p["viscous_damping"]}"
                     lugre="{" ".join(map(str, lugre))}"/>
          </actuator>
          <sensor><jointpos name="angle" joint="shaft"/><jointvel name="speed" joint="shaft"/></sensor>
        </mujoco>
    """


def volts(seed):
    """A rest, random levels [V] with rests, then a slow sine of growing height that sticks and slips."""
    random = np.random.default_rng(seed)
    levels = np.repeat(random.uniform(-8, 8, ROWS // 60) * (np.arange(ROWS // 60) % 4 != 3), 60)
    time = np.arange(ROWS - ROWS // 2) * STEP
    levels[:120] = 0.0
    return np.concatenate([levels[: ROWS // 2], (0.2 + 0.6 * time) * np.sin(2 * np.pi * (3 + seed) * time)])


def recorded(seed):
    """Volts, and what the sensors read just before each acts: (rows,) and (rows, 2), by MuJoCo's engine."""
    model = mujoco.MjModel.from_xml_string(xml())
    data, drive = mujoco.MjData(model), volts(seed)
    rest = toolbox.create_initial_state(model, data.qpos, data.qvel, data.act)
    _, read = rollout.rollout(model, data, rest, drive[:, None])
    random = np.random.default_rng(100 + seed)
    return drive, read[0] + random.standard_normal((ROWS, 2)) * list(NOISE.values())


def _set(name):
    """A modifier of MuJoCo's toolbox: where this parameter stands in the compiled `dcmotor`."""
    array, index = {
        "resistance": ("gainprm", 0),
        "motor_constant": ("gainprm", 1),
        "viscous_damping": ("damping", 0),
        "lugre_stiffness": ("dynprm", 5),
        "coulomb_friction": ("biasprm", 3),
        "stiction_torque": ("biasprm", 4),
        "stribeck_velocity": ("biasprm", 5),
    }[name]

    def modify(spec, parameter):
        getattr(spec.actuator("motor"), array)[index] = parameter.value[0]

    return modify


def _now():
    return time.perf_counter(), time.process_time()


def _since(then):
    """Seconds on the wall, and of processors, which other work on the machine does not stretch."""
    return tuple(now - begun for now, begun in zip(_now(), then, strict=True))


class Theirs:
    """MuJoCo's toolbox on these logs; residuals in units of the noise."""

    def __init__(self, logs):
        spec = mujoco.MjSpec.from_string(xml())
        model = spec.compile()
        data = mujoco.MjData(model)
        rest = toolbox.create_initial_state(model, data.qpos, data.qvel, data.act)
        times = np.arange(ROWS + 1) * STEP
        # The toolbox drops the last command, so one more is given; sensors are stamped as it stamps its own.
        commands = [toolbox.TimeSeries(times, np.append(drive, drive[-1])[:, None]) for drive, _ in logs]
        sensors = [toolbox.TimeSeries.from_names(times[1:], read, model) for _, read in logs]
        names = [f"log{k}" for k in range(len(logs))]
        sequences = toolbox.ModelSequences("motor", spec, names, [rest] * len(logs), commands, sensors)
        self.residual = toolbox.build_residual_fn(
            models_sequences=[sequences], modify_residual=self._counted, resample_true=False
        )

    @staticmethod
    def _counted(params, predicted, measured, model, return_all, **more):
        del params, model, return_all, more
        return (measured.data - predicted.data) / list(NOISE.values()), predicted, measured

    def params(self, begun, values=None):
        """Its parameters at these values, else at the start, within the bounds around that."""
        found = toolbox.ParameterDict()
        for name, start in begun.items():
            found.add(toolbox.Parameter(name, start, start / REACH, start * REACH, modifier=_set(name)))
        if values is not None:
            found.update_from_vector(np.array([values[name] for name in begun]))
        return found

    def cost(self, values):
        """Half the sum of squares at these values, from rest."""
        params = self.params(values)
        residuals, _, _ = self.residual(params.as_vector(), params)
        return float(sum(np.sum(r**2) for r in residuals)) / 2

    def fit(self, begun, optimizer, options):
        """Where it ends from the common start: cost, values, half-widths of its 95 % intervals, seconds."""
        params, at = self.params(begun), _now()
        with contextlib.redirect_stdout(io.StringIO()):
            ended, result = toolbox.optimize(params, self.residual, optimizer=optimizer, verbose=False, **options)
        seconds, processor = _since(at)
        residuals, _, _ = self.residual(ended.as_vector(), ended)
        with np.errstate(all="ignore"):
            _, widths = toolbox.calculate_intervals(residuals, np.asarray(result.jac))
        values = dict(zip(begun, map(float, ended.as_vector()), strict=True))
        return {
            "seconds": seconds,
            "processor_seconds": processor,
            "cost": self.cost(values),
            "from_rest": self.cost(values),
            "values": values,
            "half_widths": dict(zip(begun, map(float, widths), strict=True)),
        }


class Ours:
    """`sysid.fit` on these logs: the same motor out of the same MJCF, by the same rule of integration."""

    def __init__(self, logs):
        with warnings.catch_warnings():
            # The motor is as it is for both sides.
            warnings.simplefilter("ignore", jm.PassivityWarning)
            actuator, params = mjcf.load(xml(), "motor")
        self.bench = jm.Bench(actuator, jm.RigidLoad(), jm.ImplicitFast())
        self.params = jm.BenchParams(params, jm.RigidLoadParams(inertia=INERTIA))
        self.logs = [
            sysid.Log(
                f"log{k}", np.arange(ROWS) * STEP, {"voltage": volt, "position": read[:, 0], "velocity": read[:, 1]}
            )
            for k, (volt, read) in enumerate(logs)
        ]

    def fit(self, begun, starts):
        """Where it ends: as `Theirs.fit`, with the seconds of a first call, which compiles, and of a second one."""
        subject = sysid.Model(self.bench, self.params, sysid.Free(()), "dcmotor", "voltage").subject
        bounds = {name: (start / REACH, start * REACH) for name, start in begun.items()}
        free = sysid.free(subject, begun, starts=begun, bounds=bounds)
        jax.clear_caches()
        spent = []
        for _ in range(2):
            at = _now()
            # The joint fit alone, as the others do.
            found = sysid.fit(
                self.logs,
                self.bench,
                self.params,
                free,
                command="voltage",
                starts=starts,
                substeps=1,
                each_log=False,
            )
            spent.append(_since(at))
        widths = {e.name: np.inf if e.ci95 is None else (e.ci95[1] - e.ci95[0]) / 2 for e in found.estimates}
        open_ones = [d for d in found.directions if d.spread > OPEN]
        gaps = [(c.predicted - c.measured) / NOISE[c.channel] for c in found.comparisons]
        return {
            "cost": float(sum(np.sum(gap**2) for gap in gaps)) / 2,
            "seconds": spent[1][0],
            "processor_seconds": spent[1][1],
            "seconds_with_compile": spent[0][0],
            "processor_seconds_with_compile": spent[0][1],
            "values": {e.name: e.value for e in found.estimates},
            "half_widths": widths,
            "flags": {e.name: e.flag for e in found.estimates},
            "open_combinations": [in_words(d, list(found.direction_names)) for d in open_ones],
            "said": [c.message for c in found.cautions if c.code == "undetermined"],
        }


THEIRS = {
    "mujoco": ("mujoco", {}),
    "mujoco, x_scale=jac": ("mujoco", {"x_scale": "jac"}),
    "scipy, x_scale=jac": ("scipy_parallel_fd", {"x_scale": "jac"}),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="against_mujoco_sysid.json", help="where the JSON goes")
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    where = machine()
    logs = [recorded(seed) for seed in (0, 1)]
    theirs, own, rows = Theirs(logs), Ours(logs), []
    print(", ".join(f"{key} {value}" for key, value in where.items()) + f", mujoco {mujoco.__version__}")
    print(f"{2 * ROWS} rows of two channels; cost at the truth {theirs.cost(TRUTH):.4f}")
    heads = f"{'cost':>13s} {'from rest':>13s} {'wall':>7s} {'cpu':>7s} {'compiled':>8s} {'cpu':>7s}"
    print(f"{'start':5s} {'who':34s} {heads}  finite intervals", flush=True)
    for words, begun in STARTS.items():
        found = {}
        for starts in (1, 6):
            row = own.fit(begun, starts)
            found[f"sysid, {starts} start{'s' * (starts > 1)}"] = row | {"from_rest": theirs.cost(row["values"])}
        found |= {f"mujoco.sysid {name}": theirs.fit(begun, *how) for name, how in THEIRS.items()}
        for who, row in found.items():
            finite = [name for name, width in row["half_widths"].items() if np.isfinite(width)]
            first = [row.get(f"{kind}seconds_with_compile") for kind in ("", "processor_")]
            first = " " * 16 if first[0] is None else f"{first[0]:8.2f} {first[1]:7.2f}"
            spent = f"{row['seconds']:7.2f} {row['processor_seconds']:7.2f}"
            print(
                f"{words:5s} {who:34s} {row['cost']:13.4f} {row['from_rest']:13.4f} {spent} {first}"
                f"  {len(finite)} of {len(TRUTH)}",
                flush=True,
            )
            rows.append({"start": words, "who": who} | row)
        for row in found.values():
            for told in (*row.get("open_combinations", ()), *row.get("said", ())):
                print(f"       {told}")
    with open(given.out, "w", encoding="utf-8") as file:
        json.dump(where | {"mujoco": mujoco.__version__, "truth": TRUTH, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
