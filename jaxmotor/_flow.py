"""One step of a shaft under constant torque, linear damping and dry friction, in closed form.

M dw/dt = A - D w - b sgn(w) while it slides; at w = 0 it holds as long as |A| <= b. The step finds the instant at
which the shaft stops, holds it there or starts it the other way, and integrates angle and speed exactly.
"""

import abc

import equinox as eqx
import jax.numpy as jnp

from ._exponential import log1p_ratio, phis
from ._stage import Scalar


class Motion(eqx.Module):
    """End `qvel` and mean `mean_qvel` [rad/s] of the step, and `friction_torque` [N m]: the mean torque that a bristle
    put on the shaft (dry friction left aside)."""

    qvel: Scalar
    mean_qvel: Scalar
    friction_torque: Scalar


class AbstractShaft(eqx.Module):
    """What moves one shaft during a step, all on the side of the gear where the friction acts.

    `inertia` M [kg m^2], `damping` D [N m s/rad] (any sign), `torque` A [N m] at zero speed, dry-friction `budget`
    b >= 0 [N m], of the law that holds at the present speed.
    """

    inertia: eqx.AbstractVar[Scalar]
    damping: eqx.AbstractVar[Scalar]
    torque: eqx.AbstractVar[Scalar]
    budget: eqx.AbstractVar[Scalar]

    @abc.abstractmethod
    def flow(self, qvel: Scalar, dt: Scalar) -> Motion:
        """The motion from speed `qvel` [rad/s] over `dt` [s], exact for constant coefficients."""

    @abc.abstractmethod
    def implicit(self, qvel: Scalar, dt: Scalar) -> Motion:
        """The same by one backward-Euler step, in which friction stops the shaft but cannot reverse it."""


def sign(x: Scalar) -> Scalar:
    """The direction of x, with +1 at rest: no dead spot for a gradient, unlike `jnp.sign`."""
    return jnp.where(x < 0, -jnp.ones_like(x), jnp.ones_like(x))


def slide(qvel: Scalar, acceleration: Scalar, rate: Scalar, duration: Scalar) -> tuple[Scalar, Scalar]:
    """dw/dt = acceleration - rate w: end speed and displacement after `duration`, exact.

    w_end = w + (a - r w) t phi1(-r t), displacement = w t + (a - r w) t^2 phi2(-r t).
    """
    first, second = phis(-rate * duration)
    gained = (acceleration - rate * qvel) * duration
    return qvel + gained * first, (qvel + gained * second) * duration


def time_to_reach_zero(speed: Scalar, deceleration: Scalar, rate: Scalar) -> Scalar:
    """When dw/dt = -deceleration - rate w takes `speed` >= 0 to zero; the largest finite number where it never does.

    t = log(1 + r w / d) / r, written t = (w / d) log1p_ratio(r w / d), for d > 0 and r w / d > -1.
    """
    stops = deceleration > 0
    safe = jnp.where(stops, deceleration, jnp.ones_like(deceleration))
    growth = rate * speed / safe
    # With negative damping a fast shaft outruns its friction and never stops.
    stops = stops & (growth > -1) & jnp.isfinite(growth)
    bounded = jnp.where(stops, growth, jnp.zeros_like(growth))
    never = jnp.full_like(speed, jnp.finfo(speed.dtype).max)
    return jnp.where(stops, speed / safe * log1p_ratio(bounded), never)


class Shaft(AbstractShaft):
    """A shaft under one law for both directions and all speeds."""

    inertia: Scalar
    damping: Scalar
    torque: Scalar
    budget: Scalar

    def flow(self, qvel: Scalar, dt: Scalar) -> Motion:
        rate = self.damping / self.inertia
        direction = sign(qvel)
        sliding = (self.torque - direction * self.budget) / self.inertia
        # Not the absolute value of the speed: its gradient at rest is zero, and with it that of the whole motion.
        stop = jnp.minimum(time_to_reach_zero(direction * qvel, -direction * sliding, rate), dt)
        speed_before, angle_before = slide(qvel, sliding, rate, stop)
        excess = jnp.maximum(jnp.abs(self.torque) - self.budget, jnp.zeros_like(self.torque))
        restart = sign(self.torque) * excess / self.inertia
        speed_after, angle_after = slide(jnp.zeros_like(qvel), restart, rate, dt - stop)
        speed = jnp.where(stop < dt, speed_after, speed_before)
        return Motion(speed, (angle_before + angle_after) / dt, jnp.zeros_like(qvel))

    def implicit(self, qvel: Scalar, dt: Scalar) -> Motion:
        # The division does not wait for the torque: it is off the path that leads from one step's speed to the next.
        mobility = 1 / (self.inertia + dt * self.damping)
        momentum, spent, rest = self.inertia * qvel + dt * self.torque, dt * self.budget, jnp.zeros_like(qvel)
        kept = jnp.maximum(momentum - spent, rest) + jnp.minimum(momentum + spent, rest)
        speed = kept * mobility
        return Motion(speed, speed, jnp.zeros_like(qvel))
