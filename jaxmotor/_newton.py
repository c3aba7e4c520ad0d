"""The words of Newton's actuators page: `MotorDC` and the effort clamps."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from ._actuator import Actuator, ActuatorParams
from ._controller import VoltageDrive
from ._gear import GearParams
from ._motor import Motor, MotorParams
from ._motor_numbers import Given, check_nonnegative, check_positive, float_arrays
from ._region import OperatingRegion
from ._supply import FixedSupply, FixedSupplyParams
from ._winding import QuasiStatic, QuasiStaticParams


def newton_motor_dc(kt: Given, resistance: Given, vin: Given) -> tuple[Actuator, ActuatorParams]:
    """An actuator after the equations that Newton documents for `MotorDC`.

    u <- clamp(u, -V, V), I = (u - kt qd) / R, tau = kt I, source current d I with d = u / V (0 at V = 0). One constant
    kt stands for torque and back-EMF, there is no gear (kt, effort and speed are those of the joint), and nothing but
    the voltage limits current or torque. A motor without supply voltage brakes like one with shorted terminals.

    **Arguments:** `kt` [N m/A], `resistance` [ohm], `vin` [V]: numbers, or arrays of one shape (one per slot, to be
    used under `jax.vmap`). The command is the terminal voltage [V]; for a signed duty, as Newton's actuators command
    it, put `DutyDrive()` in the place of the controller.

    **Raises:** `ValueError` for `kt` or `resistance` missing or not positive, for `vin` missing or negative, and for
    shapes that differ.
    """
    check_positive("kt", kt)
    check_positive("resistance", resistance)
    check_nonnegative("vin", vin)
    arrays = float_arrays({"kt": kt, "resistance": resistance, "vin": vin})
    shape = arrays["kt"].shape
    for name, array in arrays.items():
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}, but kt has {shape}")
    winding = QuasiStaticParams(arrays["resistance"], arrays["kt"], arrays["kt"])
    actuator = Actuator(Motor(QuasiStatic()), VoltageDrive(), FixedSupply())
    direct = GearParams(jnp.ones_like(arrays["kt"]), jnp.zeros_like(arrays["kt"]))
    return actuator, ActuatorParams(MotorParams(winding), supply=FixedSupplyParams(arrays["vin"]), gear=direct)


def newton_dc_clamp(saturation_effort: Given, velocity_limit: Given, max_motor_effort: Given) -> OperatingRegion:
    """The operating region that Newton's `ClampingDCMotor`, Isaac Lab's `DCMotor` and mjlab clip to, at the joint.

    The three numbers are stall torque [N m], no-load speed [rad/s] and peak torque [N m] at the joint. They fix the
    region but not the motor: it is written with R = 1 ohm and Kt = 1 N m/A. What those libraries call the corner
    velocity, velocity_limit (1 + max_motor_effort / saturation_effort), is its `overspeed_limit`.
    """
    check_positive("saturation_effort", saturation_effort)
    check_positive("velocity_limit", velocity_limit)
    given = {"stall": saturation_effort, "speed": velocity_limit}
    arrays = float_arrays(given)
    one = jnp.ones_like(arrays["stall"])
    return OperatingRegion(one, one, arrays["stall"] / arrays["speed"], arrays["stall"], max_motor_effort)


def position_based_limit(
    lookup_positions: Float[Array, " points"], lookup_efforts: Float[Array, " points"], qpos: ArrayLike
) -> Float[Array, "..."]:
    """The effort limit [N m] at a joint position [rad] (Newton `ClampingPositionBased`): straight lines, ends held.

    Clip an effort to plus and minus this.
    """
    return jnp.interp(jnp.asarray(qpos), lookup_positions, lookup_efforts)
