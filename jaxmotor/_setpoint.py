"""What happens to a command before the controller sees it."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._parameter import Parameter, real
from ._stage import AbstractStage, Scalar


class AbstractSetpoint(AbstractStage):
    """A command filter; its `ctrl` is the command, its output the command that the next stage sees."""


class NoSlew(AbstractSetpoint):
    """The command passes as it is; params are `None`."""

    def init(self, params: None) -> None:
        del params

    def step(self, state: None, params: None, ctrl: Any, qpos: Scalar, qvel: Scalar, dt: Scalar) -> tuple[None, Any]:
        del state, params, qpos, qvel, dt
        return None, ctrl


class CommandRangeParams(eqx.Module):
    """`lowest_command`, `highest_command`, in the unit of the command; the same for each of several inputs."""

    lowest_command: Parameter = real("command")
    highest_command: Parameter = real("command")


class CommandRange(AbstractSetpoint):
    """Every input of the command is clipped to one range (MuJoCo's `ctrlrange`)."""

    def init(self, params: CommandRangeParams) -> None:
        del params

    def step(
        self, state: None, params: CommandRangeParams, ctrl: Any, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, Any]:
        del state, qpos, qvel, dt
        return None, jnp.clip(ctrl, params.lowest_command, params.highest_command)


class SetpointChain(AbstractSetpoint):
    """Command filters one after the other; params and state are tuples in the order of `stages`."""

    stages: tuple[AbstractSetpoint, ...]

    def init(self, params: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(stage.init(p) for stage, p in zip(self.stages, params, strict=True))

    def step(
        self, state: tuple[Any, ...], params: tuple[Any, ...], ctrl: Any, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[tuple[Any, ...], Any]:
        after = []
        for stage, own_state, own_params in zip(self.stages, state, params, strict=True):
            own_state, ctrl = stage.step(own_state, own_params, ctrl, qpos, qvel, dt)
            after.append(own_state)
        return tuple(after), ctrl
