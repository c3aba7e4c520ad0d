"""A position loop that computes a voltage."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._controller import AbstractController, Demand
from ._integral import AbstractIntegral, NoIntegral
from ._kept import kept
from ._parameter import Parameter, real
from ._request import SpeedFeedbackRequest
from ._stage import Scalar
from ._voltage_limit import AbstractVoltageLimit, NoVoltageLimit


class PositionPIDParams(eqx.Module):
    """`proportional_gain` k_p [V/rad], `derivative_gain` k_d [V s/rad]; `integral` and `voltage_limit` belong to those
    parts."""

    proportional_gain: Parameter = real("V/rad")
    derivative_gain: Parameter = real("V s/rad", default=0.0)
    integral: Any = None
    voltage_limit: Any = None


class PositionPID(AbstractController):
    """v = clip(k_p (u - theta) + k_i x_I - k_d w, +-v_max), dx_I/dt = u - theta (MuJoCo DC motor note, "Position Mode";
    MuJoCo 3.7 to 3.11). The command u is an angle of the motor shaft [rad], sampled with the angle at the start of
    the step; the speed term follows the shaft within it.

    The back-EMF damps too: the shaft feels a stiffness K k_p / R and a damping K (K + k_d) / R. `convert_gains` turns
    these gains into those of `TorqueSpacePID` and back.
    """

    integral: AbstractIntegral = NoIntegral()
    voltage_limit: AbstractVoltageLimit = NoVoltageLimit()

    def init(self, params: PositionPIDParams) -> Any:
        return self.integral.init(params.integral)

    def step(
        self, state: Any, params: PositionPIDParams, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[Any, SpeedFeedbackRequest]:
        error = ctrl.command - qpos
        state, action = self.integral.step(state, params.integral, error, qpos, qvel, dt)
        bound = self.voltage_limit.bound(params.voltage_limit, qvel)
        volts = params.proportional_gain * error + action
        return state, SpeedFeedbackRequest(
            jnp.zeros_like(qvel), params.derivative_gain, kept(volts, params.proportional_gain), bound
        )
