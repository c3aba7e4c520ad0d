"""Newton's explicit drives, as controllers: the law of the command is Newton's, the motor behind it is any of ours.

Their torque goes through the supply and the limits of the `Actuator`, which is what Newton's clamps do to it: with
`TorqueLimit` alone it is a drive with `ClampingMaxEffort`, with a bus and `TorqueLimit` one with `ClampingDCMotor`.
Newton has no gears: angles, speeds and torques are those of the motor.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._controller import AbstractController, Demand
from ._parameter import Parameter, nonnegative, nonnegative_or_infinite, real
from ._request import TorqueRequest
from ._setpoint import AbstractSetpoint
from ._stage import Scalar


class NewtonPDParams(eqx.Module):
    """`proportional_gain` kp [N m/rad], `derivative_gain` kd [N m s/rad], `constant_effort` [N m]."""

    proportional_gain: Parameter = nonnegative("N m/rad")
    derivative_gain: Parameter = nonnegative("N m s/rad", default=0.0)
    constant_effort: Parameter = real("N m", default=0.0)


class NewtonPD(AbstractController):
    """tau = const + ff + kp (q* - q) + kd (qd* - qd) (Newton `DrivePD`); the command is (q*, qd*, ff)."""

    def init(self, params: NewtonPDParams) -> None:
        del params

    def step(
        self, state: None, params: NewtonPDParams, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, TorqueRequest]:
        del state, dt
        position, speed, feedforward = ctrl.command
        pull = params.proportional_gain * (position - qpos) + params.derivative_gain * (speed - qvel)
        return None, TorqueRequest(params.constant_effort + feedforward + pull)


class NewtonPIDParams(eqx.Module):
    """`proportional_gain` kp [N m/rad], `derivative_gain` kd [N m s/rad], `integral_gain` ki [N m/(rad s)],
    `integral_bound` [rad s], may be infinite, and `constant_effort` [N m]."""

    proportional_gain: Parameter = nonnegative("N m/rad")
    derivative_gain: Parameter = nonnegative("N m s/rad")
    integral_gain: Parameter = nonnegative("N m/(rad s)")
    integral_bound: Parameter = nonnegative_or_infinite("rad s", default=jnp.inf)
    constant_effort: Parameter = real("N m", default=0.0)


class NewtonPIDState(eqx.Module):
    """`integral` s of the position error [rad s]."""

    integral: Scalar


class NewtonPID(AbstractController):
    """s <- clip(s + dt (q* - q), ± bound), tau = const + ff + kp (q* - q) + ki s + kd (qd* - qd) (Newton `DrivePID`).

    The command is (q*, qd*, ff). Unlike MuJoCo's, the integral already holds this step's error when it is used.
    """

    def init(self, params: NewtonPIDParams) -> NewtonPIDState:
        return NewtonPIDState(jnp.zeros_like(params.integral_gain))

    def step(
        self, state: NewtonPIDState, params: NewtonPIDParams, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[NewtonPIDState, TorqueRequest]:
        position, speed, feedforward = ctrl.command
        error = position - qpos
        integral = jnp.clip(state.integral + dt * error, -params.integral_bound, params.integral_bound)
        pull = params.proportional_gain * error + params.derivative_gain * (speed - qvel)
        torque = params.constant_effort + feedforward + pull + params.integral_gain * integral
        return NewtonPIDState(integral), TorqueRequest(torque)


class NewtonDelayParams(eqx.Module):
    """`delay` in steps of the actuator; Newton's are whole, others are read between two commands."""

    delay: Parameter = nonnegative("step")


class NewtonDelayState(eqx.Module):
    """`past_commands`, newest first, and how many steps have passed since the start (`age`)."""

    past_commands: Float[Array, "length ..."]
    age: Scalar


class NewtonDelay(AbstractSetpoint):
    """out(t) = command(max(t - delay, t_start)) (Newton `Delay`): at first the oldest command is repeated.

    `length` past commands are held; `inputs` is the number of inputs of the command, `None` for a scalar command. To
    reset some elements of a batch, put the state of `init` in their place.
    """

    length: int = eqx.field(static=True)
    inputs: int | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        if self.length < 1:
            raise ValueError(f"NewtonDelay(length={self.length}) holds no past command: it must be 1 or more")

    def init(self, params: NewtonDelayParams) -> NewtonDelayState:
        shape = (self.length,) if self.inputs is None else (self.length, self.inputs)
        return NewtonDelayState(jnp.zeros(shape, params.delay.dtype), jnp.zeros_like(params.delay))

    def step(
        self, state: NewtonDelayState, params: NewtonDelayParams, ctrl: Any, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[NewtonDelayState, Any]:
        del qpos, qvel, dt
        known = jnp.concatenate([jnp.asarray(ctrl)[None], state.past_commands])
        back = jnp.minimum(jnp.minimum(params.delay, state.age), jnp.full_like(state.age, self.length))
        whole = jnp.clip(jnp.floor(back).astype(jnp.int32), 0, self.length - 1)
        newer, older = known[whole], known[whole + 1]
        # Counting on would lose precision in float32 after 16 million steps, and nothing reads further back.
        age = jnp.minimum(state.age + 1, jnp.full_like(state.age, self.length))
        return NewtonDelayState(known[:-1], age), newer + (back - whole.astype(back.dtype)) * (older - newer)
