"""From the resolved numbers of a `dcmotor` to an actuator: what is zero there is absent here."""

from typing import Any

from ._actuator import Actuator, ActuatorParams
from ._bristle import Frictionless
from ._cogging import Cogging, CoggingParams, NoCogging
from ._controller import ShortedDrive, VoltageDrive
from ._current_rate import CurrentRateLimit, CurrentRateLimitParams, UnlimitedCurrentRate
from ._drag import NoDrag, PolynomialDrag, PolynomialDragParams, ViscousDrag, ViscousDragParams
from ._gear import GearParams
from ._integral import (
    ErrorIntegral,
    IntegralBound,
    IntegralBoundParams,
    IntegralParams,
    NoIntegral,
    NoIntegralBound,
    TargetIntegral,
)
from ._limits import TorqueLimit, TorqueLimitParams, Unlimited
from ._lugre import LuGre, LuGreParams
from ._lumped_thermal import LumpedThermal, LumpedThermalParams
from ._mjcf_numbers import DcMotorError, DcMotorNumbers
from ._mjcf_voltage import HeatClipped, HeatClippedParams, IdleIntegralDrive, IdleIntegralDriveParams
from ._motor import Motor, MotorParams
from ._parameter import check_params
from ._passivity import check_lugre
from ._position_pid import PositionPID, PositionPIDParams
from ._setpoint import CommandRange, CommandRangeParams, NoSlew, SetpointChain
from ._slew import SlewLimiter, SlewLimiterParams
from ._thermal import Isothermal
from ._torque_space_pid import TorqueSpacePID, TorqueSpacePIDParams
from ._velocity_pi import VelocityPI, VelocityPIParams
from ._voltage_limit import NoVoltageLimit, VoltageLimit, VoltageLimitParams
from ._winding import FixedTimeConstant, FixedTimeConstantParams, QuasiStatic, QuasiStaticParams

Part = tuple[Any, Any]
"""A stage and its params."""


def build(numbers: DcMotorNumbers, other_damping: float = 0.0) -> tuple[Actuator, ActuatorParams]:
    """The actuator and its params; `other_damping` [N m s/rad] acts on the motor shaft from elsewhere."""
    if numbers.gear == 0:
        raise DcMotorError("gear", "it is 0: give the motor's turns per turn of the joint, of any sign")
    winding, winding_params = _winding(numbers)
    thermal, thermal_params = _thermal(numbers)
    limit, limit_params = _limit(numbers)
    cogging, cogging_params = _cogging(numbers)
    bristle, bristle_params = _bristle(numbers)
    drag, drag_params = _drag(numbers)
    controller, controller_params = _controller(numbers)
    setpoint, setpoint_params = _setpoint(numbers)
    actuator = Actuator(Motor(winding, thermal, limit, cogging, bristle), controller, drag=drag, setpoint=setpoint)
    params = ActuatorParams(
        MotorParams(winding_params, thermal_params, limit_params, cogging_params, bristle_params),
        controller_params,
        gear=GearParams(numbers.gear, numbers.armature),
        drag=drag_params,
        setpoint=setpoint_params,
    )
    check_params(params)
    if isinstance(bristle, LuGre):
        check_lugre(bristle, bristle_params, numbers.damping[0] + other_damping)
    return actuator, params


def _winding(n: DcMotorNumbers) -> Part:
    voltage_limit = n.controller[5]
    if n.electrical_time_constant > 0:
        rate, rate_params = (
            (CurrentRateLimit(), CurrentRateLimitParams(n.current_rate))
            if n.current_rate > 0
            else (UnlimitedCurrentRate(), None)
        )
        return FixedTimeConstant(rate), FixedTimeConstantParams(
            n.resistance, n.motor_constant, n.motor_constant, n.electrical_time_constant, rate_params
        )
    if n.voltage_space and n.inputs == ("voltage",) and voltage_limit > 0:
        return HeatClipped(), HeatClippedParams(n.resistance, n.motor_constant, n.motor_constant, voltage_limit)
    return QuasiStatic(), QuasiStaticParams(n.resistance, n.motor_constant, n.motor_constant)


def _thermal(n: DcMotorNumbers) -> Part:
    resistance, capacitance, coefficient, reference, ambient = n.thermal
    if resistance == 0:
        return Isothermal(), None
    if not 1 + coefficient * (ambient - reference) > 0:
        raise DcMotorError(
            "thermal:tempcoef",
            f"{coefficient:g} makes R negative at the ambient {ambient:g} degC: lower it",
        )
    return LumpedThermal(), LumpedThermalParams(resistance, capacitance, coefficient, reference, ambient)


def _limit(n: DcMotorNumbers) -> Part:
    return (TorqueLimit(), TorqueLimitParams(n.peak_torque)) if n.peak_torque > 0 else (Unlimited(), None)


def _cogging(n: DcMotorNumbers) -> Part:
    return (Cogging(), CoggingParams(*n.cogging)) if n.cogging[0] != 0 else (NoCogging(), None)


def _bristle(n: DcMotorNumbers) -> Part:
    return (LuGre(), LuGreParams(*n.lugre)) if n.lugre[0] > 0 else (Frictionless(), None)


def _drag(n: DcMotorNumbers) -> Part:
    linear, *higher = n.damping
    if any(higher):
        return PolynomialDrag(), PolynomialDragParams(linear, *higher)
    return (ViscousDrag(), ViscousDragParams(linear)) if linear else (NoDrag(), None)


def _setpoint(n: DcMotorNumbers) -> Part:
    filters: list[Part] = []
    if n.ctrlrange is not None and n.inputs:
        filters.append((CommandRange(), CommandRangeParams(*n.ctrlrange)))
    if n.controller[3] > 0:
        filters.append((SlewLimiter(), SlewLimiterParams(n.controller[3])))
    if len(filters) > 1:
        stages, params = zip(*filters, strict=True)
        return SetpointChain(stages), params
    return filters[0] if filters else (NoSlew(), None)


def _controller(n: DcMotorNumbers) -> Part:
    if not n.voltage_space:
        return _newest_controller(n)
    kp, _, kd, *_ = n.controller
    limit, limit_params = _voltage_limit(n)
    match n.inputs:
        case ("position",):
            integral, integral_params = _integral(n, ErrorIntegral)
            return PositionPID(integral, limit), PositionPIDParams(kp, kd, integral_params, limit_params)
        case ("velocity",):
            integral, integral_params = _integral(n, TargetIntegral)
            return VelocityPI(integral, limit), VelocityPIParams(kp, integral_params, limit_params)
    integral, integral_params = _integral(n, ErrorIntegral)
    if n.electrical_time_constant == 0:
        # Without a current state the limit reaches only the heat: `HeatClipped` has it.
        limit, limit_params = NoVoltageLimit(), None
    if isinstance(integral, NoIntegral) and isinstance(limit, NoVoltageLimit):
        return VoltageDrive(), None
    return IdleIntegralDrive(integral, limit), IdleIntegralDriveParams(integral_params, limit_params)


def _newest_controller(n: DcMotorNumbers) -> Part:
    if not n.inputs:
        return ShortedDrive(), None
    if n.inputs == ("voltage",):
        return VoltageDrive(), None
    kp, _, kd, *_ = n.controller
    limit, limit_params = _voltage_limit(n)
    integral, integral_params = _integral(n, ErrorIntegral)
    return TorqueSpacePID(n.inputs, integral, limit), TorqueSpacePIDParams(kp, kd, integral_params, limit_params)


def _voltage_limit(n: DcMotorNumbers) -> Part:
    bound = n.controller[5]
    return (VoltageLimit(), VoltageLimitParams(bound)) if bound > 0 else (NoVoltageLimit(), None)


def _integral(n: DcMotorNumbers, kind: type[ErrorIntegral] | type[TargetIntegral]) -> Part:
    _, gain, _, _, bound, _ = n.controller
    if gain == 0:
        return NoIntegral(), None
    if bound > 0:
        return kind(IntegralBound()), IntegralParams(gain, IntegralBoundParams(bound))
    return kind(NoIntegralBound()), IntegralParams(gain)
