"""A speed loop that computes a voltage."""

from typing import Any

import equinox as eqx

from ._controller import AbstractController, Demand
from ._integral import AbstractIntegral, FollowingIntegral
from ._parameter import Parameter, real
from ._request import SpeedFeedbackRequest
from ._stage import Scalar
from ._voltage_limit import AbstractVoltageLimit, NoVoltageLimit


class VelocityPIParams(eqx.Module):
    """`proportional_gain` k_p [V s/rad]; `integral` and `voltage_limit` belong to those parts."""

    proportional_gain: Parameter = real("V s/rad")
    integral: Any = None
    voltage_limit: Any = None


class VelocityPI(AbstractController):
    """v = clip(k_p (u - w) + k_i (x_I - theta), +-v_max), dx_I/dt = u (MuJoCo DC motor note, "Velocity Mode"; MuJoCo
    3.7 to 3.11). The command u is a speed of the motor shaft [rad/s]; the speed term follows the shaft within the step.

    The default integral bounds target minus angle; `TargetIntegral(IntegralBound())` is MuJoCo's, which bounds the
    target and so stops a motor that should travel; `NoIntegral` leaves a plain speed gain.
    """

    integral: AbstractIntegral = FollowingIntegral()
    voltage_limit: AbstractVoltageLimit = NoVoltageLimit()

    def init(self, params: VelocityPIParams) -> Any:
        return self.integral.init(params.integral)

    def step(
        self, state: Any, params: VelocityPIParams, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[Any, SpeedFeedbackRequest]:
        state, action = self.integral.step(state, params.integral, ctrl.command, qpos, qvel, dt)
        bound = self.voltage_limit.bound(params.voltage_limit, qvel)
        return state, SpeedFeedbackRequest(ctrl.command, params.proportional_gain, action, bound)
