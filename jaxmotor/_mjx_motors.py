"""The motors of a MuJoCo model, and what they do to its joints in one step of the engine.

An engine integrates joint damping with its slope and adds joint armature to its mass matrix. So a motor gives it
three things besides a torque: the rotor's inertia N^2 J as armature; the slope -D of its losses (and, under implicit
integration, of its torque) as damping; and the rest of those losses, p(w) + D w, as an applied torque, so that their
sum is the loss itself.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ._actuator import Actuator, ActuatorParams, ActuatorState
from ._actuator_bank import ActuatorBank
from ._gear import Gear
from ._mjx_wiring import PerFreedom, PerMotor, PerTendon, Wiring
from ._stage import Scalar


class MotorsOutput(eqx.Module):
    """What each motor did in one step; readings belong to its start, torques act until its end.

    `qpos`, `qvel` [rad, rad/s] of its joint or tendon; `motor_torque` [N m] before and `joint_torque` [N m] after the
    gear; `drag_torque` [N m] at the joint; `voltage` [V], `current` [A], `electrical_power` [W] into the winding,
    negative while it feeds back; `temperature` [degC], not a number for a motor that does not heat; `copper_loss` [W];
    `saturation` (`Saturation` codes); `friction_budget` [N m].
    """

    qpos: PerMotor
    qvel: PerMotor
    motor_torque: PerMotor
    joint_torque: PerMotor
    drag_torque: PerMotor
    voltage: PerMotor
    current: PerMotor
    electrical_power: PerMotor
    temperature: PerMotor
    copper_loss: PerMotor
    saturation: Int[Array, "*motors"]
    friction_budget: PerMotor


class Reaction(eqx.Module):
    """What an engine must add to its own: `joint_torque` [N m] per motor; `applied` [N m], `armature` [kg m^2],
    `damping` [N m s/rad] and `friction` [N m] per freedom, and the last three per tendon."""

    joint_torque: PerMotor
    applied: PerFreedom
    armature: PerFreedom
    damping: PerFreedom
    friction: PerFreedom
    tendon_armature: PerTendon
    tendon_damping: PerTendon
    tendon_friction: PerTendon


class _Felt(eqx.Module):
    damping: Scalar
    armature: Scalar
    remainder: Scalar


class Motors(eqx.Module):
    """Actuators on the joints of a MuJoCo model, built alike or not; `mjx.put_model` makes one.

    Params and states are tuples with one entry per kind of actuator, stacked; `members` of the `bank` says which
    motors they are, `named` finds one. Batches come from `jax.vmap` over them.
    """

    names: tuple[str, ...] = eqx.field(static=True)
    wiring: Wiring = eqx.field(static=True)
    passed: tuple[tuple[int, int], ...] = eqx.field(static=True)
    bank: ActuatorBank

    def __check_init__(self):
        for kind in self.bank.kinds:
            if not isinstance(kind.gear, Gear):
                raise ValueError(f"an engine's joints need stiff gears, not {type(kind.gear).__name__}: take Gear")

    def init(self, params: tuple[ActuatorParams, ...]) -> tuple[ActuatorState, ...]:
        """Every motor cold and without current."""
        return self.bank.init(params)

    def named(self, tree: tuple[Any, ...], name: str) -> Any:
        """The entry of motor `name` in `tree`, the params or the states of all."""
        at = self.names.index(name)
        for members, mine in zip(self.bank.members, tree, strict=True):
            if at in members:
                return jax.tree.map(lambda x, row=members.index(at): x[row], mine)
        raise ValueError(f"no motor {name!r}; there are: {', '.join(self.names)}")

    def step(
        self,
        state: tuple[ActuatorState, ...],
        params: tuple[ActuatorParams, ...],
        ctrl: Float[Array, " inputs"],
        qpos: Float[Array, " positions"],
        qvel: Float[Array, " freedoms"],
        dt: Any,
        external_torque: Any = 0.0,
        implicit: bool = False,
    ) -> tuple[tuple[ActuatorState, ...], Reaction, MotorsOutput]:
        """Advance the motors by `dt` [s]: their states, what the engine must add, and what they did.

        `ctrl`, `qpos`, `qvel` are the MuJoCo model's own vectors; `external_torque` [N m] per freedom loads the gears;
        `implicit` puts the motors' own slope into the damping, as MuJoCo's implicitfast does.
        """
        if not self.names:
            return state, *self._nothing(qvel)
        dtype = params[0].motor.winding.resistance.dtype
        ctrl, qpos, qvel, dt = (jnp.asarray(x, dtype) for x in (ctrl, qpos, qvel, dt))
        external = self.wiring.carried(jnp.broadcast_to(jnp.asarray(external_torque, dtype), qvel.shape))
        angle, speed = self.wiring.angles(qpos), self.wiring.speeds(qvel)
        commands = tuple(self._commands(ctrl, members) for members in self.bank.members)

        def one(actuator, state, params, command, qpos, qvel, external):
            return _step_one(actuator, state, params, command, qpos, qvel, external, dt, implicit)

        state, (felt, out) = self.bank.each(one, (state, params, commands), angle, speed, external)
        per_joint = self.wiring.at_freedoms, self.wiring.at_tendons
        armature, damping, friction = (
            [put(x) for put in per_joint] for x in (felt.armature, felt.damping, out.friction_budget)
        )
        return (
            state,
            Reaction(
                joint_torque=out.joint_torque,
                applied=self.wiring.torques(felt.remainder),
                armature=armature[0],
                damping=damping[0],
                friction=friction[0],
                tendon_armature=armature[1],
                tendon_damping=damping[1],
                tendon_friction=friction[1],
            ),
            out,
        )

    def _nothing(self, qvel: Array) -> tuple[Reaction, MotorsOutput]:
        empty, freedoms, tendons = (jnp.zeros(n, qvel.dtype) for n in (0, self.wiring.freedoms, self.wiring.tendons))
        quiet = Reaction(empty, freedoms, freedoms, freedoms, freedoms, tendons, tendons, tendons)
        codes = empty.astype(jnp.int32)
        return quiet, MotorsOutput(empty, empty, empty, empty, empty, empty, empty, empty, empty, empty, codes, empty)

    def _commands(self, ctrl: Array, members: tuple[int, ...]) -> Array:
        rows = [self.wiring.wires[k].inputs for k in members]
        if len(rows[0]) == 1:
            return ctrl[jnp.array([row[0] for row in rows])]
        return ctrl[jnp.array(rows, int)] if rows[0] else jnp.zeros((len(rows), 0), ctrl.dtype)


def _step_one(actuator, state, params, command, qpos, qvel, external, dt, implicit):
    ratio = actuator.gear.ratio(params.gear)

    def drag(speed):
        return actuator.drag.torque(params.drag, ratio, speed)

    loss, slope = jax.jvp(drag, (qvel,), (jnp.ones_like(qvel),))
    if implicit:
        slope = slope + _motor_slope(actuator, state, params, command, qpos, qvel, dt) * ratio**2
    state, out = actuator.step(state, params, command, qpos, qvel, dt)
    felt = _Felt(damping=-slope, armature=ratio**2 * params.gear.rotor_inertia, remainder=loss - slope * qvel)
    return state, (
        felt,
        MotorsOutput(
            qpos=qpos,
            qvel=qvel,
            motor_torque=out.motor_torque,
            joint_torque=out.joint_torque,
            drag_torque=loss,
            voltage=out.voltage,
            current=out.current,
            electrical_power=out.voltage * out.current,
            temperature=jnp.full_like(qvel, jnp.nan) if out.temperature is None else out.temperature,
            copper_loss=out.copper_loss,
            saturation=out.saturation,
            friction_budget=actuator.dry_friction.budget(params.dry_friction, qvel, out.joint_torque, external),
        ),
    )


def _motor_slope(
    actuator: Actuator, state: Any, params: Any, command: Any, qpos: Scalar, qvel: Scalar, dt: Scalar
) -> Scalar:
    """Speed derivative of the motor torque [N m s/rad] at its shaft, as in `ImplicitFast`."""
    params, row = actuator.at_row(params, command)
    theta, omega = actuator.gear.rotor(state.gear, params.gear, qpos, qvel)

    def electrical(speed):
        ordered, request = actuator.command(state, params, row, theta, speed, dt)
        _, driven = actuator.drive(ordered, params, row, request, theta, speed, dt)
        return driven.motor.electrical_torque

    _, slope = jax.jvp(electrical, (omega,), (jnp.ones_like(omega),))
    return slope - actuator.motor.bristle.damping(params.motor.bristle, omega)
