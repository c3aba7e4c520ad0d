"""Windings: volts at the terminals and shaft speed in, current out.

v = R i + Ke w + L di/dt, torque = Kt i (MuJoCo DC motor note, "Electromagnetic Model" and "Inductance"), with v [V],
i [A], R [ohm], L [H], Ke [V s/rad], Kt [N m/A], w [rad/s].
"""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._current_rate import AbstractCurrentRate, UnlimitedCurrentRate
from ._exponential import phis
from ._parameter import Parameter, positive
from ._stage import AbstractStage, Scalar


class WindingOutput(eqx.Module):
    """Currents [A] of one step: at its end, and averaged over it (shaft speed held)."""

    end_current: Scalar
    mean_current: Scalar


class Response(eqx.Module):
    """The current at the end of a step as a line in the terminal voltage: i = conductance v + offset [S, A]."""

    conductance: Scalar
    offset: Scalar


class AbstractWinding(AbstractStage):
    """A winding; its `ctrl` is the terminal voltage [V], its output a `WindingOutput`.

    Params of every winding hold `resistance`, `torque_constant` and `back_emf_constant`.
    """

    @abc.abstractmethod
    def current(self, state: Any, params: Any, volts: Scalar, qvel: Scalar) -> Scalar:
        """Current [A] at this instant, just after `volts` [V] is applied at speed `qvel` [rad/s]."""

    @abc.abstractmethod
    def response(self, state: Any, params: Any, qvel: Scalar, dt: Scalar) -> Response:
        """The current that the step will end with, as a line in its terminal voltage (rate limits left aside)."""


class QuasiStaticParams(eqx.Module):
    """`resistance` [ohm], `torque_constant` [N m/A], `back_emf_constant` [V s/rad]."""

    resistance: Parameter = positive("ohm")
    torque_constant: Parameter = positive("N m/A")
    back_emf_constant: Parameter = positive("V s/rad")


class QuasiStatic(AbstractWinding):
    """No inductance: i = (v - Ke w) / R at every instant; no state (note, "Electromagnetic Model")."""

    def init(self, params: QuasiStaticParams) -> None:
        del params

    def step(
        self, state: None, params: QuasiStaticParams, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, WindingOutput]:
        del qpos, dt
        current = self.current(state, params, ctrl, qvel)
        return None, WindingOutput(current, current)

    def current(self, state: None, params: QuasiStaticParams, volts: Scalar, qvel: Scalar) -> Scalar:
        del state
        return (volts - params.back_emf_constant * qvel) * (1 / params.resistance)

    def response(self, state: None, params: QuasiStaticParams, qvel: Scalar, dt: Scalar) -> Response:
        del state, dt
        conductance = 1 / params.resistance
        return Response(conductance, -params.back_emf_constant * qvel * conductance)


class WindingState(eqx.Module):
    """`current` [A]."""

    current: Scalar


class AbstractLaggingWinding(AbstractWinding):
    """A winding whose current is a state: di/dt = (i_inf - i) / t_e with i_inf = (v - Ke w) / R, solved exactly.

    With r the rate at the start of the step (bounded by `rate`) and x = h / t_e, shaft speed held:
    i_end = i + r h phi1(-x), mean i = i + r h phi2(-x). The end current is what MuJoCo turns into torque; the mean
    current carries the step's momentum.
    """

    rate: eqx.AbstractVar[AbstractCurrentRate]

    @abc.abstractmethod
    def time_constant(self, params: Any) -> Scalar:
        """Electrical time constant t_e [s]."""

    def init(self, params: Any) -> WindingState:
        return WindingState(jnp.zeros_like(params.resistance))

    def step(
        self, state: WindingState, params: Any, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[WindingState, WindingOutput]:
        del qpos
        time_constant = self.time_constant(params)
        # Reciprocals of what is known before the speed is: a division in the chain from step to step is what one
        # motor waits for.
        target = (ctrl - params.back_emf_constant * qvel) * (1 / params.resistance)
        rate = self.rate.limit(params.rate, (target - state.current) * (1 / time_constant))
        first, second = phis(-dt / time_constant)
        end = state.current + rate * (dt * first)
        return WindingState(end), WindingOutput(end, state.current + rate * (dt * second))

    def current(self, state: WindingState, params: Any, volts: Scalar, qvel: Scalar) -> Scalar:
        del params, volts, qvel
        return state.current

    def response(self, state: WindingState, params: Any, qvel: Scalar, dt: Scalar) -> Response:
        growth = -jnp.expm1(-dt / self.time_constant(params))
        conductance = growth / params.resistance
        return Response(conductance, state.current * (1 - growth) - params.back_emf_constant * qvel * conductance)


class InductiveParams(eqx.Module):
    """`resistance` [ohm], `torque_constant` [N m/A], `back_emf_constant` [V s/rad], `inductance` [H]; `rate` belongs
    to the winding's current-rate stage."""

    resistance: Parameter = positive("ohm")
    torque_constant: Parameter = positive("N m/A")
    back_emf_constant: Parameter = positive("V s/rad")
    inductance: Parameter = positive("H")
    rate: Any = None


class Inductive(AbstractLaggingWinding):
    """Constant inductance: t_e = L / R(T), so a hot winding is a faster one (note, "Inductance")."""

    rate: AbstractCurrentRate = UnlimitedCurrentRate()

    def time_constant(self, params: InductiveParams) -> Scalar:
        return params.inductance / params.resistance


class FixedTimeConstantParams(eqx.Module):
    """`resistance` [ohm], `torque_constant` [N m/A], `back_emf_constant` [V s/rad], `electrical_time_constant` [s];
    `rate` belongs to the winding's current-rate stage."""

    resistance: Parameter = positive("ohm")
    torque_constant: Parameter = positive("N m/A")
    back_emf_constant: Parameter = positive("V s/rad")
    electrical_time_constant: Parameter = positive("s")
    rate: Any = None


class FixedTimeConstant(AbstractLaggingWinding):
    """Constant t_e whatever the temperature, which is MuJoCo's rule in code (its inductance grows with R)."""

    rate: AbstractCurrentRate = UnlimitedCurrentRate()

    def time_constant(self, params: FixedTimeConstantParams) -> Scalar:
        return params.electrical_time_constant
