"""One step of a shaft under constant torque, linear damping and dry friction, in closed form.

M dw/dt = A - D w - b sgn(w) while it slides; at w = 0 it holds as long as |A| <= b. The step finds the instant at
which the shaft stops, holds it there or starts it the other way, and integrates angle and speed exactly.
"""

import equinox as eqx
import jax.numpy as jnp

from ._exponential import log1p_ratio, phi1, phi2
from ._stage import Scalar


class Shaft(eqx.Module):
    """What moves one shaft during a step, all on the side of the gear where the friction acts.

    `inertia` M [kg m^2], `damping` D [N m s/rad] (any sign), `torque` A [N m] at zero speed, dry-friction `budget`
    b >= 0 [N m].
    """

    inertia: Scalar
    damping: Scalar
    torque: Scalar
    budget: Scalar


class Motion(eqx.Module):
    """End `qvel` [rad/s], `displacement` [rad] over the step, and `friction_torque` [N m]: the mean torque that a
    bristle put on the shaft (dry friction left aside)."""

    qvel: Scalar
    displacement: Scalar
    friction_torque: Scalar


def sign(x: Scalar) -> Scalar:
    """The direction of x, with +1 at rest: no dead spot for a gradient, unlike `jnp.sign`."""
    return jnp.where(x < 0, -jnp.ones_like(x), jnp.ones_like(x))


def _slide(qvel: Scalar, acceleration: Scalar, rate: Scalar, duration: Scalar) -> tuple[Scalar, Scalar]:
    """dw/dt = acceleration - rate w: end speed and displacement after `duration`, exact.

    w_end = w + (a - r w) t phi1(-r t), displacement = w t + (a - r w) t^2 phi2(-r t).
    """
    x = -rate * duration
    gained = (acceleration - rate * qvel) * duration
    return qvel + gained * phi1(x), (qvel + gained * phi2(x)) * duration


def _time_to_stop(speed: Scalar, deceleration: Scalar, rate: Scalar) -> Scalar:
    """When dw/dt = -deceleration - rate w takes `speed` >= 0 to zero; the largest finite number where it never does.

    t = log(1 + r w / d) / r, written t = (w / d) log1p_ratio(r w / d), for d > 0 and r w / d > -1.
    """
    stops = deceleration > 0
    safe = jnp.where(stops, deceleration, jnp.ones_like(deceleration))
    growth = rate * speed / safe
    stops = stops & (growth > -1) & jnp.isfinite(growth)
    # With negative damping a fast shaft outruns its friction and never stops.
    bounded = jnp.where(stops, growth, jnp.zeros_like(growth))
    never = jnp.full_like(speed, jnp.finfo(speed.dtype).max)
    return jnp.where(stops, speed / safe * log1p_ratio(bounded), never)


def flow(shaft: Shaft, qvel: Scalar, dt: Scalar) -> Motion:
    """The motion of `shaft` from speed `qvel` [rad/s] over `dt` [s], exact for constant coefficients."""
    rate = shaft.damping / shaft.inertia
    direction = sign(qvel)
    sliding = (shaft.torque - direction * shaft.budget) / shaft.inertia
    # Not the absolute value of the speed: its gradient at rest is zero, and with it that of the whole motion.
    stop = jnp.minimum(_time_to_stop(direction * qvel, -direction * sliding, rate), dt)
    speed_before, angle_before = _slide(qvel, sliding, rate, stop)
    excess = jnp.maximum(jnp.abs(shaft.torque) - shaft.budget, jnp.zeros_like(shaft.torque))
    restart = sign(shaft.torque) * excess / shaft.inertia
    speed_after, angle_after = _slide(jnp.zeros_like(qvel), restart, rate, dt - stop)
    stopped = stop < dt
    return Motion(
        jnp.where(stopped, speed_after, speed_before), angle_before + angle_after, jnp.zeros_like(shaft.torque)
    )
