"""Whole runs: an actuator along a measured motion, a bench along its commands."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from ._actuator import Actuator, ActuatorOutput, ActuatorParams, ActuatorState
from ._bench import Bench, BenchOutput, BenchParams, BenchState
from ._result import Result
from ._time_parallel import bent, replay_in_parallel


def _float_leaves(tree: PyTree) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return [
        (jax.tree_util.keystr(path), leaf)
        for path, leaf in leaves
        if jnp.issubdtype(jnp.asarray(leaf).dtype, jnp.floating)
    ]


def _shared_float(params: PyTree, **others: PyTree) -> jnp.dtype:
    """The one float type of a run; mixed types would fail deep inside the scan, so they are refused here by name."""
    dtype = _float_leaves(params)[0][1].dtype
    for name, tree in {"params": params, **others}.items():
        for path, leaf in _float_leaves(tree):
            if leaf.dtype != dtype:
                raise TypeError(
                    f"{name}{path} is {leaf.dtype} but the params are {dtype}: convert one of them, a run has one "
                    "float type"
                )
    return dtype


def _as_float(tree: PyTree, dtype: jnp.dtype) -> PyTree:
    """Python and NumPy numbers and integers take the run's float type; floats of `jax` keep theirs, to be checked."""

    def convert(x):
        kind = x.dtype if isinstance(x, jax.Array) else np.asarray(x).dtype
        kept = jnp.issubdtype(kind, jnp.bool_) or (isinstance(x, jax.Array) and jnp.issubdtype(kind, jnp.floating))
        return jnp.asarray(x) if kept else jnp.asarray(x, dtype)

    return jax.tree_util.tree_map(convert, tree)


def _steps(dt: Any, rows: int, dtype: jnp.dtype) -> tuple[Float[Array, "*time"], Float[Array, " time"] | None]:
    """The step [s], and the same as scan input where it differs from row to row.

    One step for all rows stays out of the scan, so that what depends on it alone is computed once for the run.
    """
    steps = jnp.asarray(dt, dtype)
    if steps.ndim > 1 or (steps.ndim == 1 and steps.shape[0] != rows):
        raise ValueError(f"dt has shape {steps.shape}: give one step [s], or one per row ({rows} rows)")
    return steps, steps if steps.ndim else None


def _finite(tree: PyTree) -> Bool[Array, ""]:
    leaves = [leaf for _, leaf in _float_leaves(tree)]
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in leaves])) if leaves else jnp.array(True)


def _numbers(tree: PyTree) -> Bool[Array, ""]:
    """No NaN; infinite limits are legitimate parameters."""
    leaves = [leaf for _, leaf in _float_leaves(tree)]
    return ~jnp.any(jnp.stack([jnp.any(jnp.isnan(leaf)) for leaf in leaves])) if leaves else jnp.array(True)


def replay(
    actuator: Actuator,
    state: ActuatorState,
    params: ActuatorParams,
    ctrl: PyTree,
    qpos: Float[Array, " time"],
    qvel: Float[Array, " time"],
    dt: Any,
    *,
    parallel: bool = False,
) -> tuple[ActuatorState, ActuatorOutput]:
    """The actuator along a given motion: what current, torque and temperature it would have had.

    **Arguments:** `ctrl`: command or `Input` with a leading time axis; `qpos` [rad], `qvel` [rad/s] of shape (time,);
    `dt` [s]: one step, or one per row; `parallel`: all rows at the same time instead of one after the other, equal to
    rounding while all numbers are finite, for actuators whose states move along straight lines: no limit of current or
    of its rate, bounded integral, delay, slew, battery, play or stage of one's own, and a temperature only if the
    current is asked for (`TorqueDrive` and `QuasiStatic` on an `IdealSupply`). It can be several times as fast for one
    long log, and as much slower for batches and for the gradient of a plain winding; a gradient takes several times
    the memory (`benchmarks/README.md`, "In parallel over time").

    **Returns:** the last state, and the outputs with a leading time axis: row k is the instant t[k], torques act from
    t[k] to t[k+1].

    **Raises:** `TypeError` for mixed float types, `ValueError` for rows or a `dt` of another length, and for `parallel`
    with an actuator that cannot be replayed so.
    """
    dtype = _shared_float(params, state=state)
    ctrl, qpos, qvel = _as_float((ctrl, qpos, qvel), dtype)
    steps, per_row = _steps(dt, qpos.shape[0], dtype)
    _shared_float(params, ctrl=ctrl, qpos=qpos, qvel=qvel)
    lengths = [x.shape[0] if x.ndim else 0 for x in jax.tree_util.tree_leaves((ctrl, qpos, qvel))]
    if len(set(lengths)) > 1:
        raise ValueError(f"ctrl, qpos and qvel have {lengths} rows: give all of them the same number")
    if parallel and (stages := bent(actuator)):
        raise ValueError(
            f"parallel=True cannot replay {', '.join(stages)}, of which no line from state to state is known: replay "
            "without it (an integral without bound and a temperature under TorqueDrive, QuasiStatic and IdealSupply "
            "have one)"
        )
    if parallel and qpos.shape[0]:
        return replay_in_parallel(actuator, state, params, (ctrl, qpos, qvel, per_row), steps)

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def body(carry, row):
        command, angle, speed, step = row
        return actuator.step(carry, params, command, angle, speed, steps if step is None else step)

    return jax.lax.scan(body, state, (ctrl, qpos, qvel, per_row))


def rollout(
    bench: Bench, state: BenchState, params: BenchParams, ctrl: PyTree, dt: Any, *, segment: int | None = None
) -> tuple[BenchState, BenchOutput]:
    """The bench along its commands.

    **Arguments:** `ctrl`: command or `Input` with a leading time axis; `dt` [s]: one step, or one per row; `segment`:
    reverse mode then keeps the state every so many rows and runs each part again, instead of keeping it in every row.
    The square root of the number of rows needs the least memory.

    **Returns:** the last state, and the outputs with a leading time axis: row k is the instant t[k], before the step;
    torques act from t[k] to t[k+1]. `result` has no time axis: one `Result` code for the run.

    **Raises:** `TypeError` for mixed float types, `ValueError` for a `dt` of the wrong length or an empty segment.
    """
    state, code, (qpos, qvel, out) = _run(bench, state, params, ctrl, dt, segment, True)
    return state, BenchOutput(qpos, qvel, out, code)


def advance(
    bench: Bench, state: BenchState, params: BenchParams, ctrl: PyTree, dt: Any, *, segment: int | None = None
) -> tuple[BenchState, Int[Array, ""]]:
    """As `rollout`, for the last state alone: no row is kept, so memory does not grow with their number.

    **Returns:** the last state and a `Result` code. **Raises:** as `rollout`.
    """
    state, code, _ = _run(bench, state, params, ctrl, dt, segment, False)
    return state, code


def _run(
    bench: Bench,
    state: BenchState,
    params: BenchParams,
    ctrl: PyTree,
    dt: Any,
    segment: int | None,
    outputs: bool,
) -> tuple[BenchState, Int[Array, ""], Any]:
    dtype = _shared_float(params, state=state)
    ctrl = _as_float(ctrl, dtype)
    rows = jax.tree_util.tree_leaves(ctrl)[0].shape[0]
    steps, per_row = _steps(dt, rows, dtype)
    _shared_float(params, ctrl=ctrl)

    # Reverse mode then keeps one carry per step and recomputes the rest, which is several times cheaper than storing
    # every intermediate of every step.
    @functools.partial(jax.checkpoint, prevent_cse=False)
    def body(carry, row):
        before, finite = carry
        command, step = row
        after, out = bench.step(before, params, command, steps if step is None else step)
        finite = finite & jnp.isfinite(after.qpos) & jnp.isfinite(after.qvel)
        return (after, finite), (before.qpos, before.qvel, out) if outputs else None

    carry = (state, jnp.array(True))
    (state, finite), kept = _scanned(body, carry, (ctrl, per_row), rows, segment)
    # Heat or charge can blow up while the motion does not; what is no number in a state stays so until the end.
    finite = finite & _finite(state)
    sound = _finite(ctrl) & _finite(steps) & _numbers(params)
    code = jnp.where(sound, jnp.where(finite, Result.OK.value, Result.NOT_FINITE.value), Result.BAD_INPUT.value)
    return state, code.astype(jnp.int32), kept if outputs else (None, None, None)


def _scanned(body: Any, carry: PyTree, rows: PyTree, count: int, segment: int | None) -> tuple[PyTree, PyTree]:
    """`jax.lax.scan`, in parts of `segment` rows that reverse mode runs again, each from its first carry."""
    if segment is None or segment >= count:
        return jax.lax.scan(body, carry, rows)
    if segment < 1:
        raise ValueError(f"segment is {segment}: a part of a run has at least one row")
    parts = count // segment
    whole = parts * segment
    cut = jax.tree_util.tree_map(lambda x: x[:whole].reshape(parts, segment, *x.shape[1:]), rows)
    carry, kept = jax.lax.scan(
        jax.checkpoint(lambda c, part: jax.lax.scan(body, c, part), prevent_cse=False), carry, cut
    )
    kept = jax.tree_util.tree_map(lambda x: x.reshape(whole, *x.shape[2:]), kept)
    if whole == count:
        return carry, kept
    carry, rest = jax.lax.scan(body, carry, jax.tree_util.tree_map(lambda x: x[whole:], rows))
    return carry, jax.tree_util.tree_map(lambda x, y: jnp.concatenate([x, y]), kept, rest)
