"""Drives: from the command to what is asked of the power stage."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, positive
from ._request import AbstractRequest, DutyRequest, TorqueRequest, VoltageRequest
from ._stage import AbstractStage, Scalar
from ._winding import QuasiStaticParams


class Demand(eqx.Module):
    """What a controller sees beside the shaft: the `command`, the present `bus_voltage` [V] or `None` where the supply
    has none, and the `nameplate` winding params (a drive does not know the winding's temperature)."""

    command: Any
    bus_voltage: Scalar | None
    nameplate: QuasiStaticParams | Any


class AbstractController(AbstractStage):
    """A drive; its `ctrl` is a `Demand`, its output a request. It samples the shaft at the start of the step."""


class AbstractOpenLoop(AbstractController):
    """A drive that does not look at the shaft and remembers nothing."""

    @abc.abstractmethod
    def request(self, params: Any, command: Scalar) -> AbstractRequest:
        """What this command asks for."""

    def init(self, params: Any) -> None:
        del params

    def step(
        self, state: None, params: Any, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, AbstractRequest]:
        del state, qpos, qvel, dt
        return None, self.request(params, ctrl.command)


class VoltageDrive(AbstractOpenLoop):
    """The command is the terminal voltage [V]; params are `None`."""

    def request(self, params: None, command: Scalar) -> VoltageRequest:
        del params
        return VoltageRequest(command)


class DutyDrive(AbstractOpenLoop):
    """The command is the signed duty of the bridge in [-1, 1]; params are `None`. Needs a supply with a bus voltage."""

    def request(self, params: None, command: Scalar) -> DutyRequest:
        del params
        return DutyRequest(command, jnp.ones_like(command))


class TorqueDrive(AbstractOpenLoop):
    """A current-controlled driver: the command is the electrical torque at the motor shaft [N m]; params are `None`.

    It asks the voltage that gives the torque, so the bus voltage and the torque limit together *are* the operating
    region of RaiSim's Actuators page ("Motor operating region").
    """

    def request(self, params: None, command: Scalar) -> TorqueRequest:
        del params
        return TorqueRequest(command)


class ServoDriveParams(eqx.Module):
    """`gain`: duty per radian of error at the motor shaft [1/rad]; `duty_limit`: largest duty [1]."""

    gain: Parameter = positive("1/rad")
    duty_limit: Parameter = positive("1", default=1.0)


class ServoDrive(AbstractController):
    """Firmware position loop: duty = gain (command - angle), bounded by the duty limit; the command is an angle [rad].

    The law of hobby-servo firmware as BAM documents it (bam/actuator.py, voltage-controlled servo). Its optional
    current cap is the actuator's `CurrentLimit`, which acts before the duty limit.
    """

    def init(self, params: ServoDriveParams) -> None:
        del params

    def step(
        self, state: None, params: ServoDriveParams, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, DutyRequest]:
        del state, qvel, dt
        return None, DutyRequest(params.gain * (ctrl.command - qpos), params.duty_limit)


class ShortedDrive(AbstractController):
    """Terminals shorted, v = 0: a passive motor that brakes with its back-EMF (MuJoCo's input "none").

    The command is not looked at; by MuJoCo's convention it has length 0. Params are `None`.
    """

    def init(self, params: None) -> None:
        del params

    def step(
        self, state: None, params: None, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, VoltageRequest]:
        del state, params, ctrl, qpos, dt
        return None, VoltageRequest(jnp.zeros_like(qvel))
