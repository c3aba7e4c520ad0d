"""The actuator: from a command to a joint torque.

Order inside one step: the row's bus voltage and ambient replace the params'; delay and slew act on the command in the
same step; the controller samples the shaft at the start of the step and asks; current limit and bus bound the voltage;
the motor turns it into torque; the gear carries it to the joint. Drag and dry friction are not in the joint torque:
an integrator needs the first with its slope and the load spends the second.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int

from ._controller import AbstractController, Demand, DutyDrive, ServoDrive
from ._current_limit import AbstractCurrentLimit, NoCurrentLimit
from ._drag import AbstractDrag, NoDrag
from ._dry_friction import AbstractDryFriction, NoDryFriction
from ._gear import AbstractGear, Gear, GearMotion, GearParams
from ._input import Input, as_input
from ._motor import Motor, MotorOutput, MotorParams, MotorState
from ._request import AbstractRequest
from ._saturation import Saturation
from ._setpoint import AbstractSetpoint, NoSlew
from ._stage import AbstractStage, Scalar
from ._supply import AbstractSupply, Asked, Draw, IdealSupply


class ActuatorParams(eqx.Module):
    """Params of each stage of an `Actuator`, `None` where the stage has none."""

    motor: MotorParams
    controller: Any = None
    supply: Any = None
    gear: GearParams | Any = eqx.field(default_factory=GearParams)
    drag: Any = None
    dry_friction: Any = None
    current_limit: Any = None
    delay: Any = None
    setpoint: Any = None


class ActuatorState(eqx.Module):
    """State of each stage of an `Actuator`, `None` where the stage has none."""

    delay: Any
    setpoint: Any
    controller: Any
    supply: Any
    motor: MotorState
    gear: Any = None


class ActuatorOutput(eqx.Module):
    """What an actuator did in one step. Readings belong to its start, just after the command is applied; torques act
    until its end.

    - `motor_torque` [N m]: shaft torque before the gear: limited electrical + cogging + bristle (MuJoCo's
      `actuator_force`); `joint_torque` [N m]: after the gear (`qfrc_actuator`); `drag_torque` [N m]: at the joint,
      not contained in `joint_torque`.
    - `voltage` [V] at the terminals, `current` [A] in the winding, `supply_current` [A] or `None` without a bus.
    - `temperature` [degC] of the winding or `None` without a thermal stage, `copper_loss` [W].
    - `saturation`: a `Saturation` code; where several limits bind, the innermost (torque before current before bus).
    """

    motor_torque: Scalar
    joint_torque: Scalar
    drag_torque: Scalar
    voltage: Scalar
    current: Scalar
    supply_current: Scalar | None
    temperature: Scalar | None
    copper_loss: Scalar
    saturation: Int[Array, ""]


class Driven(eqx.Module):
    """The parts that an integrator puts together: the motor's own output `motor`, and `voltage` [V], `supply_current`
    [A] or `None`, `saturation` of the power stage."""

    motor: MotorOutput
    voltage: Scalar
    supply_current: Scalar | None
    saturation: Int[Array, ""]


class Actuator(AbstractStage):
    """Delay, slew, controller, current limit, supply, `Motor`, gear, drag and dry friction of one joint.

    `ctrl` of `step` is the command, or an `Input` where a row carries more.
    """

    motor: Motor
    controller: AbstractController
    supply: AbstractSupply = IdealSupply()
    gear: AbstractGear = Gear()
    drag: AbstractDrag = NoDrag()
    dry_friction: AbstractDryFriction = NoDryFriction()
    current_limit: AbstractCurrentLimit = NoCurrentLimit()
    delay: AbstractSetpoint = NoSlew()
    setpoint: AbstractSetpoint = NoSlew()

    def __check_init__(self):
        if isinstance(self.controller, (DutyDrive, ServoDrive)) and isinstance(self.supply, IdealSupply):
            raise ValueError(
                f"{type(self.controller).__name__} commands a duty, which needs a bus voltage: give the Actuator a "
                "FixedSupply instead of IdealSupply"
            )

    def init(self, params: ActuatorParams) -> ActuatorState:
        return ActuatorState(
            self.delay.init(params.delay),
            self.setpoint.init(params.setpoint),
            self.controller.init(params.controller),
            self.supply.init(params.supply),
            self.motor.init(params.motor),
            self.gear.init(params.gear),
        )

    def placed(self, state: ActuatorState, params: ActuatorParams, qpos: Scalar, qvel: Scalar) -> ActuatorState:
        """The state with the joint at `qpos` [rad], `qvel` [rad/s]: a gear with play has a rotor to put there."""
        return dataclasses.replace(state, gear=self.gear.placed(state.gear, params.gear, qpos, qvel))

    def at_row(self, params: ActuatorParams, ctrl: Any) -> tuple[ActuatorParams, Input]:
        """The params with this row's bus voltage and ambient temperature in place, and the row."""
        row = as_input(ctrl)
        return eqx.tree_at(
            lambda p: (p.supply, p.motor.thermal),
            params,
            (
                self.supply.with_bus_voltage(params.supply, row.bus_voltage),
                self.motor.thermal.at_ambient(params.motor.thermal, row.ambient),
            ),
            is_leaf=lambda x: x is None,
        ), row

    def command(
        self, state: ActuatorState, params: ActuatorParams, row: Input, theta: Scalar, omega: Scalar, dt: Scalar
    ) -> tuple[ActuatorState, AbstractRequest]:
        """The sampled part of a step: what the drive asks for, from the shaft at `theta` [rad], `omega` [rad/s]."""
        delay_state, target = self.delay.step(state.delay, params.delay, row.command, theta, omega, dt)
        setpoint_state, target = self.setpoint.step(state.setpoint, params.setpoint, target, theta, omega, dt)
        demand = Demand(target, self.supply.bus_voltage(state.supply, params.supply), params.motor.winding)
        controller_state, request = self.controller.step(state.controller, params.controller, demand, theta, omega, dt)
        return dataclasses.replace(
            state, delay=delay_state, setpoint=setpoint_state, controller=controller_state
        ), request

    def drive(
        self,
        state: ActuatorState,
        params: ActuatorParams,
        row: Input,
        request: AbstractRequest,
        theta: Scalar,
        omega: Scalar,
        dt: Scalar,
    ) -> tuple[ActuatorState, Driven]:
        """The continuous part of a step: power stage and motor with the shaft at `theta` [rad], `omega` [rad/s]."""
        winding = self.motor.hot_winding(state.motor, params.motor)
        response = self.motor.winding.response(state.motor.winding, winding, omega, dt)
        temperature = self.motor.thermal.temperature(state.motor.thermal, params.motor.thermal)
        lower, upper = self.current_limit.voltage_bounds(params.current_limit, response, temperature)
        asked = Asked(request, lower, upper, winding, response)
        terminals = self.supply.terminals(state.supply, params.supply, asked, omega, dt)
        terminals = row.connected(terminals, winding.back_emf_constant * omega)
        volts = terminals.voltage
        motor_state, motor = self.motor.step(state.motor, params.motor, volts, theta, omega, dt)
        supply_state, supply_current = self.supply.step(
            state.supply, params.supply, Draw(terminals, motor.current), theta, omega, dt
        )
        saturation = jnp.where(terminals.bus_limited, Saturation.VOLTAGE.value, Saturation.NONE.value)
        saturation = jnp.where(terminals.current_limited, Saturation.CURRENT.value, saturation)
        saturation = jnp.where(motor.saturation != Saturation.NONE.value, motor.saturation, saturation)
        return dataclasses.replace(state, supply=supply_state, motor=motor_state), Driven(
            motor, volts, supply_current, saturation.astype(jnp.int32)
        )

    def output(
        self,
        params: ActuatorParams,
        driven: Driven,
        motion: GearMotion,
        motor_torque: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> ActuatorOutput:
        """The outputs of a step with `motor_torque` [N m] on the shaft and the joint at `qvel` [rad/s] at its start."""
        ratio = self.gear.ratio(params.gear)
        return ActuatorOutput(
            motor_torque=motor_torque,
            joint_torque=self.gear.joint_torque(params.gear, motion, motor_torque, dt),
            drag_torque=self.drag.torque(params.drag, ratio, qvel),
            voltage=driven.voltage,
            current=driven.motor.current,
            supply_current=driven.supply_current,
            temperature=driven.motor.temperature,
            copper_loss=driven.motor.copper_loss,
            saturation=driven.saturation,
        )

    def step(
        self, state: ActuatorState, params: ActuatorParams, ctrl: Any, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[ActuatorState, ActuatorOutput]:
        params, row = self.at_row(params, ctrl)
        theta, omega = self.gear.rotor(state.gear, params.gear, qpos, qvel)
        state, request = self.command(state, params, row, theta, omega, dt)
        state, driven = self.drive(state, params, row, request, theta, omega, dt)
        motor = driven.motor
        torque = motor.electrical_torque + motor.cogging_torque + motor.bristle_torque

        def slide(shaft, speed):
            return shaft.flow(speed, dt)

        motion = self.gear.follow(state.gear, params.gear, torque, slide, qpos, qvel, dt)
        state = dataclasses.replace(state, gear=motion.state)
        return state, self.output(params, driven, motion, torque, qvel, dt)
