"""A shaft through a gear whose loss is piecewise linear in torque: two laws, of which the slower one holds.

In the direction d of motion, with s = |w|, each law k reads M_k ds/dt = d A_k - B_k - D_k s, and ds/dt is the smaller
of the two. So the motion is that of one linear law until the speed at which the laws cross, then that of the other,
each exactly; at rest the shaft holds while neither direction has a positive push under both laws.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool

from ._exponential import log1p_ratio
from ._flow import AbstractShaft, Motion, sign, slide
from ._stage import Scalar


class Law(eqx.Module):
    """`inertia` M [kg m^2], `damping` D [N m s/rad], `torque` A [N m] and `resistance` B [N m] of one law."""

    inertia: Scalar
    damping: Scalar
    torque: Scalar
    resistance: Scalar


class MeshedShaft(AbstractShaft):
    """A shaft under the laws `driving` and `driven`; the other fields describe it at the present speed."""

    inertia: Scalar
    damping: Scalar
    torque: Scalar
    budget: Scalar
    driving: Law
    driven: Law

    def flow(self, qvel: Scalar, dt: Scalar) -> Motion:
        direction = sign(qvel)
        speed, angle, left = _run(self._lines(direction), direction * qvel, dt)
        forward, backward = self._push(jnp.ones_like(qvel)), self._push(-jnp.ones_like(qvel))
        turn = jnp.where(backward > 0, -jnp.ones_like(qvel), jnp.ones_like(qvel))
        moves = (forward > 0) | (backward > 0)
        again = jnp.where(moves, left, jnp.zeros_like(left))
        speed_after, angle_after, _ = _run(self._lines(turn), jnp.zeros_like(qvel), again)
        end = jnp.where(left > 0, turn * speed_after, direction * speed)
        return Motion(end, (direction * angle + turn * angle_after) / dt, jnp.zeros_like(qvel))

    def implicit(self, qvel: Scalar, dt: Scalar) -> Motion:
        rest = jnp.zeros_like(qvel)
        ends = [
            [law.inertia * qvel + dt * (law.torque - direction * law.resistance) for law in (self.driving, self.driven)]
            for direction in (1, -1)
        ]
        masses = [law.inertia + dt * law.damping for law in (self.driving, self.driven)]
        forward = jnp.minimum(ends[0][0] / masses[0], ends[0][1] / masses[1])
        backward = jnp.maximum(ends[1][0] / masses[0], ends[1][1] / masses[1])
        speed = jnp.maximum(forward, rest) + jnp.minimum(backward, rest)
        return Motion(speed, speed, rest)

    def _lines(self, direction: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """ds/dt = p - r s of either law: p, r of the driving one, p, r of the driven one."""
        one, two = self.driving, self.driven
        return (
            (direction * one.torque - one.resistance) / one.inertia,
            one.damping / one.inertia,
            (direction * two.torque - two.resistance) / two.inertia,
            two.damping / two.inertia,
        )

    def _push(self, direction: Scalar) -> Scalar:
        p1, _, p2, _ = self._lines(direction)
        return jnp.minimum(p1, p2)


def _run(
    lines: tuple[Scalar, Scalar, Scalar, Scalar], speed: Scalar, duration: Scalar
) -> tuple[Scalar, Scalar, Scalar]:
    """From `speed` >= 0 until `duration` or standstill: end speed, angle, and the time that is left."""
    p1, r1, p2, r2 = lines
    first = p1 - r1 * speed <= p2 - r2 * speed
    p, r = jnp.where(first, p1, p2), jnp.where(first, r1, r2)
    q, s = jnp.where(first, p2, p1), jnp.where(first, r2, r1)
    parallel = r == s
    crossing = (p - q) / jnp.where(parallel, jnp.ones_like(r), r - s)
    switch = _time_to_reach(crossing, speed, p, r, ~parallel & (crossing > 0))
    stop = _time_to_reach(jnp.zeros_like(speed), speed, p, r, jnp.full_like(speed, True, dtype=bool))
    until = jnp.minimum(jnp.minimum(switch, stop), duration)
    speed_one, angle_one = slide(speed, p, r, until)
    switched = (switch < stop) & (switch < duration)
    rest = jnp.where(switched, duration - until, jnp.zeros_like(duration))
    stop_two = _time_to_reach(jnp.zeros_like(speed), speed_one, q, s, switched)
    until_two = jnp.minimum(stop_two, rest)
    speed_two, angle_two = slide(speed_one, q, s, until_two)
    left = jnp.where(switched, rest - until_two, duration - until)
    return speed_two, angle_one + angle_two, left


def _time_to_reach(
    target: Scalar, speed: Scalar, acceleration: Scalar, rate: Scalar, possible: Bool[Array, ""]
) -> Scalar:
    """When ds/dt = a - r s takes `speed` to `target`; the largest finite number where it never does.

    t = log((a - r s) / (a - r s*)) / r, written g log1p_ratio(r g) with g = (s* - s) / (a - r s*).
    """
    never = jnp.full_like(speed, jnp.finfo(speed.dtype).max)
    goal = acceleration - rate * target
    possible = possible & (goal != 0)
    gap = (target - speed) / jnp.where(possible, goal, jnp.ones_like(goal))
    # A shaft at rest that is pushed back has stopped at once, and so has one so slow that the gap rounds to nothing.
    standing = (gap == 0) & (target == 0) & (goal < 0)
    possible = possible & ((gap > 0) | standing) & (rate * gap > -1) & jnp.isfinite(rate * gap)
    gap = jnp.where(possible, gap, jnp.zeros_like(gap))
    return jnp.where(possible, gap * log1p_ratio(rate * gap), never)
