"""The integral action of a controller, and what keeps it from winding up."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._bounded import bounded
from ._parameter import Parameter, positive_or_infinite, real
from ._stage import AbstractStage, Scalar


class AbstractIntegralBound(eqx.Module):
    """Anti-windup: a bound on the integral itself, not on what its gain makes of it."""

    @abc.abstractmethod
    def bounded(self, params: Any, integral: Scalar) -> Scalar:
        """The admissible integral nearest to `integral`."""


class NoIntegralBound(AbstractIntegralBound):
    """The integral grows as long as it is fed; params are `None`."""

    def bounded(self, params: None, integral: Scalar) -> Scalar:
        del params
        return integral


class IntegralBoundParams(eqx.Module):
    """`integral_bound` I_max: largest magnitude of the integral (rad s for a position loop, rad for a speed loop)."""

    integral_bound: Parameter = positive_or_infinite("command s")


class IntegralBound(AbstractIntegralBound):
    """x_I <- clip(x_I, +-I_max) after every step (MuJoCo DC motor note, "Anti-windup")."""

    def bounded(self, params: IntegralBoundParams, integral: Scalar) -> Scalar:
        return bounded(integral, -params.integral_bound, params.integral_bound)


class IntegralState(eqx.Module):
    """`integral` x_I of what the loop integrates, 0 at the start."""

    integral: Scalar


class AbstractIntegral(AbstractStage):
    """An integral action; its `ctrl` is what it integrates, its output what it adds to the controller's demand.

    The output uses the integral at the start of the step.
    """


class NoIntegral(AbstractIntegral):
    """No integral action, no state; params are `None`."""

    def init(self, params: None) -> None:
        del params

    def step(
        self, state: None, params: None, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, Scalar]:
        del state, params, ctrl, qpos, dt
        return None, jnp.zeros_like(qvel)


class IntegralParams(eqx.Module):
    """`integral_gain` k_i: the controller's proportional gain per second; `bound` belongs to the bound."""

    integral_gain: Parameter = real("gain/s")
    bound: Any = None


class ErrorIntegral(AbstractIntegral):
    """dx_I/dt = error, output k_i x_I (note, "Position Mode")."""

    bound: AbstractIntegralBound = NoIntegralBound()

    def init(self, params: IntegralParams) -> IntegralState:
        return IntegralState(jnp.zeros_like(params.integral_gain))

    def step(
        self, state: IntegralState, params: IntegralParams, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[IntegralState, Scalar]:
        del qpos, qvel
        grown = self.bound.bounded(params.bound, state.integral + dt * ctrl)
        return IntegralState(grown), params.integral_gain * state.integral


class TargetIntegral(AbstractIntegral):
    """dx_I/dt = target speed, output k_i (x_I - theta): a target angle that travels (note, "Velocity Mode").

    The target starts at angle 0. A bound acts on the travelled target, as in MuJoCo, so a motor that should turn on
    stops there: outside MJCF use `FollowingIntegral`.
    """

    bound: AbstractIntegralBound = NoIntegralBound()

    def init(self, params: IntegralParams) -> IntegralState:
        return IntegralState(jnp.zeros_like(params.integral_gain))

    def step(
        self, state: IntegralState, params: IntegralParams, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[IntegralState, Scalar]:
        del qvel
        grown = self.bound.bounded(params.bound, state.integral + dt * ctrl)
        return IntegralState(grown), params.integral_gain * (state.integral - qpos)


class FollowingIntegralParams(eqx.Module):
    """`integral_gain` k_i: the proportional gain per second; `following_bound` [rad], may be infinite."""

    integral_gain: Parameter = real("gain/s")
    following_bound: Parameter = positive_or_infinite("rad", default=jnp.inf)


class FollowingIntegral(AbstractIntegral):
    """As `TargetIntegral`, with the bound on target minus angle: |x_I - theta| <= bound whenever it is used.

    The target never runs away from a blocked shaft, and a travelling motor travels on.
    """

    def init(self, params: FollowingIntegralParams) -> IntegralState:
        return IntegralState(jnp.zeros_like(params.integral_gain))

    def step(
        self,
        state: IntegralState,
        params: FollowingIntegralParams,
        ctrl: Scalar,
        qpos: Scalar,
        qvel: Scalar,
        dt: Scalar,
    ) -> tuple[IntegralState, Scalar]:
        del qvel
        target = bounded(state.integral, qpos - params.following_bound, qpos + params.following_bound)
        return IntegralState(target + dt * ctrl), params.integral_gain * (target - qpos)
