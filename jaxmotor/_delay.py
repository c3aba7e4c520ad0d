"""A command that arrives late."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._parameter import Parameter, nonnegative
from ._setpoint import AbstractSetpoint
from ._stage import Scalar


class DelayParams(eqx.Module):
    """`delay` [s], from the row of a command to the instant at which the next stage sees it."""

    delay: Parameter = nonnegative("s")


class DelayState(eqx.Module):
    """`past_commands`, newest first; zero at the start, as if the command had always been zero."""

    past_commands: Float[Array, "length ..."]


class Delay(AbstractSetpoint):
    """u(t) = command(t - delay), linear between the commands of the rows around t - delay.

    The delay is a differentiable number of seconds. Its derivative is the slope of the command there, so a command
    that only steps carries none except while the step passes: ramp it over a row. `length` past commands are held,
    which reaches back `length` steps; a longer delay reads the oldest. The step `dt` must be constant over a run.
    `inputs` is the number of inputs of the command, `None` for a scalar command.
    """

    length: int = eqx.field(static=True)
    inputs: int | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        if self.length < 1:
            raise ValueError(f"Delay(length={self.length}) holds no past command: it must be 1 or more")

    def init(self, params: DelayParams) -> DelayState:
        shape = (self.length,) if self.inputs is None else (self.length, self.inputs)
        return DelayState(jnp.zeros(shape, params.delay.dtype))

    def step(
        self, state: DelayState, params: DelayParams, ctrl: Any, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[DelayState, Any]:
        del qpos, qvel
        known = jnp.concatenate([jnp.asarray(ctrl)[None], state.past_commands])
        age = jnp.minimum(params.delay / dt, jnp.full_like(params.delay, self.length))
        whole = jnp.clip(jnp.floor(age).astype(jnp.int32), 0, self.length - 1)
        part = age - whole.astype(age.dtype)
        newer, older = known[whole], known[whole + 1]
        return DelayState(known[:-1]), newer + part * (older - newer)
