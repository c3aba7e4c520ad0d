"""Position gains in volts and in newton metres."""

from typing import Any, overload

import equinox as eqx

from ._position_pid import PositionPIDParams
from ._torque_space_pid import TorqueSpacePIDParams


@overload
def convert_gains(gains: PositionPIDParams, winding: Any) -> TorqueSpacePIDParams: ...
@overload
def convert_gains(gains: TorqueSpacePIDParams, winding: Any) -> PositionPIDParams: ...
def convert_gains(gains: Any, winding: Any) -> Any:
    """The params of the other controller that makes the same torque of the same command.

    With motor `winding` params R0 [ohm], Kt [N m/A], Ke [V s/rad], from volts (`PositionPID`) to newton metres
    (`TorqueSpacePID`):

    - k_p [N m/rad] = Kt / R0 k_p [V/rad], and the same factor for k_i;
    - k_d [N m s/rad] = Kt / R0 (k_d [V s/rad] + Ke): a voltage drive has the back-EMF's damping for nothing, a torque
      drive cancels it and must add it again.

    Bounds on integral and voltage keep their values. The two controllers then agree exactly, with limits and a hot
    winding too. (MuJoCo DC motor note, "Effective torque", and the change log of MuJoCo 3.12.)
    """
    torque_per_volt = winding.torque_constant / winding.resistance
    if isinstance(gains, PositionPIDParams):
        return TorqueSpacePIDParams(
            torque_per_volt * gains.proportional_gain,
            torque_per_volt * (gains.derivative_gain + winding.back_emf_constant),
            _scaled(gains.integral, torque_per_volt),
            gains.voltage_limit,
        )
    return PositionPIDParams(
        gains.proportional_gain / torque_per_volt,
        gains.derivative_gain / torque_per_volt - winding.back_emf_constant,
        _scaled(gains.integral, 1 / torque_per_volt),
        gains.voltage_limit,
    )


def _scaled(integral: Any, factor: Any) -> Any:
    if integral is None:
        return None
    return eqx.tree_at(lambda p: p.integral_gain, integral, factor * integral.integral_gain)
