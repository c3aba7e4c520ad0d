"""What happens to a command before the controller sees it."""

from typing import Any

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
