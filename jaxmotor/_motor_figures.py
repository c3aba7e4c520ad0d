"""What a datasheet prints beside the constants, from the constants."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._stage import Scalar


class MotorFigures(eqx.Module):
    """Figures of a motor at one voltage, friction left aside: `no_load_speed` [rad/s], `stall_torque` [N m],
    `stall_current` [A], `speed_torque_gradient` [rad/s per N m, negative], `mechanical_time_constant` [s]."""

    no_load_speed: Scalar
    stall_torque: Scalar
    stall_current: Scalar
    speed_torque_gradient: Scalar
    mechanical_time_constant: Scalar


def motor_figures(winding: Any, rotor_inertia: Scalar, voltage: Scalar) -> MotorFigures:
    """Figures at `voltage` [V] of a winding's params with `rotor_inertia` [kg m^2].

    w0 = v / Ke, tau0 = Kt v / R, i_s = v / R, dw/dtau = -R / (Kt Ke), t_m = R J / (Kt Ke) (MuJoCo DC motor note,
    "Datasheet Mapping", with Kt and Ke kept apart).
    """
    slope = winding.resistance / (winding.torque_constant * winding.back_emf_constant)
    voltage = jnp.asarray(voltage, winding.resistance.dtype)
    return MotorFigures(
        voltage / winding.back_emf_constant,
        winding.torque_constant * voltage / winding.resistance,
        voltage / winding.resistance,
        -slope,
        slope * jnp.asarray(rotor_inertia, winding.resistance.dtype),
    )
