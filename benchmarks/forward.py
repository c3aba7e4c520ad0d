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


def _on_every_device(x):
    """`x` with its motors dealt out over the devices, or whole where they do not divide evenly."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("motor",))
    even = x.shape[0] % mesh.size == 0
    return jax.device_put(x, jax.NamedSharding(mesh, jax.P("motor") if even else jax.P()))


def forward(name, batch, rows, dtype, repeats):
    """A row of the table: nanoseconds per motor and step of each side, and the ratios."""
    made, law = LAWS[name]
    bench, params = made()
    many, ctrl = motors.many(params, batch, dtype), motors.commands(rows, batch, dtype)
    plain = jax.tree.map(np.asarray, many)
    short = np.asarray(ctrl)[:, :_NUMPY_ROWS]
    library, seconds = compiled(jax.vmap(motors.library(bench)), many, ctrl)
    scan, _ = compiled(jax.vmap(hand_written.scan(law, motors.DT)), many, ctrl)
    split = jax.tree.map(_on_every_device, (many, ctrl))
    shared, _ = compiled(jax.vmap(motors.library(bench)), *split)
    calls = {
        "library": lambda: library(many, ctrl),
        "library, all cores": lambda: shared(*split),
        "hand_written": lambda: scan(many, ctrl),
        "numpy": lambda: hand_written.loop(law, motors.DT, plain, short),
    }
    work = {
        "library": batch * rows,
        "library, all cores": batch * rows,
        "hand_written": batch * rows,
        "numpy": batch * short.shape[1],
    }
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
        # MuJoCo has a thread per core, so it is held against a device per core.
        "ratios": {
            f"times {side}": step[side] / step["library, all cores" if side == "mujoco" else "library"]
            for side in ("hand_written", "numpy", "mujoco")
            if side in calls
        },
        "compile_s": seconds,
        "difference": float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs))),
    }
