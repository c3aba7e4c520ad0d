"""The torques a motor and its driver can produce at a speed.

With R i + Ke ω = V at the terminals, τ = Kt i, a driver that reaches any voltage in ±V and an iron core that saturates
at τ_peak, the admissible torques at the motor speed ω are

    lower = clamp(-Kt V / R - b ω, -τ_peak, τ_peak)
    upper = clamp(+Kt V / R - b ω, -τ_peak, τ_peak),        b = Kt Ke / R

in N·m and rad/s, all on the rotor side of the gear (RaiSim, "Actuators", sections "The motor model" and "What happens
in a simulation step"). The region is a parallelogram cut by the band ±τ_peak: the braking side is wider than the
driving side, because there the back-EMF adds to the bus voltage.
"""

import functools
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from ._bounded import bounded
from ._motor_numbers import Given, check_motor, float_arrays
from ._saturation import Saturation


class TorqueBounds(eqx.Module):
    """The admissible motor torques [N·m] at one speed, and which limit makes each end (`Saturation` codes)."""

    lower: Float[Array, "..."]
    upper: Float[Array, "..."]
    lower_saturation: Int[Array, "..."]
    upper_saturation: Int[Array, "..."]


class OperatingRegion(eqx.Module):
    """The operating region of one motor, or of a batch of any shape.

    **Arguments:**

    - `resistance`: Winding resistance R [Ω].
    - `torque_constant`: Torque constant Kt [N·m/A].
    - `back_emf_constant`: Back-EMF constant Ke [V·s/rad], the inverse of the velocity constant Kv.
    - `bus_voltage`: Highest voltage V that the driver can apply, in either sense [V]. May be infinite.
    - `peak_torque`: Torque τ_peak at which the core saturates [N·m]. Infinite (the default) leaves the voltage lines.

    A number that cannot belong to a motor is refused, and its place in the batch is named.

    !!! warning "corner speed, overspeed limit, corner velocity"
        `corner_speed` has a minus: above it the voltage limits *driving*. `overspeed_limit` has a plus: above it even
        full reverse voltage drives more than the peak current. What Isaac Lab, mjlab and Newton call "corner velocity",
        velocity_limit · (1 + effort_limit / saturation_effort), is the `overspeed_limit`.

    The region limits the torque and never the speed. Beyond `overspeed_limit` every voltage drives more than the
    peak current, the saturated core caps the torque, and the only torque left is -τ_peak (+τ_peak in reverse).
    """

    resistance: Float[Array, "..."]
    torque_constant: Float[Array, "..."]
    back_emf_constant: Float[Array, "..."]
    bus_voltage: Float[Array, "..."]
    peak_torque: Float[Array, "..."]

    def __init__(
        self,
        resistance: Given,
        torque_constant: Given,
        back_emf_constant: Given,
        bus_voltage: Given,
        peak_torque: Given = math.inf,
    ):
        given = {
            "resistance": resistance,
            "torque_constant": torque_constant,
            "back_emf_constant": back_emf_constant,
            "bus_voltage": bus_voltage,
            "peak_torque": peak_torque,
        }
        check_motor(given, infinite=("bus_voltage", "peak_torque"))
        arrays = float_arrays(given)
        self.resistance = arrays["resistance"]
        self.torque_constant = arrays["torque_constant"]
        self.back_emf_constant = arrays["back_emf_constant"]
        self.bus_voltage = arrays["bus_voltage"]
        self.peak_torque = arrays["peak_torque"]

    @property
    def torque_per_volt(self) -> Float[Array, "..."]:
        """Kt / R [N·m/V] (RaiSim, `DcMotorParameters::torquePerVolt`)."""
        return self.torque_constant / self.resistance

    @property
    def back_emf_damping(self) -> Float[Array, "..."]:
        """b = Kt Ke / R [N·m·s/rad], the slope of the voltage lines: at its voltage limit a motor is a damper."""
        return self.torque_constant * self.back_emf_constant / self.resistance

    @property
    def stall_torque(self) -> Float[Array, "..."]:
        """Kt V / R [N·m], the torque that the voltage allows at rest; it may lie above the peak torque."""
        return self._or_infinite(self.torque_constant * self._finite_bus_voltage / self.resistance)

    @property
    def no_load_speed(self) -> Float[Array, "..."]:
        """V / Ke [rad/s]: the motor cannot drive faster."""
        return self._or_infinite(self._finite_bus_voltage / self.back_emf_constant)

    @property
    def corner_speed(self) -> Float[Array, "..."]:
        """(V - R τ_peak / Kt) / Ke [rad/s]: above it the voltage, not the peak torque, limits driving.

        Minus infinity without a peak torque (the voltage limits at every speed), infinity without a bus limit.
        """
        speed = (self._finite_bus_voltage - self._peak_voltage) / self.back_emf_constant
        return self._or_infinite(jnp.where(jnp.isinf(self.peak_torque), -jnp.inf, speed))

    @property
    def overspeed_limit(self) -> Float[Array, "..."]:
        """(V + R τ_peak / Kt) / Ke [rad/s]: above it even full reverse voltage drives more than the peak current.

        Called "corner velocity" by Isaac Lab, mjlab and Newton. Infinite without a peak torque or a bus limit.
        """
        speed = (self._finite_bus_voltage + self._peak_voltage) / self.back_emf_constant
        return self._or_infinite(jnp.where(jnp.isinf(self.peak_torque), jnp.inf, speed))

    def bounds(self, speed: ArrayLike) -> TorqueBounds:
        """The admissible torques [N·m] at the motor speed [rad/s], lower ≤ upper (RaiSim, `motorTorqueBounds`)."""
        back_emf = self.back_emf_constant * self._float(speed)
        lower_line = self._voltage_line(-self._finite_bus_voltage - back_emf, -jnp.inf)
        upper_line = self._voltage_line(self._finite_bus_voltage - back_emf, jnp.inf)
        peak = self.peak_torque
        core = jnp.where(jnp.isinf(peak), _code(Saturation.NONE), _code(Saturation.PEAK_TORQUE))
        return TorqueBounds(
            lower=jnp.minimum(jnp.maximum(lower_line, -peak), peak),
            upper=jnp.minimum(jnp.maximum(upper_line, -peak), peak),
            # Beyond the overspeed limit both ends are where the core saturates.
            lower_saturation=jnp.where((lower_line > -peak) & (lower_line <= peak), _code(Saturation.VOLTAGE), core),
            upper_saturation=jnp.where((upper_line < peak) & (upper_line >= -peak), _code(Saturation.VOLTAGE), core),
        )

    def clip(self, speed: ArrayLike, torque: ArrayLike) -> tuple[Float[Array, "..."], Int[Array, "..."]]:
        """The admissible torque nearest to the request, and the bound that limited it (RaiSim, `clipMotorTorque`).

        A request or a speed that is not a number gives a torque that is not a number, never ±τ_peak.
        """
        bounds = self.bounds(speed)
        request = self._float(torque)
        too_low = jnp.where(request < bounds.lower, bounds.lower_saturation, _code(Saturation.NONE))
        saturation = jnp.where(request > bounds.upper, bounds.upper_saturation, too_low)
        return bounded(request, bounds.lower, bounds.upper), saturation

    def violation(self, speed: ArrayLike, torque: ArrayLike) -> Float[Array, "..."]:
        """How far the torque lies outside [N·m], 0 inside (RaiSim, `motorOperatingRegionViolation`)."""
        nearest, _ = self.clip(speed, torque)
        request = self._float(torque)
        inside = request == nearest
        # An infinite request inside an unlimited region would be ∞ - ∞.
        return jnp.abs(jnp.where(inside, 0.0, request) - jnp.where(inside, 0.0, nearest))

    # The derivative of Kt V / R in Kt is V / R: an infinite limit must never enter a product, its `where` comes after.

    @property
    def _finite_bus_voltage(self) -> Float[Array, "..."]:
        return jnp.where(jnp.isinf(self.bus_voltage), 0.0, self.bus_voltage)

    @property
    def _peak_voltage(self) -> Float[Array, "..."]:
        finite_peak = jnp.where(jnp.isinf(self.peak_torque), 0.0, self.peak_torque)
        return self.resistance * finite_peak / self.torque_constant

    def _or_infinite(self, value: Float[Array, "..."]) -> Float[Array, "..."]:
        return jnp.where(jnp.isinf(self.bus_voltage), jnp.inf, value)

    def _voltage_line(self, winding_voltage: Float[Array, "..."], without: float) -> Float[Array, "..."]:
        line = self.torque_constant * winding_voltage / self.resistance
        return jnp.where(jnp.isinf(self.bus_voltage), without, line)

    def _float(self, value: ArrayLike) -> Float[Array, "..."]:
        given = jnp.asarray(value)
        return given if jnp.issubdtype(given.dtype, jnp.floating) else given.astype(self.resistance.dtype)


def region_of(
    resistance: Float[Array, "..."],
    torque_constant: Float[Array, "..."],
    back_emf_constant: Float[Array, "..."],
    bus_voltage: Float[Array, "..."],
    peak_torque: Float[Array, "..."],
) -> OperatingRegion:
    """The region of numbers that were looked at where they entered, for use inside a step."""
    return jax.tree.unflatten(_structure(), (resistance, torque_constant, back_emf_constant, bus_voltage, peak_torque))


@functools.cache
def _structure() -> Any:
    return jax.tree.structure(OperatingRegion(1.0, 1.0, 1.0, 1.0))


def _code(saturation: Saturation) -> Int[Array, "..."]:
    return jnp.asarray(saturation.value, dtype=jnp.int32)
