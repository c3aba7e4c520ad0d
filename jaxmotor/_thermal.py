"""Winding temperature: what heats it, what it changes."""

import abc
from typing import Any

from ._stage import AbstractStage, Scalar


class AbstractThermal(AbstractStage):
    """Temperature of the winding; its `ctrl` is the heat that enters it [W], its output the temperature [degC].

    Coupling to the rest of the motor is a function from params to params, never a branch in the assembly.
    """

    @abc.abstractmethod
    def heated(self, state: Any, params: Any, winding: Any) -> Any:
        """The winding's params at the present temperature."""

    @abc.abstractmethod
    def at_ambient(self, params: Any, ambient: Scalar | None) -> Any:
        """The params with the ambient temperature [degC] of this row of a log; `None` keeps their own."""

    @abc.abstractmethod
    def temperature(self, state: Any, params: Any) -> Scalar | None:
        """Winding temperature [degC] at this instant, or `None` where the stage knows none."""


class Isothermal(AbstractThermal):
    """Temperature is left out of the model: nothing heats, R and K keep their nameplate values."""

    def init(self, params: None) -> None:
        del params

    def step(
        self, state: None, params: None, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, None]:
        del state, params, ctrl, qpos, qvel, dt
        return None, None

    def heated(self, state: None, params: None, winding: Any) -> Any:
        del state, params
        return winding

    def at_ambient(self, params: None, ambient: Scalar | None) -> None:
        del params, ambient

    def temperature(self, state: None, params: None) -> None:
        del state, params
