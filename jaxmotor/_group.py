"""All actuators of a robot: gears and couplings between motors and joints, one supply, one step.

Order inside one step (RaiSim, "What happens in a simulation step"): motor speeds follow from the joint speeds at its
start; every drive asks; the bus voltage follows from what all of them ask; every motor gives its torque, which acts
until the end of the step; gears and couplings carry it to the joints. The losses of gears and bearings are never
limited and stand beside the joint torque, because an integrator treats them implicitly; what a lossy gear takes is
taken off the joint torque, at the driven joint, with whose speed its meshes slide.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from ._actuator import Actuator, ActuatorParams, ActuatorState
from ._actuator_bank import ActuatorBank
from ._battery import bus_load
from ._bus import AbstractBus, Drawn, PerActuator, SeparateBuses
from ._current_limit import NoCurrentLimit
from ._enforcement import AbstractEnforcement, Enforced
from ._group_kind import check_kind, takes_torque
from ._group_limits import AbstractGroupLimits, peak_torque
from ._input import Input
from ._limits import TorqueLimit, Unlimited
from ._parameter import Parameter, nonnegative, real
from ._region import region_of
from ._result import Result
from ._transmission import Transmission, to_joints, to_motors
from ._winding import QuasiStatic

PerJoint = Float[Array, " joints"]


class GroupParams(eqx.Module):
    """Numbers of a group.

    - `actuators`: the `ActuatorParams` of each kind of actuator, stacked; with one kind, `actuators[0]` holds them all,
      for example `actuators[0].motor.winding.resistance` of shape (actuators,).
    - `coupling_ratio`: motor speed per unit speed of the coupled joint, one per coupling.
    - `output_damping` [N m s/rad], `output_friction` [N m]: losses of each actuator as measured at its joint.
    - `joint_damping` [N m s/rad], `joint_friction` [N m]: the joints' own.
    - `bus`: of the group's supply, `None` where each actuator has its own.
    """

    actuators: tuple[ActuatorParams, ...]
    coupling_ratio: Parameter = real("1")
    output_damping: Parameter = nonnegative("N m s/rad")
    output_friction: Parameter = nonnegative("N m")
    joint_damping: Parameter = nonnegative("N m s/rad")
    joint_friction: Parameter = nonnegative("N m")
    bus: Any = None


class GroupState(eqx.Module):
    """State of the `actuators`, sorted by kind, and of the `bus`."""

    actuators: tuple[ActuatorState, ...]
    bus: Any


class GroupOutput(eqx.Module):
    """What a group did in one step. Readings belong to its start; torques act until its end.

    One per joint: `joint_torque` [N m] from the motors, behind the losses of their gears; `loss_torque` [N m] of drag,
    damping and friction at the speeds of the start, not contained in it. One per actuator: `motor_speed` [rad/s],
    `commanded_motor_torque`, `motor_torque` [N m], `saturation` (`Saturation` codes), `voltage` [V], `current` [A] and
    `supply_current` [A], `bus_voltage` [V]. One for all: `bus_current` [A] of the source; `result`, a `Result` code: a
    request, a speed or a parameter that is not a number gives `BAD_INPUT`, and torques that are not numbers where it
    reaches.
    """

    joint_torque: PerJoint
    loss_torque: PerJoint
    motor_speed: PerActuator
    commanded_motor_torque: PerActuator
    motor_torque: PerActuator
    saturation: Int[Array, " actuators"]
    voltage: PerActuator
    current: PerActuator
    supply_current: PerActuator
    bus_voltage: PerActuator
    bus_current: Float[Array, ""]
    result: Int[Array, ""]


class ActuatorGroup(AbstractGroupLimits):
    """Actuators on the joints of a robot, in order. Build one with `urdf.load`, `urdf.loads` or `group_of`, which takes
    any actuators with stiff gears.

    `step` takes `ctrl`, one per actuator: for a torque drive the torque at the output of its gear [N m], for any other
    drive its own command; `qpos` [rad] and `qvel` [rad/s], one per joint. Batches of robots come from `jax.vmap` over
    `params`, time from `jax.lax.scan`.

    `dataclasses.replace(group, enforcement=Monitored())` only watches the limits; `bus=SharedBattery()`, with
    `BatteryParams` as `params.bus`, puts all actuators on one battery.
    """

    names: tuple[str, ...] = eqx.field(static=True)
    joint_names: tuple[str, ...] = eqx.field(static=True)
    joint_kinds: tuple[str, ...] = eqx.field(static=True)
    models: tuple[str, ...] = eqx.field(static=True)
    wiring: Transmission
    bank: ActuatorBank
    bus: AbstractBus = SeparateBuses()
    enforcement: AbstractEnforcement = Enforced()

    def __check_init__(self):
        for kind in self.bank.kinds:
            check_kind(kind, self.enforcement)

    def init(self, params: GroupParams) -> GroupState:
        """Everything cold and at rest, the battery at its initial charge."""
        return GroupState(self.bank.init(params.actuators), self.bus.init(params.bus))

    def step(
        self, state: GroupState, params: GroupParams, ctrl: Any, qpos: ArrayLike, qvel: ArrayLike, dt: ArrayLike
    ) -> tuple[GroupState, GroupOutput]:
        """Advance the actuators by `dt` [s]."""
        matrix = self.transmission(params)
        dtype = matrix.dtype
        qpos, qvel, dt = (_as_float(x, dtype) for x in (qpos, qvel, dt))
        ctrl = jax.tree.map(lambda x: _as_float(x, dtype), ctrl)
        speed = to_motors(matrix, qvel)
        ratio = self.gear_ratio(params)
        turned, turning = to_motors(matrix, qpos) / ratio, speed / ratio
        steps = jnp.broadcast_to(dt, ratio.shape)
        nominal = self.bus_voltage(params)

        seen = self.bus.seen(state.bus, params.bus, nominal)
        asked, loads = self.bank.each(_ask, (state.actuators, params.actuators), ctrl, turned, turning, seen, steps)
        bus_voltage = self.bus.loaded(state.bus, params.bus, nominal, loads)
        actuators, driven = self.bank.each(_drive, (asked, params.actuators), turned, turning, bus_voltage, steps)
        torque = self.enforcement.applied(driven.commanded_motor_torque, driven.motor_torque)
        drawn = Drawn(driven.motor_torque, driven.current, driven.supply_current)
        bus, bus_current = self.bus.step(state.bus, params.bus, drawn, dt)
        at_joint = self.wiring.of_driven_joints(qvel)
        _, meshed = self.bank.each(_meshed, (params.actuators,), torque, at_joint, steps)
        geared = ratio * torque
        # Not the plain difference: a watched request may be infinite.
        lost = jnp.where(meshed == geared, jnp.zeros_like(geared), geared - meshed)
        joint_torque = to_joints(matrix, torque) - self.wiring.at_driven_joints(lost)
        return GroupState(actuators, bus), GroupOutput(
            joint_torque=joint_torque,
            loss_torque=self.loss_torque(params, qvel, joint_torque),
            motor_speed=speed,
            commanded_motor_torque=driven.commanded_motor_torque,
            motor_torque=torque,
            saturation=driven.saturation,
            voltage=driven.voltage,
            current=driven.current,
            supply_current=driven.supply_current,
            bus_voltage=bus_voltage,
            bus_current=bus_current,
            result=_result((ctrl, qpos, qvel, dt, params, state)),
        )


class _Asked(eqx.Module):
    state: ActuatorState
    request: Any
    row: Input


class _Driven(eqx.Module):
    commanded_motor_torque: Float[Array, ""]
    motor_torque: Float[Array, ""]
    saturation: Int[Array, ""]
    voltage: Float[Array, ""]
    current: Float[Array, ""]
    supply_current: Float[Array, ""]


def _fed(actuator, params, row, bus_voltage):
    supply = actuator.supply.with_bus_voltage(params.supply, bus_voltage)
    return actuator.at_row(eqx.tree_at(lambda p: p.supply, params, supply), row)


def _ask(actuator, state, params, ctrl, qpos, qvel, seen, dt):
    ratio = actuator.gear.ratio(params.gear)
    params, row = _fed(actuator, params, ctrl, seen)
    row = eqx.tree_at(lambda r: r.command, row, row.command / ratio) if takes_torque(actuator) else row
    theta, omega = actuator.gear.rotor(state.gear, params.gear, qpos, qvel)
    after, request = actuator.command(state, params, row, theta, omega, dt)
    winding = actuator.motor.hot_winding(state.motor, params.motor)
    response = actuator.motor.winding.response(state.motor.winding, winding, omega, dt)
    temperature = actuator.motor.thermal.temperature(state.motor.thermal, params.motor.thermal)
    lower, upper = actuator.current_limit.voltage_bounds(params.current_limit, response, temperature)
    load = bus_load(request, lower, upper, winding, response, omega)
    return _Asked(after, request, row), load.connected(row.enabled)


def _drive(actuator, asked, params, qpos, qvel, bus_voltage, dt):
    params, row = _fed(actuator, params, asked.row, bus_voltage)
    theta, omega = actuator.gear.rotor(asked.state.gear, params.gear, qpos, qvel)
    state, driven = actuator.drive(asked.state, params, row, asked.request, theta, omega, dt)
    motor = driven.motor
    torque = motor.electrical_torque + motor.cogging_torque + motor.bristle_torque
    commanded = row.command if takes_torque(actuator) else torque
    code = driven.saturation
    if _is_region(actuator):
        code = row.limited(_region_code(actuator, asked.state, params, commanded, qvel))
    return state, _Driven(commanded, torque, code, driven.voltage, motor.current, driven.supply_current)


def _meshed(actuator, params, torque, qvel, dt):
    """Torque at the driven joint behind the gear's losses [N m], with the joint at `qvel` [rad/s]."""

    def none(shaft, speed):
        return shaft.flow(speed, dt)

    motion = actuator.gear.follow(None, params.gear, torque, none, qvel, qvel, dt)
    return None, actuator.gear.joint_torque(params.gear, motion, torque, dt)


def _is_region(actuator: Actuator) -> bool:
    kinds = (actuator.motor.winding, actuator.motor.limit, actuator.current_limit)
    return takes_torque(actuator) and all(
        map(isinstance, kinds, (QuasiStatic, TorqueLimit | Unlimited, NoCurrentLimit))
    )


def _region_code(actuator, state, params, commanded, qvel):
    """The bound that a request exceeds, told in torques: on the way through the voltage a request on a bound rounds."""
    winding = actuator.motor.hot_winding(state.motor, params.motor)
    region = region_of(
        winding.resistance,
        winding.torque_constant,
        winding.back_emf_constant,
        params.supply.bus_voltage,
        peak_torque(actuator, params),
    )
    return region.clip(actuator.gear.ratio(params.gear) * qvel, commanded)[1]


def _as_float(x: ArrayLike, dtype: Any) -> Array:
    if isinstance(x, jax.Array) and x.dtype == jnp.bool_:
        return x
    if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.floating) and x.dtype != dtype:
        raise TypeError(f"the params are {dtype} but an input of the step is {x.dtype}: a run has one float type")
    return jnp.asarray(x, dtype)


def _result(tree: Any) -> Int[Array, ""]:
    leaves = [leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    bad = jnp.any(jnp.stack([jnp.any(jnp.isnan(leaf)) for leaf in leaves]))
    return jnp.where(bad, Result.BAD_INPUT.value, Result.OK.value).astype(jnp.int32)
