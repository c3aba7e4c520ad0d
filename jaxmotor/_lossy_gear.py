"""A gear whose losses depend on which side drives."""

import equinox as eqx
import jax.numpy as jnp

from ._flow import sign
from ._gear import AbstractStiffGear, GearMotion, LoadSide, MotorSide
from ._mesh import Law, MeshedShaft
from ._parameter import Parameter, at_most_one, fraction, nonnegative, nonzero, positive
from ._stage import Scalar


class LossyGearParams(eqx.Module):
    """`ratio` N [1]; `rotor_inertia` J [kg m^2] on the motor side; `driving_efficiency` eta1 [1] when the motor drives
    and `driving_friction` b1 [N m]; `driven_efficiency` eta2 [1] when the load drives and `driven_friction` b2 [N m];
    both frictions on the motor side, of the gear's bearings."""

    ratio: Parameter = nonzero("1")
    rotor_inertia: Parameter = positive("kg m^2")
    driving_efficiency: Parameter = fraction("1")
    driven_efficiency: Parameter = at_most_one("1")
    driving_friction: Parameter = nonnegative("N m", default=0.0)
    driven_friction: Parameter = nonnegative("N m", default=0.0)


class LossyGear(AbstractStiffGear):
    """Modelica's LossyGear (Modelica.Mechanics.Rotational.Components), said on the transmitted torque.

    With tau the torque into the gear at the motor side and f the torque that leaves it, times 1/N: in forward motion

    tau = max((f + b1) / eta1, eta2 f + |eta2| b2),

    the first where the motor drives, the second where the load does; backward motion mirrors it, and at rest tau may
    lie anywhere between the two. For eta2 > 0 this is Modelica's loss = (1 - eta1) tau + b1 or (1 - 1/eta2) tau + b2.
    For eta2 <= 0 that form would create energy; this one locks against the load until the motor helps with
    |eta2| (|f| + b2), as a worm does. Nothing is lost where nothing is transmitted, so the no-load speed is that of the
    ideal gear. Drag and bristles act on the motor side of the losses; dry friction and the load's damping behind them.
    """

    def holding_torques(self, params: LossyGearParams, external_torque: Scalar) -> tuple[Scalar, Scalar]:
        """The motor torques [N m] between which the gear at rest holds `external_torque` [N m] on the joint."""
        f = -external_torque / params.ratio
        return -_needed(params, -f), _needed(params, f)

    def loss(self, params: LossyGearParams, torque: Scalar, qvel: Scalar) -> Scalar:
        """Motor-side loss [N m] in motion at joint or motor speed `qvel`, with `torque` [N m] into the gear.

        For eta2 <= 0 and a torque that does not help the motion, the loss is what the load makes it: the larger of zero
        and the driving loss is returned.
        """
        direction = sign(qvel * params.ratio)
        along = direction * torque
        driving = (1 - params.driving_efficiency) * along + params.driving_friction
        eta = params.driven_efficiency
        locks = eta <= 0
        driven = (1 - 1 / jnp.where(locks, jnp.ones_like(eta), eta)) * along + params.driven_friction
        return direction * jnp.maximum(driving, jnp.where(locks, jnp.zeros_like(driven), driven))

    def shaft(self, params: LossyGearParams, motor: MotorSide, load: LoadSide, speed: Scalar) -> MeshedShaft:
        ratio, eta1, eta2 = params.ratio, params.driving_efficiency, params.driven_efficiency
        inertia, damping = load.inertia / ratio**2, load.damping / ratio**2
        torque, budget = load.torque / ratio, load.budget * jnp.abs(1 / ratio)
        driving = Law(
            params.rotor_inertia + inertia / eta1,
            motor.damping + damping / eta1,
            motor.torque + torque / eta1,
            (budget + params.driving_friction) / eta1,
        )
        # A gear that locks would throw a heavy load's own inertia back at it (the paradox of Painleve): it is left out.
        carried = jnp.maximum(eta2, jnp.zeros_like(eta2))
        driven = Law(
            params.rotor_inertia + inertia * carried,
            motor.damping + damping * eta2,
            motor.torque + torque * eta2,
            budget * eta2 + params.driven_friction * jnp.abs(eta2),
        )
        return _at_speed(driving, driven, speed)

    def joint_torque(self, params: LossyGearParams, motion: GearMotion, torque: Scalar, dt: Scalar) -> Scalar:
        meshed = torque - params.rotor_inertia * motion.rotor_gain / dt
        lost = self.loss(params, meshed, motion.displacement)
        # At rest the loss is whatever holds the joint, like dry friction, and not part of this torque.
        return params.ratio * (torque - jnp.where(motion.displacement == 0, jnp.zeros_like(lost), lost))


def _needed(params: LossyGearParams, f: Scalar) -> Scalar:
    """The motor torque [N m] at which forward motion begins while the gear must deliver `f` [N m, motor side]."""
    eta = params.driven_efficiency
    return jnp.maximum(
        (f + params.driving_friction) / params.driving_efficiency, eta * f + jnp.abs(eta) * params.driven_friction
    )


def _at_speed(driving: Law, driven: Law, speed: Scalar) -> MeshedShaft:
    """The meshed shaft, with the law that holds at `speed` [rad/s] and the budget that both directions see there."""

    def acceleration(law, direction):
        return (direction * (law.torque - law.damping * speed) - law.resistance) / law.inertia

    direction = sign(speed)
    by_motor = acceleration(driving, direction) <= acceleration(driven, direction)

    def pick(name):
        return jnp.where(by_motor, getattr(driving, name), getattr(driven, name))

    forward, backward = [
        jnp.where(
            acceleration(driving, d) <= acceleration(driven, d),
            driving.torque - d * driving.resistance,
            driven.torque - d * driven.resistance,
        )
        for d in (1, -1)
    ]
    return MeshedShaft(
        pick("inertia"), pick("damping"), (forward + backward) / 2, (backward - forward) / 2, driving, driven
    )
