"""What a model says a log should have read: one segment, every row."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

import jaxmotor as jm

from ._at_once import at_once
from ._balance import balancing_current
from ._batch import Batch
from ._command_path import AbstractCommandPath
from ._free import Subject

Row = Float[Array, " time"]


def initial_state(
    bench: jm.Bench, subject: Subject, initial: dict[str, Float[Array, ""]], command: Float[Array, ""]
) -> jm.BenchState:
    """The bench's state at the start of a segment, from the initial values that have a place in it; the first
    `command` has long been held."""
    state = bench.init(subject.bench, initial["position"], initial["velocity"])
    if isinstance(bench.actuator.setpoint, jm.SlewLimiter):
        state = eqx.tree_at(_limited_command, state, command)
    for name, place in (("current", _current), ("temperature", _temperature_rise)):
        if name in initial:
            state = eqx.tree_at(place, state, initial[name])
    return state


def _current(state: jm.BenchState):
    return state.actuator.motor.winding.current


def _limited_command(state: jm.BenchState):
    return state.actuator.setpoint.previous_command


def _temperature_rise(state: jm.BenchState):
    return state.actuator.motor.thermal.temperature_rise


def _advance(
    bench: jm.Bench,
    state: jm.BenchState,
    subject: Subject,
    row: jm.Input,
    step: Float[Array, ""],
    substeps: int | Int[Array, ""],
):
    """The state after `substeps` steps, and the outputs of the first."""

    def once(state):
        return bench.step(state, subject.bench, row, step)

    if isinstance(substeps, int):
        after, first = once(state)
        if substeps > 1:
            after, _ = jax.lax.scan(lambda s, _: (once(s)[0], None), after, length=substeps - 1)
        return after, first

    # The first step is inside the loop, so that the bench is in the program once.
    def body(number, carry):
        state, first = carry
        after, out = once(state)
        return after, jax.tree_util.tree_map(lambda old, new: jnp.where(number == 0, new, old), first, out)

    blank = jax.tree_util.tree_map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(once, state)[1])
    return jax.lax.fori_loop(jnp.zeros_like(substeps), substeps, body, (state, blank))


@eqx.filter_jit
def predict(
    bench: jm.Bench,
    subject: Subject,
    segment: Batch,
    initial: dict[str, Float[Array, ""]],
    reset: Bool[Array, " time"],
    substeps: int | Int[Array, ""],
    balanced: bool,
    path: AbstractCommandPath,
    whole: bool = False,
) -> dict[str, Row]:
    """Every channel that a bench and its sensors can predict, at each row of `segment`.

    **Arguments:** `reset`: rows at which the motion returns to the measured one (windows); `substeps`: steps of the
    bench per row, which forward mode takes as data, reverse mode as an `int`; `balanced`: current by the torque balance
    of the measured motion; `path` of the command to the bench; `whole`: compile the loop over rows as one function.

    Compiled by itself so that it is traced once for all the programs that contain it.
    """
    sensors = subject.sensors
    command = path.acts(segment.command, segment.dt, sensors)
    rows = jm.Input(command, segment.bus_voltage, segment.enabled, segment.ambient)

    @jax.checkpoint
    def body(state, row):
        row_input, dt, returns, position, velocity = row
        state = eqx.tree_at(
            lambda s: (s.qpos, s.qvel),
            state,
            (jnp.where(returns, position, state.qpos), jnp.where(returns, velocity, state.qvel)),
        )
        # Padding has no duration; a step of it must still be a step.
        live = dt > 0
        step = jnp.where(live, dt, jnp.ones_like(dt)) / jnp.asarray(substeps, dt.dtype)
        after, first = _advance(bench, state, subject, row_input, step, substeps)
        after = jax.tree_util.tree_map(lambda new, old: jnp.where(live, new, old), after, state)
        return after, (state.qpos, state.qvel, first)

    def run(first, rows):
        return jax.lax.scan(body, first, rows)[1]

    given = (
        initial_state(bench, subject, initial, command[0]),
        (rows, segment.dt, reset, segment.reset_position, segment.reset_velocity),
    )
    position, velocity, out = at_once(run, *given) if whole else run(*given)
    current = balancing_current(bench, subject, segment) if balanced else out.current
    channels = {
        "position": position,
        "velocity": velocity + sensors.velocity_offset,
        "current": sensors.current_gain * current + sensors.current_offset,
        "torque": out.joint_torque,
        "voltage": out.voltage,
        "temperature": out.temperature,
        "supply_current": out.supply_current,
    }
    return {name: value for name, value in channels.items() if value is not None}
