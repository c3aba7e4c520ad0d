"""A gear with play: the rotor is a mass of its own, which meets the load only at the ends of a gap."""

import equinox as eqx
import jax.numpy as jnp

from ._exponential import phi2
from ._flow import Shaft, sign
from ._gear import AbstractGear, GearMotion, LoadSide, MotorSide, Slide
from ._parameter import Parameter, nonnegative, nonzero, positive
from ._stage import Scalar


class BacklashParams(eqx.Module):
    """`ratio` N [1]; `rotor_inertia` J [kg m^2] on the motor side; `gap` [rad] between the two contacts,
    `mesh_stiffness` k [N m/rad] and `mesh_damping` c [N m s/rad], all three at the joint."""

    ratio: Parameter = nonzero("1")
    rotor_inertia: Parameter = positive("kg m^2")
    gap: Parameter = nonnegative("rad")
    mesh_stiffness: Parameter = positive("N m/rad")
    mesh_damping: Parameter = nonnegative("N m s/rad", default=0.0)


class BacklashState(eqx.Module):
    """`rotor_angle` [rad] and `rotor_speed` [rad/s] of the motor shaft."""

    rotor_angle: Scalar
    rotor_speed: Scalar


class Backlash(AbstractGear):
    """T = k (x - gap/2) + c dx/dt while the twist x = theta / N - q exceeds gap/2 and T pushes, mirrored below -gap/2,
    zero in between (a dead-zone spring between two masses; Nordin and Gutman, Automatica 38, 2002, section 3).

    The mesh torque of a step is solved with the motion of both masses, by the midpoint rule (second order in contact)
    that leans towards backward Euler where the mesh is too fast for the step, so no stiffness is unstable; then each
    mass moves under it, drag and bristles on the rotor, dry friction on the load. The drive sees the rotor. A host
    engine gets the mesh torque and no reflected inertia: in `Actuator.step` the motor torque is held over the step.
    """

    def init(self, params: BacklashParams) -> BacklashState:
        zero = jnp.zeros_like(params.ratio)
        return BacklashState(zero, zero)

    def placed(self, state: BacklashState, params: BacklashParams, qpos: Scalar, qvel: Scalar) -> BacklashState:
        del state
        return BacklashState(params.ratio * qpos, params.ratio * qvel)

    def ratio(self, params: BacklashParams) -> Scalar:
        return params.ratio

    def reflected_inertia(self, params: BacklashParams) -> Scalar:
        return jnp.zeros_like(params.rotor_inertia)

    def rotor(self, state: BacklashState, params: BacklashParams, qpos: Scalar, qvel: Scalar) -> tuple[Scalar, Scalar]:
        del params, qpos, qvel
        return state.rotor_angle, state.rotor_speed

    def move(
        self,
        state: BacklashState,
        params: BacklashParams,
        motor: MotorSide,
        load: LoadSide,
        slide: Slide,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> GearMotion:
        mesh = _mesh_torque(state, params, motor, load, qpos, qvel, dt)
        rotor = Shaft(params.rotor_inertia, motor.damping, motor.torque - mesh / params.ratio, jnp.zeros_like(mesh))
        turned = slide(rotor, state.rotor_speed)
        moved = Shaft(load.inertia, load.damping, load.torque + mesh, load.budget).flow(qvel, dt)
        return GearMotion(
            BacklashState(state.rotor_angle + dt * turned.mean_qvel, turned.qvel),
            dt * moved.mean_qvel,
            moved.qvel,
            turned.mean_qvel,
            turned.qvel - state.rotor_speed,
            turned.friction_torque,
            mesh,
        )

    def follow(
        self,
        state: BacklashState,
        params: BacklashParams,
        torque: Scalar,
        slide: Slide,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> GearMotion:
        zero = jnp.zeros_like(qvel)
        immovable = LoadSide(jnp.full_like(qvel, jnp.inf), zero, zero, zero)
        return self.move(state, params, MotorSide(torque, zero), immovable, slide, qpos, qvel, dt)

    def joint_torque(self, params: BacklashParams, motion: GearMotion, torque: Scalar, dt: Scalar) -> Scalar:
        del params, torque, dt
        return motion.mesh_torque


def _mesh_torque(
    state: BacklashState,
    params: BacklashParams,
    motor: MotorSide,
    load: LoadSide,
    qpos: Scalar,
    qvel: Scalar,
    dt: Scalar,
) -> Scalar:
    """Mesh torque [N m] at the joint, constant over the step."""
    ratio = params.ratio
    twist = state.rotor_angle / ratio - qpos
    rotor_yield = phi2(-motor.damping / params.rotor_inertia * dt) / params.rotor_inertia
    load_yield = phi2(-load.damping / load.inertia * dt) / load.inertia
    rotor_drift = state.rotor_speed + dt * rotor_yield * (motor.torque - motor.damping * state.rotor_speed)

    def torque(load_drift, softness):
        # The twist at the end of the step is a line in the mesh torque: the two masses give way to it.
        drift = dt * (rotor_drift / ratio - load_drift)
        softness = dt**2 * softness
        fast = jnp.sqrt(params.mesh_stiffness * softness)
        # The midpoint rule would let a mesh that is faster than the step ring on.
        late = jnp.maximum(1 / 2, 1 - 1 / jnp.maximum(fast, jnp.ones_like(fast)))
        stiffness, damping = late * params.mesh_stiffness, params.mesh_damping / dt
        resistance = 1 + softness * (stiffness + damping)
        sum_ = jnp.zeros_like(qpos)
        for side in (1, -1):
            depth = side * twist - params.gap / 2
            within = depth + late * side * drift
            push = (params.mesh_stiffness * within + damping * side * drift) / resistance
            touching = (within > 0) & (push > 0)
            sum_ = sum_ + side * jnp.where(touching, push, jnp.zeros_like(push))
        return sum_

    rotor_softness = rotor_yield / ratio**2
    held = torque(jnp.zeros_like(qvel), rotor_softness)
    holds = (qvel == 0) & (jnp.abs(load.torque + held) <= load.budget)
    direction = jnp.where(qvel == 0, sign(load.torque + held), sign(qvel))
    net = load.torque - load.damping * qvel - direction * load.budget
    moving = torque(qvel + dt * load_yield * net, rotor_softness + load_yield)
    return jnp.where(holds, held, moving)
