"""The drive's attributes of a `<dcmotor>` element, out of an actuator: input, controller, ctrlrange."""

from typing import Any

from ._actuator import Actuator, ActuatorParams
from ._controller import ShortedDrive, TorqueDrive, VoltageDrive
from ._current_limit import NoCurrentLimit
from ._gains import convert_gains
from ._integral import ErrorIntegral, IntegralBound, NoIntegral, NoIntegralBound
from ._mjcf_motor import Attributes, no_counterpart
from ._position_pid import PositionPID
from ._setpoint import AbstractSetpoint, CommandRange, NoSlew, SetpointChain
from ._slew import SlewLimiter
from ._supply import FixedSupply, IdealSupply
from ._thermal import Isothermal
from ._torque_space_pid import TorqueSpacePID
from ._voltage_limit import VoltageLimit


def control_attributes(actuator: Actuator, params: ActuatorParams) -> Attributes:
    """input, controller and ctrlrange, those that are not MuJoCo's defaults."""
    for part, what, absent in (
        (actuator.delay, "command delay", NoSlew),
        (actuator.current_limit, "current limit", NoCurrentLimit),
    ):
        if not isinstance(part, absent):
            raise no_counterpart(part, what)
    attributes: Attributes = {"input": "voltage"}
    gains = [0.0] * 6
    match actuator.controller:
        case VoltageDrive():
            pass
        case ShortedDrive():
            attributes["input"] = "none"
        case TorqueDrive() if isinstance(actuator.motor.thermal, Isothermal):
            attributes["input"] = "ff"
        case PositionPID():
            attributes["input"] = "pos"
            gains = _gains(actuator.controller, convert_gains(params.controller, params.motor.winding))
        case TorqueSpacePID():
            attributes["input"] = " ".join(actuator.controller.inputs)
            gains = _gains(actuator.controller, params.controller)
        case _:
            raise no_counterpart(actuator.controller, "controller")
    for stage, values in _filters(actuator.setpoint, params.setpoint):
        match stage:
            case SlewLimiter() if attributes["input"] not in ("voltage", "none"):
                gains[3] = float(values.slew_rate)
            case CommandRange():
                attributes["ctrlrange"] = (float(values.lowest_command), float(values.highest_command))
            case _:
                raise no_counterpart(stage, f'filter (of the input "{attributes["input"]}")')
    _add_supply(actuator, params, attributes, gains)
    return attributes | ({"controller": gains} if any(gains) else {})


def _filters(setpoint: AbstractSetpoint, params: Any) -> list[tuple[AbstractSetpoint, Any]]:
    match setpoint:
        case NoSlew():
            return []
        case SetpointChain():
            filters = list(zip(setpoint.stages, params, strict=True))
            if [type(stage) for stage, _ in filters] != [CommandRange, SlewLimiter]:
                raise no_counterpart(setpoint, "command filter (MuJoCo's order is CommandRange, SlewLimiter)")
            return filters
    return [(setpoint, params)]


def _gains(controller: PositionPID | TorqueSpacePID, params: Any) -> list[float]:
    integral, bound = 0.0, 0.0
    match controller.integral:
        case NoIntegral():
            pass
        case ErrorIntegral(bound=NoIntegralBound()):
            integral = float(params.integral.integral_gain)
        case ErrorIntegral(bound=IntegralBound()):
            integral, bound = float(params.integral.integral_gain), float(params.integral.bound.integral_bound)
        case _:
            raise no_counterpart(controller.integral, "integral")
    voltage = float(params.voltage_limit.voltage_limit) if isinstance(controller.voltage_limit, VoltageLimit) else 0.0
    return [float(params.proportional_gain), integral, float(params.derivative_gain), 0.0, bound, voltage]


def _add_supply(actuator: Actuator, params: ActuatorParams, attributes: Attributes, gains: list[float]) -> None:
    """A stiff bus bounds the voltage: MuJoCo says so by ctrlrange of a voltage input, else by Vmax."""
    match actuator.supply, actuator.controller:
        case IdealSupply(), _:
            pass
        case FixedSupply(), ShortedDrive():
            pass
        case FixedSupply(), VoltageDrive():
            bus = float(params.supply.bus_voltage)
            low, high = attributes.get("ctrlrange", (-bus, bus))
            attributes["ctrlrange"] = (max(low, -bus), min(high, bus))
        case FixedSupply(), PositionPID() | TorqueDrive() | TorqueSpacePID() if "voltage" not in attributes["input"]:
            bus = float(params.supply.bus_voltage)
            gains[5] = min(gains[5], bus) if gains[5] else bus
        case _:
            raise no_counterpart(actuator.supply, "supply")
