"""Bounds on the electrical torque, before cogging and friction."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int

from ._bounded import bounded
from ._parameter import Parameter, positive, positive_or_infinite
from ._saturation import Saturation
from ._stage import AbstractStage, Scalar


class LimitOutput(eqx.Module):
    """`torque` [N m] after the limit and `saturation`, a `Saturation` code."""

    torque: Scalar
    saturation: Int[Array, ""]


class AbstractLimit(AbstractStage):
    """A torque limit; its `ctrl` is the electrical torque [N m], its output a `LimitOutput`."""

    @abc.abstractmethod
    def apply(self, params: Any, torque: Scalar, rounding: Scalar | float = 0.0) -> LimitOutput:
        """The limited torque; limits carry no state, so this is the whole of their `step`.

        `rounding` [N m]: what `torque` may have gained on its way from a request, which is no saturation.
        """

    def init(self, params: Any) -> None:
        del params

    def step(
        self, state: None, params: Any, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, LimitOutput]:
        del state, qpos, qvel, dt
        return None, self.apply(params, ctrl)


def _code(limited: Any) -> Any:
    return jnp.where(limited, Saturation.PEAK_TORQUE.value, Saturation.NONE.value).astype(jnp.int32)


class Unlimited(AbstractLimit):
    """The motor gives whatever torque its current makes; params are `None`."""

    def apply(self, params: None, torque: Scalar, rounding: Scalar | float = 0.0) -> LimitOutput:
        del params, rounding
        return LimitOutput(torque, _code(jnp.zeros_like(torque, dtype=bool)))


class TorqueLimitParams(eqx.Module):
    """`peak_torque`: bound on the magnitude of the electrical torque [N m], may be infinite."""

    peak_torque: Parameter = positive_or_infinite("N m")


class TorqueLimit(AbstractLimit):
    """|tau| <= tau_max on the electrical torque alone (MuJoCo DC motor note, "Current Saturation").

    Current, heat and inductive state are not limited by it, as in MuJoCo; a driver that really holds the current
    back is a `CurrentLimit`.
    """

    def apply(self, params: TorqueLimitParams, torque: Scalar, rounding: Scalar | float = 0.0) -> LimitOutput:
        peak = params.peak_torque
        return LimitOutput(bounded(torque, -peak, peak), _code(jnp.abs(torque) > peak + rounding))


class SmoothTorqueLimitParams(eqx.Module):
    """`peak_torque` [N m] and `transition_width`: the share of the peak over which the limit bends [1]."""

    peak_torque: Parameter = positive("N m")
    transition_width: Parameter = positive("1")


class SmoothTorqueLimit(AbstractLimit):
    """A torque limit whose gradient never vanishes at once.

    tau = w tau_max (softplus(x + 1/w) - softplus(x - 1/w) - 1/w) / 1 with x = tau_in / (w tau_max): the difference of
    two softplus bends of relative width w, odd in its input, slope one inside and within tau_max outside.
    It tends to the clip as w -> 0.
    """

    def apply(self, params: SmoothTorqueLimitParams, torque: Scalar, rounding: Scalar | float = 0.0) -> LimitOutput:
        bend = params.peak_torque * params.transition_width
        x, reach = torque / bend, 1 / params.transition_width
        smooth = bend * (jnp.logaddexp(x + reach, jnp.zeros_like(x)) - jnp.logaddexp(x - reach, jnp.zeros_like(x)))
        return LimitOutput(smooth - params.peak_torque, _code(jnp.abs(torque) > params.peak_torque + rounding))
