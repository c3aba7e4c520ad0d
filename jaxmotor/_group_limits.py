"""What a group of actuators can do, and what it adds to the joints: read-outs that need no step."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from ._actuator import Actuator, ActuatorParams
from ._actuator_bank import ActuatorBank
from ._bus import AbstractBus, PerActuator, SeparateBuses
from ._drag import NoDrag
from ._enforcement import AbstractEnforcement, Monitored
from ._limits import Unlimited
from ._motor_numbers import check_positive
from ._region import OperatingRegion, region_of
from ._transmission import Matrix, Transmission, to_joints, to_motors

PerJoint = Float[Array, " joints"]


class AbstractGroupLimits(eqx.Module):
    """The read-outs of an `ActuatorGroup`."""

    names: eqx.AbstractVar[tuple[str, ...]]
    wiring: eqx.AbstractVar[Transmission]
    bank: eqx.AbstractVar[ActuatorBank]
    bus: eqx.AbstractVar[AbstractBus]
    enforcement: eqx.AbstractVar[AbstractEnforcement]

    def transmission(self, params: Any) -> Matrix:
        """T, one row per actuator and one column per joint: motor speeds = T · joint speeds."""
        return self.wiring.matrix(self.gear_ratio(params), params.coupling_ratio)

    def motor_speed(self, params: Any, qvel: ArrayLike) -> PerActuator:
        """Motor speeds [rad/s] at these joint speeds [rad/s], couplings included."""
        return to_motors(self.transmission(params), self._float(params, qvel))

    def gear_ratio(self, params: Any) -> PerActuator:
        """Motor speed per unit speed of the driven joint [1]."""
        return self._gather(params, lambda actuator, p: actuator.gear.ratio(p.gear))

    def bus_voltage(self, params: Any) -> PerActuator:
        """The bus voltage of each actuator's params [V]; a shared supply is asked by `step` instead."""
        return self._gather(params, lambda actuator, p: p.supply.bus_voltage)

    def rotor_inertia(self, params: Any) -> PerActuator:
        """Inertia of each rotor on its own side of the gear [kg m^2]."""
        return self._gather(params, lambda actuator, p: p.gear.rotor_inertia)

    def reflected_inertia(self, params: Any, off_diagonal: bool = True) -> Float[Array, "joints joints"]:
        """T' J T [kg m^2], what the rotors add to the joint-space inertia.

        With `off_diagonal=False` the terms between joints are dropped, which is what engines with one rotor inertia or
        armature per joint simulate (RaiSim's rule, MuJoCo's `armature`): the diagonal is what to set there.
        """
        matrix = self.transmission(params)
        full = jnp.matmul(matrix.T * self.rotor_inertia(params)[None], matrix, precision="highest")
        return full if off_diagonal else jnp.diag(jnp.diag(full))

    def damping(self, params: Any) -> PerJoint:
        """Viscous damping of each joint [N m s/rad]: its own and `output_damping` of the actuator on it."""
        return params.joint_damping + self.wiring.at_driven_joints(params.output_damping)

    def friction(self, params: Any, qvel: ArrayLike | None = None) -> PerJoint:
        """Largest friction torque of each joint [N m] at joint speeds `qvel` [rad/s], at rest if left out: its own, and
        `output_friction` and the dry friction of the actuator on it."""
        rest = jnp.zeros_like(params.joint_friction)
        speed = self.wiring.of_driven_joints(rest if qvel is None else self._float(params, qvel))

        def budget(actuator, p, w):
            return None, actuator.dry_friction.budget(p.dry_friction, w, jnp.zeros_like(w), jnp.zeros_like(w))

        own = self.bank.each(budget, (params.actuators,), speed)[1]
        return params.joint_friction + self.wiring.at_driven_joints(params.output_friction + own)

    def drag_torque(self, params: Any, qvel: ArrayLike) -> PerJoint:
        """Torque on the joints [N m] of the drag of the motors' own shafts, which turn with couplings too."""
        if all(isinstance(kind.drag, NoDrag) for kind in self.bank.kinds):
            # A product of the transmission with zeros is one that the compiler keeps.
            return jnp.zeros_like(params.joint_damping)
        matrix = self.transmission(params)

        def drag(actuator, p, speed):
            ratio = actuator.gear.ratio(p.gear)
            return None, actuator.drag.torque(p.drag, ratio, speed / ratio) / ratio

        speed = to_motors(matrix, self._float(params, qvel))
        return to_joints(matrix, self.bank.each(drag, (params.actuators,), speed)[1])

    def loss_torque(self, params: Any, qvel: ArrayLike, other_torque: ArrayLike) -> PerJoint:
        """Torque of drag, damping and friction on each joint [N m]; `other_torque` [N m] is all else that acts on it.

        -b u - c sgn(u) while it moves; at rest friction holds against the others as long as they stay below c (RaiSim,
        "The motor model"), with `drag_torque` beside it.
        """
        speed, other = self._float(params, qvel), self._float(params, other_torque)
        drag, budget = self.drag_torque(params, speed), self.friction(params, speed)
        holding = -jnp.clip(other + drag, -budget, budget)
        return drag + jnp.where(speed == 0, holding, -self.damping(params) * speed - budget * jnp.sign(speed))

    def damping_torque(self, params: Any, qvel: ArrayLike, qvel_after: ArrayLike) -> PerJoint:
        """Damping over a step by the trapezoidal rule [N m]: -b (u_t + u_t+1) / 2 (RaiSim, as `step`), `drag_torque`
        left aside."""
        mean = (self._float(params, qvel) + self._float(params, qvel_after)) / 2
        return -self.damping(params) * mean

    def average_motor_speed(self, params: Any, qvel: ArrayLike, qvel_after: ArrayLike) -> PerActuator:
        """Motor speeds over a step [rad/s]; times `motor_torque` they are the mechanical power of each motor [W]."""
        mean = (self._float(params, qvel) + self._float(params, qvel_after)) / 2
        return to_motors(self.transmission(params), mean)

    def regions(self, params: Any) -> OperatingRegion:
        """The operating region of each motor, cold, at the bus voltage of its params."""

        def numbers(actuator, p):
            winding = p.motor.winding
            return region_of(
                winding.resistance,
                winding.torque_constant,
                winding.back_emf_constant,
                p.supply.bus_voltage,
                peak_torque(actuator, p),
            )

        return self._gather(params, numbers)

    def torque_bounds(self, params: Any, qvel: ArrayLike) -> tuple[PerActuator, PerActuator]:
        """Lowest and highest torque at each gear output [N m] that the next step lets through.

        At the bus voltage of the params, with cold windings and without the losses of gears; infinite in monitor mode.
        Beyond its overspeed limit a motor under a current limit goes further: the bus is too low to hold the current.
        """
        lower, upper = self.enforcement.bounds(self.regions(params).bounds(self.motor_speed(params, qvel)))
        ratio = self.gear_ratio(params)
        return jnp.minimum(ratio * lower, ratio * upper), jnp.maximum(ratio * lower, ratio * upper)

    def scale_action(self, params: Any, qvel: ArrayLike, action: ArrayLike) -> PerActuator:
        """Torques at the gear outputs [N m] for actions in [-1, 1]: (lower + upper) / 2 + (upper - lower) / 2 · action.

        **Raises:** `ValueError` in monitor mode, where the bounds are infinite.
        """
        if isinstance(self.enforcement, Monitored):
            raise ValueError(
                "scale_action needs finite torque bounds, but in monitor mode there are none: use Enforced"
            )
        lower, upper = self.torque_bounds(params, qvel)
        return (lower + upper) / 2 + (upper - lower) / 2 * self._float(params, action)

    def stable_step(self, params: Any, inertia: ArrayLike) -> Float[Array, ""]:
        """The longest step [s] with which motors at their voltage limit settle instead of oscillating.

        At that limit a motor is a damper b = Kt Ke / R, and its torque follows the speed at the start of the step: with
        the joint-space inertia M + T' J T, 2 / (largest eigenvalue of (M + T' J T)^-1 T' b T). For one joint this is
        2 I R / (N^2 Kt Ke) (RaiSim, "Time step and the voltage limit"). `inertia` is M without the rotors, a matrix or
        its diagonal [kg m^2].
        """
        given = self._float(params, inertia)
        mass = (jnp.diag(given) if given.ndim == 1 else given) + self.reflected_inertia(params)
        matrix = self.transmission(params)
        damper = jnp.matmul(matrix.T * self.regions(params).back_emf_damping[None], matrix, precision="highest")
        half = jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(mass), damper, lower=True)
        rates = jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(mass), half.T, lower=True)
        return 2 / jnp.max(jnp.linalg.eigvalsh(rates))

    def with_bus_voltage(self, params: Any, volts: ArrayLike, name: str | None = None) -> Any:
        """The params with another bus voltage [V], of all actuators or of the one called `name`. Works inside `jit`.

        **Raises:** `ValueError` for an unknown name, a voltage that is not positive and finite, and for a group on a
        common bus, whose voltage is not a parameter.
        """
        if not isinstance(self.bus, SeparateBuses):
            raise ValueError(f"the bus voltage of this group follows from its {type(self.bus).__name__}")
        check_positive("bus_voltage", volts)
        chosen = np.ones(self.bank.size, bool) if name is None else np.arange(self.bank.size) == self.index(name)
        new = jnp.broadcast_to(self._float(params, volts), (self.bank.size,))
        buses = [
            jnp.where(chosen[np.array(at, int)], new[np.array(at, int)], kind.supply.bus_voltage)
            for kind, at in zip(params.actuators, self.bank.members, strict=True)
        ]
        return eqx.tree_at(lambda p: [kind.supply.bus_voltage for kind in p.actuators], params, buses)

    def index(self, name: str) -> int:
        """The position of an actuator. **Raises:** `ValueError` for an unknown name."""
        if name not in self.names:
            raise ValueError(f"there is no actuator named {name!r}; the group has: {', '.join(self.names) or 'none'}")
        return self.names.index(name)

    def _gather(self, params: Any, read: Any) -> Any:
        return self.bank.each(lambda actuator, p: (None, read(actuator, p)), (params.actuators,))[1]

    def _float(self, params: Any, x: ArrayLike) -> Array:
        dtype = params.output_damping.dtype
        return x if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.floating) else jnp.asarray(x, dtype)


def peak_torque(actuator: Actuator, params: ActuatorParams) -> Float[Array, ""]:
    """The largest electrical torque [N m] of a cold motor by its torque and current limits, infinite without them."""
    winding = params.motor.winding
    infinite = jnp.full_like(winding.resistance, jnp.inf)
    core = infinite if isinstance(actuator.motor.limit, Unlimited) else params.motor.limit.peak_torque
    current = actuator.current_limit.largest_current(params.current_limit, winding.resistance)
    finite = jnp.isfinite(current)
    made = actuator.motor.torque_law.torque(
        params.motor.torque_law, winding.torque_constant, jnp.where(finite, current, jnp.zeros_like(current))
    )
    return jnp.minimum(core, jnp.where(finite, made, infinite))
