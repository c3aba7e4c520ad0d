"""Forward rollouts: the library, a hand-written compiled scan, NumPy, and MuJoCo C."""

import importlib.util

import hand_written
import jax
import motors
import mujoco_rollout
import numpy as np
from measure import compiled, race

LAWS = {
    "stateless": (motors.stateless, hand_written.stateless_law),
    "electrical": (motors.electrical, hand_written.electrical_law),
    "full": (motors.full, hand_written.full_law),
}
_NUMPY_ROWS = 50
_MUJOCO = (64, 200)


def forward(name, batch, rows, dtype, repeats):
    """A row of the table: nanoseconds per motor and step of each side, and the ratios."""
    made, law = LAWS[name]
    bench, params = made()
    many, ctrl = motors.many(params, batch, dtype), motors.commands(rows, batch, dtype)
    plain = jax.tree.map(np.asarray, many)
    short = np.asarray(ctrl)[:, :_NUMPY_ROWS]
    library, seconds = compiled(jax.vmap(motors.library(bench)), many, ctrl)
    scan, _ = compiled(jax.vmap(hand_written.scan(law, motors.DT)), many, ctrl)
    calls = {
        "library": lambda: library(many, ctrl),
        "hand_written": lambda: scan(many, ctrl),
        "numpy": lambda: hand_written.loop(law, motors.DT, plain, short),
    }
    work = {"library": batch * rows, "hand_written": batch * rows, "numpy": batch * short.shape[1]}
    if name == "full" and importlib.util.find_spec("mujoco"):
        wave = np.asarray(motors.commands(_MUJOCO[1], _MUJOCO[0], np.float64))
        calls["mujoco"] = lambda: mujoco_rollout.seconds(wave)[1]
        work["mujoco"] = _MUJOCO[0] * _MUJOCO[1]
    ours, theirs = (np.asarray(run(many, ctrl)[0], float) for run in (library, scan))
    taken = race(calls, repeats)
    step = {side: 1e9 * taken[side]["best"] / work[side] for side in calls}
    return {
        "what": "forward",
        "motor": name,
        "batch": batch,
        "rows": rows,
        "float": np.dtype(dtype).name,
        "ns_per_step": step,
        "median_ns_per_step": {side: 1e9 * taken[side]["median"] / work[side] for side in calls},
        "ratios": {f"times {side}": step[side] / step["library"] for side in calls if side != "library"},
        "compile_s": seconds,
        "difference": float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs))),
    }
