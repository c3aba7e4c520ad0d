"""How fast a command may move."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._bounded import bounded
from ._parameter import Parameter, positive_or_infinite
from ._setpoint import AbstractSetpoint
from ._stage import Scalar


class SlewLimiterParams(eqx.Module):
    """`slew_rate` s: largest change of the command per second (rad/s for an angle, rad/s^2 for a speed, V/s for a
    voltage), may be infinite."""

    slew_rate: Parameter = positive_or_infinite("command/s")


class SlewLimiterState(eqx.Module):
    """`previous_command`: the limited command of the step before, 0 at the start."""

    previous_command: Scalar


class SlewLimiter(AbstractSetpoint):
    """u <- clip(u, u_prev - s h, u_prev + s h), acting in the same step (MuJoCo DC motor note, "Setpoint Slew Rate").

    Of a command with several inputs only the first is limited, as in MuJoCo.
    """

    def init(self, params: SlewLimiterParams) -> SlewLimiterState:
        return SlewLimiterState(jnp.zeros_like(params.slew_rate))

    def step(
        self, state: SlewLimiterState, params: SlewLimiterParams, ctrl: Any, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[SlewLimiterState, Any]:
        del qpos, qvel
        command = jnp.asarray(ctrl)
        wanted = command[0] if command.ndim else command
        reach = params.slew_rate * dt
        reached = bounded(wanted, state.previous_command - reach, state.previous_command + reach)
        return SlewLimiterState(reached), command.at[0].set(reached) if command.ndim else reached
