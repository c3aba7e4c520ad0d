"""One bristle: its deflection under a given speed, and its motion together with the shaft that bends it."""

import equinox as eqx
import jax
import jax.numpy as jnp

from ._exponential import phi1
from ._flow import AbstractShaft, Motion, sign
from ._kept import kept_value
from ._stage import Scalar


class BristleState(eqx.Module):
    """`deflection` z [rad] of the bristle at the motor shaft, 0 at the start."""

    deflection: Scalar


def hold(deflection: Scalar, stiffness: Scalar, level: Scalar, qvel: Scalar, dt: Scalar) -> Scalar:
    """The deflection after `dt` [s] at constant speed w, exact: dz/dt = a z + w with a = -sigma0 |w| / g.

    z_end = e^(a h) z + h phi1(a h) w (MuJoCo DC motor note, equation "zoh").
    """
    x = kept_value(-stiffness * jnp.abs(qvel) / level * dt, stiffness)
    return jnp.exp(x) * deflection + dt * phi1(x) * qvel


def move_bristle(
    deflection: Scalar,
    stiffness: Scalar,
    damping: Scalar,
    level: Scalar,
    shaft: AbstractShaft,
    qvel: Scalar,
    dt: Scalar,
) -> Motion:
    """Shaft and bristle after `dt` [s], both by backward Euler, with `level` g and `damping` sigma1 of the old speed.

    With z_end = (z + h w) / (1 + k h |w|), k = sigma0 / g, the friction torque is
    F = (sigma0 z + (sigma0 h + sigma1) w - sigma1 k z |w|) / (1 + k h |w|), and the balance
    M (w - w_old) / h = A - D w - F - b sgn(w) is a quadratic in |w|. In the direction in which the shaft is pushed at
    standstill it has exactly one positive root when the push exceeds the budget b, else the shaft holds. An iterative
    solution with the level of the new speed has a sticking and a sliding root, and finds the wrong one.
    """
    slip = stiffness / level
    mass = shaft.inertia + dt * shaft.damping
    push = shaft.inertia * qvel + dt * shaft.torque
    spring = dt * stiffness * deflection
    net = _settled(push - spring, jnp.abs(push) + jnp.abs(spring))
    direction = sign(net)
    held = jnp.abs(net) < dt * shaft.budget
    # Signed, and not `maximum(abs(net) - budget, 0)`: where bristles alone hold, net is zero, and its gradient must not
    # be halved or lost there. Without a budget nothing is held by it.
    excess = jnp.where(held, jnp.zeros_like(net), net - direction * dt * shaft.budget)
    square = mass * slip * dt
    linear = (
        mass
        + dt * (dt * stiffness + damping)
        - slip * dt * (direction * (push + damping * deflection) - dt * shaft.budget)
    )
    speed = _signed_root(square, linear, excess)
    spread = 1 + slip * dt * jnp.abs(speed)
    friction = (stiffness * (deflection + dt * speed) + damping * (speed - slip * jnp.abs(speed) * deflection)) / spread
    return Motion(speed, speed, -friction)


def _settled(net: Scalar, size: Scalar) -> Scalar:
    """`net`, and exactly zero where it is only the rounding of a balance of terms of that `size`; gradient kept.

    A shaft held by bristles then rests, and all of its derivatives are those of one side.
    """
    rounding = 4 * jnp.finfo(net.dtype).eps * size
    return jnp.where(jnp.abs(net) <= rounding, net - jax.lax.stop_gradient(net), net)


def _signed_root(square: Scalar, linear: Scalar, excess: Scalar) -> Scalar:
    """x with the sign of `excess` and square |x|^2 + linear |x| = |excess|, for square >= 0, without cancellation."""
    discriminant = jnp.square(linear) + 4 * square * jnp.abs(excess)
    real = discriminant > 0
    root = jnp.where(real, jnp.sqrt(jnp.where(real, discriminant, jnp.ones_like(linear))), jnp.zeros_like(linear))
    rising = linear > 0
    denominator = jnp.where(rising, linear + root, jnp.ones_like(linear))
    doubled = jnp.where(rising | (square <= 0), jnp.ones_like(square), 2 * square)
    return jnp.where(rising, 2 * excess / denominator, sign(excess) * (root - linear) / doubled)
