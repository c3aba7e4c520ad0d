"""A known motion with all of its rows at the same time, for actuators whose states move along straight lines.

Along a given motion the current of a winding (MuJoCo DC motor note, "Inductance"), the integral of a controller, the
deflection of a bristle ("LuGre Model") and the temperature of a winding whose current is given ("Thermal Model") are
after a row a line in what they were before it, x' = a x + b, and the row alone determines a and b. Lines after one
another are a line again, (a2, b2) o (a1, b1) = (a2 a1, a2 b1 + b2), so an associative scan finds the states of n rows
in 2 log2(n) turns, each over half as many pairs as the one before or after it (Blelloch, CMU-CS-90-190, section 1.4).
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ._actuator import Actuator, ActuatorOutput, ActuatorParams, ActuatorState
from ._bristle import Frictionless
from ._cogging import Cogging, NoCogging
from ._controller import DutyDrive, ServoDrive, ShortedDrive, TorqueDrive, VoltageDrive
from ._current_limit import NoCurrentLimit
from ._current_rate import UnlimitedCurrentRate
from ._dahl import Dahl
from ._gear import Gear
from ._integral import ErrorIntegral, NoIntegral, NoIntegralBound, TargetIntegral
from ._lossy_gear import LossyGear
from ._lugre import LuGre
from ._lumped_thermal import LumpedThermal
from ._motor import Motor
from ._position_pid import PositionPID
from ._setpoint import CommandRange, NoSlew
from ._supply import FixedSupply, IdealSupply
from ._thermal import Isothermal
from ._torque_space_pid import TorqueSpacePID
from ._velocity_pi import VelocityPI
from ._winding import FixedTimeConstant, Inductive, QuasiStatic

_OPEN_LOOP = (VoltageDrive, DutyDrive, TorqueDrive, ServoDrive, ShortedDrive)
_CLOSED_LOOP = (PositionPID, VelocityPI, TorqueSpacePID)
# In this order a state depends only on itself and on those of earlier parts.
_PARTS = ("controller", "motor")


def bent(actuator: Actuator) -> list[str]:
    """The names of the stages that keep an actuator from being replayed in parallel: it is not known that their state
    is a line in itself on which no other one acts. Stages of the user's own are among them."""
    motor, controller = actuator.motor, actuator.controller
    checked = [
        (actuator, (Actuator,)),
        (actuator.delay, (NoSlew, CommandRange)),
        (actuator.setpoint, (NoSlew, CommandRange)),
        (controller, _OPEN_LOOP + _CLOSED_LOOP),
        (actuator.current_limit, (NoCurrentLimit,)),
        (actuator.supply, (IdealSupply, FixedSupply)),
        (actuator.gear, (Gear, LossyGear)),
        (motor, (Motor,)),
        (motor.winding, (QuasiStatic, Inductive, FixedTimeConstant)),
        (motor.thermal, (Isothermal, LumpedThermal) if _keeps_its_current(actuator) else (Isothermal,)),
        (motor.cogging, (NoCogging, Cogging)),
        (motor.bristle, (Frictionless, LuGre, Dahl)),
    ]
    if isinstance(controller, _CLOSED_LOOP):
        checked.append((controller.integral, (NoIntegral, ErrorIntegral, TargetIntegral)))
        if isinstance(controller.integral, (ErrorIntegral, TargetIntegral)):
            checked.append((controller.integral.bound, (NoIntegralBound,)))
    if isinstance(motor.winding, (Inductive, FixedTimeConstant)):
        checked.append((motor.winding.rate, (UnlimitedCurrentRate,)))
    # Not `isinstance`: a subclass may move its state otherwise.
    return list(dict.fromkeys(type(stage).__name__ for stage, straight in checked if type(stage) not in straight))


def _keeps_its_current(actuator: Actuator) -> bool:
    """Whether the current is what is asked, however warm the winding: its heat R(T) i^2 is then a line in T."""
    asked = actuator.controller, actuator.supply, actuator.motor.winding
    return tuple(map(type, asked)) == (TorqueDrive, IdealSupply, QuasiStatic)


def replay_in_parallel(
    actuator: Actuator, state: ActuatorState, params: ActuatorParams, rows: PyTree, dt: Any
) -> tuple[ActuatorState, ActuatorOutput]:
    """As `replay`, for an actuator without `bent` stages.

    **Arguments:** `rows`: command or `Input`, angle, speed, and step or `None`, with a leading time axis of at least
    one; `dt` [s]: the step of all rows where theirs is `None`.
    """

    def step(before, row):
        command, angle, speed, own = row
        return actuator.step(before, params, command, angle, speed, dt if own is None else own)

    count = jax.tree_util.tree_leaves(rows)[0].shape[0]
    before = jax.tree_util.tree_map(lambda x: jnp.broadcast_to(x, (count, *x.shape)), state)
    for part in _PARTS:

        def after(moving, known, row, part=part):
            return getattr(step(dataclasses.replace(known, **{part: moving}), row)[0], part)

        before = dataclasses.replace(before, **{part: _before(after, getattr(state, part), before, rows)})
    reached, out = jax.vmap(step)(before, rows)
    return jax.tree_util.tree_map(lambda x: x[-1], reached), out


def _before(after: Any, first: PyTree, known: PyTree, rows: PyTree) -> PyTree:
    """The states before each row of what `after(moving, known, row)` moves, which is `first` before the first."""
    if not jax.tree_util.tree_leaves(first):
        return first
    # Around zero and not around `first`: in float32 the offset would be a small difference of large numbers.
    zero, one = jax.tree_util.tree_map(jnp.zeros_like, first), jax.tree_util.tree_map(jnp.ones_like, first)
    # No state of a part acts on another one, so the slopes of all come from one tangent.
    offset, slope = jax.vmap(lambda known, row: jax.jvp(lambda x: after(x, known, row), (zero,), (one,)))(known, rows)
    offset = jax.tree_util.tree_map(lambda b, a, x: b.at[0].add(a[0] * x), offset, slope, first)
    _, ends = jax.lax.associative_scan(_one_after_the_other, (slope, offset))
    return jax.tree_util.tree_map(lambda x, end: jnp.concatenate([x[None], end[:-1]]), first, ends)


def _one_after_the_other(early: tuple[PyTree, PyTree], late: tuple[PyTree, PyTree]) -> tuple[PyTree, PyTree]:
    (slope, offset), (later_slope, later_offset) = early, late
    return (
        jax.tree_util.tree_map(lambda a, late: late * a, slope, later_slope),
        jax.tree_util.tree_map(lambda b, a, late: a * b + late, offset, later_slope, later_offset),
    )
