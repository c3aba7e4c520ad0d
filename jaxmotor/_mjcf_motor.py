"""The motor's attributes of a `<dcmotor>` element, out of an actuator."""

import warnings
from typing import Any

from ._actuator import Actuator, ActuatorParams
from ._bristle import Frictionless
from ._cogging import Cogging, NoCogging
from ._current_rate import CurrentRateLimit
from ._dahl import Dahl
from ._decay import GaussianDecay, NoDecay
from ._drag import MotorSideDrag, NoDrag, PolynomialDrag, ViscousDrag
from ._gear import Gear
from ._limits import TorqueLimit, Unlimited
from ._lugre import LuGre
from ._lumped_thermal import LumpedThermal
from ._thermal import Isothermal
from ._winding import FixedTimeConstant, Inductive, QuasiStatic

Attributes = dict[str, Any]


def no_counterpart(part: Any, what: str) -> ValueError:
    """The error about a part that MuJoCo's `dcmotor` does not have."""
    return ValueError(f"MuJoCo's dcmotor has no counterpart of the {what} {type(part).__name__}: use another")


def motor_attributes(actuator: Actuator, params: ActuatorParams) -> Attributes:
    """resistance, motorconst, inductance, thermal, saturation, cogging, lugre and damping, those that are on."""
    if not isinstance(actuator.gear, Gear):
        raise no_counterpart(actuator.gear, "gear")
    motor, motor_params = actuator.motor, params.motor
    winding = motor_params.winding
    kt, ke = float(winding.torque_constant), float(winding.back_emf_constant)
    if kt != ke:
        warnings.warn(
            f"to_xml: Kt = {kt:g} and Ke = {ke:g} differ; MuJoCo will use their geometric mean for both", stacklevel=3
        )
    constant = (kt,) if kt == ke else (kt, ke)
    attributes: Attributes = {"resistance": (float(winding.resistance),), "motorconst": constant}
    heats = isinstance(motor.thermal, LumpedThermal)
    attributes |= _inductance(motor.winding, winding, heats)
    attributes |= _saturation(motor, motor_params)
    attributes |= _thermal(motor.thermal, motor_params.thermal)
    attributes |= _cogging(motor.cogging, motor_params.cogging)
    attributes |= _lugre(motor.bristle, motor_params.bristle)
    return attributes | _damping(actuator.drag, params.drag, abs(float(params.gear.ratio)))


def _inductance(winding: Any, params: Any, heats: bool) -> Attributes:
    match winding:
        case QuasiStatic():
            return {}
        case FixedTimeConstant():
            return {"inductance": (0.0, params.electrical_time_constant)}
        case Inductive():
            if heats:
                warnings.warn("to_xml: MuJoCo's time constant L / R will not fall as the winding heats", stacklevel=4)
            return {"inductance": (params.inductance,)}
    raise no_counterpart(winding, "winding")


def _saturation(motor: Any, params: Any) -> Attributes:
    rate = getattr(motor.winding, "rate", None)
    current_rate = params.winding.rate.maximum_current_rate if isinstance(rate, CurrentRateLimit) else 0.0
    match motor.limit:
        case Unlimited():
            torque = 0.0
        case TorqueLimit():
            torque = params.limit.peak_torque
        case _:
            raise no_counterpart(motor.limit, "torque limit")
    values = (float(torque), 0.0, float(current_rate))
    return {"saturation": values} if any(values) else {}


def _thermal(thermal: Any, params: Any) -> Attributes:
    match thermal:
        case Isothermal():
            return {}
        case LumpedThermal():
            return {
                "thermal": (
                    params.thermal_resistance,
                    params.thermal_capacitance,
                    0.0,
                    params.temperature_coefficient,
                    params.reference_temperature,
                    params.ambient_temperature,
                )
            }
    raise no_counterpart(thermal, "thermal model")


def _cogging(cogging: Any, params: Any) -> Attributes:
    match cogging:
        case NoCogging():
            return {}
        case Cogging():
            return {"cogging": (params.amplitude, params.pole_count, params.phase)}
    raise no_counterpart(cogging, "cogging")


def _lugre(bristle: Any, params: Any) -> Attributes:
    match bristle:
        case Frictionless():
            return {}
        case LuGre(stribeck_decay=GaussianDecay(), damping_decay=NoDecay()):
            return {
                "lugre": (
                    params.lugre_stiffness,
                    params.lugre_damping,
                    params.coulomb_friction,
                    params.stiction_torque,
                    params.stribeck_velocity,
                )
            }
        case Dahl():
            # Without a Stribeck drop any velocity scale gives the same level.
            return {"lugre": (params.bristle_stiffness, 0.0, params.coulomb_friction, params.coulomb_friction, 1.0)}
    raise no_counterpart(bristle, "bristle friction (or its decay)")


def _damping(drag: Any, params: Any, ratio: float) -> Attributes:
    match drag:
        case NoDrag():
            return {}
        case ViscousDrag():
            return {"damping": (params.viscous_damping,)}
        case PolynomialDrag():
            return {"damping": (params.viscous_damping, params.quadratic_drag, params.cubic_drag)}
        case MotorSideDrag():
            # MuJoCo scales every order with N^2, the motor side's orders with N^2, N^3, N^4.
            return {"damping": (params.viscous_damping, params.quadratic_drag * ratio, params.cubic_drag * ratio**2)}
    raise no_counterpart(drag, "drag")
