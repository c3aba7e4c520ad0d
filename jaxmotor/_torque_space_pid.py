"""A servo that computes a torque and turns it into a voltage with the nameplate constants of its motor."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._controller import AbstractController, Demand
from ._integral import AbstractIntegral, NoIntegral
from ._parameter import Parameter, real
from ._request import AbstractRequest
from ._stage import Scalar
from ._voltage_limit import AbstractVoltageLimit, NoVoltageLimit
from ._winding import QuasiStaticParams

INPUTS = ("pos", "vel", "ff", "voltage")
"""What a command may hold, in MuJoCo's order: angle [rad], speed [rad/s], torque [N m] and voltage [V] at the motor."""


class NameplateTorqueRequest(AbstractRequest):
    """A torque through the drive's own idea of the motor, and `added_voltage` [V] behind its limit:

    tau = tau_held + k_d (target - w), v = clip(R0 tau / Kt + Ke w, +-v_max) + v_add, with the nameplate R0, whatever
    the winding's temperature, and the present speed w.
    """

    held_torque: Scalar
    target: Scalar
    derivative_gain: Scalar
    added_voltage: Scalar
    voltage_bound: Scalar
    nameplate: QuasiStaticParams | Any

    def volts(self, bus_voltage: Scalar, winding: Any, qvel: Scalar) -> Scalar:
        del bus_voltage, winding
        motor = self.nameplate
        torque = self.held_torque + self.derivative_gain * (self.target - qvel)
        volts = motor.resistance / motor.torque_constant * torque + motor.back_emf_constant * qvel
        return jnp.clip(volts, -self.voltage_bound, self.voltage_bound) + self.added_voltage

    def ceiling(self, bus_voltage: Scalar) -> Scalar:
        return bus_voltage


class TorqueSpacePIDParams(eqx.Module):
    """`proportional_gain` k_p [N m/rad], `derivative_gain` k_d [N m s/rad]; `integral` and `voltage_limit` belong to
    those parts."""

    proportional_gain: Parameter = real("N m/rad")
    derivative_gain: Parameter = real("N m s/rad", default=0.0)
    integral: Any = None
    voltage_limit: Any = None


class TorqueSpacePID(AbstractController):
    """tau = k_p (pos - theta) + k_d (vel - w) + k_i x_I + ff, dx_I/dt = pos - theta (MuJoCo 3.12 and later).

    `inputs` says which of `INPUTS` the command holds, in that order: a scalar for one, else a trailing axis. What it
    does not hold is zero: without "vel" k_d damps, without "pos" k_p pulls to angle 0, as in MuJoCo. "voltage" is added
    to the terminals behind the voltage limit. The angle is sampled at the start of the step; the speed terms follow the
    shaft within it, so a stiff k_d is stable at any step.
    """

    inputs: tuple[str, ...] = eqx.field(static=True, default=("pos",))
    integral: AbstractIntegral = NoIntegral()
    voltage_limit: AbstractVoltageLimit = NoVoltageLimit()

    def __check_init__(self):
        if self.inputs != tuple(name for name in INPUTS if name in self.inputs):
            raise ValueError(f"inputs={self.inputs} must be some of {INPUTS}, in this order")
        if not set(self.inputs) - {"voltage"}:
            raise ValueError(f"inputs={self.inputs} uses no gain: take VoltageDrive, or ShortedDrive for no input")
        if not isinstance(self.integral, NoIntegral) and "pos" not in self.inputs:
            raise ValueError(f"inputs={self.inputs}: an integral needs 'pos', the position whose error it integrates")

    def init(self, params: TorqueSpacePIDParams) -> Any:
        return self.integral.init(params.integral)

    def step(
        self, state: Any, params: TorqueSpacePIDParams, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[Any, NameplateTorqueRequest]:
        command = jnp.asarray(ctrl.command)
        values = command[None] if command.ndim == 0 else command
        if values.shape != (len(self.inputs),):
            raise ValueError(f"the command has shape {command.shape}, but the inputs are {self.inputs}")
        given = dict.fromkeys(INPUTS, jnp.zeros_like(qvel)) | {n: values[i] for i, n in enumerate(self.inputs)}
        error = given["pos"] - qpos
        state, action = self.integral.step(state, params.integral, error, qpos, qvel, dt)
        held = params.proportional_gain * error + action + given["ff"]
        bound = self.voltage_limit.bound(params.voltage_limit, qvel)
        return state, NameplateTorqueRequest(
            held, given["vel"], params.derivative_gain, given["voltage"], bound, ctrl.nameplate
        )
