"""What the voltage input of MuJoCo 3.7 to 3.11 does that no motor does, kept so that old models replay exactly."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._controller import AbstractController, Demand
from ._integral import AbstractIntegral, NoIntegral
from ._parameter import Parameter, positive
from ._request import VoltageRequest
from ._stage import Scalar
from ._voltage_limit import AbstractVoltageLimit, NoVoltageLimit
from ._winding import AbstractWinding, Response, WindingOutput


class IdleIntegralDriveParams(eqx.Module):
    """`integral` and `voltage_limit` belong to those parts."""

    integral: Any = None
    voltage_limit: Any = None


class IdleIntegralDrive(AbstractController):
    """v = clip(u, +-v_max), beside an integral of u that nothing uses: MuJoCo has it wherever k_i > 0."""

    integral: AbstractIntegral = NoIntegral()
    voltage_limit: AbstractVoltageLimit = NoVoltageLimit()

    def init(self, params: IdleIntegralDriveParams) -> Any:
        return self.integral.init(params.integral)

    def step(
        self, state: Any, params: IdleIntegralDriveParams, ctrl: Demand, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[Any, VoltageRequest]:
        state, _ = self.integral.step(state, params.integral, ctrl.command, qpos, qvel, dt)
        bound = self.voltage_limit.bound(params.voltage_limit, qvel)
        return state, VoltageRequest(jnp.clip(ctrl.command, -bound, bound))


class HeatClippedParams(eqx.Module):
    """`resistance` [ohm], `torque_constant` [N m/A], `back_emf_constant` [V s/rad], `voltage_limit` [V]."""

    resistance: Parameter = positive("ohm")
    torque_constant: Parameter = positive("N m/A")
    back_emf_constant: Parameter = positive("V s/rad")
    voltage_limit: Parameter = positive("V")


class HeatClipped(AbstractWinding):
    """A winding without inductance that heats with the clipped voltage but turns with the whole of it.

    i_heat = (clip(v, +-v_max) - Ke w) / R, i_torque = (v - Ke w) / R: so MuJoCo 3.11 treats controller:Vmax with
    input="voltage" and no current state. The current that it reports is the heating one.
    """

    def init(self, params: HeatClippedParams) -> None:
        del params

    def step(
        self, state: None, params: HeatClippedParams, ctrl: Scalar, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, WindingOutput]:
        del state, qpos, dt
        current = (ctrl - params.back_emf_constant * qvel) / params.resistance
        return None, WindingOutput(current, current)

    def current(self, state: None, params: HeatClippedParams, volts: Scalar, qvel: Scalar) -> Scalar:
        del state
        clipped = jnp.clip(volts, -params.voltage_limit, params.voltage_limit)
        return (clipped - params.back_emf_constant * qvel) / params.resistance

    def response(self, state: None, params: HeatClippedParams, qvel: Scalar, dt: Scalar) -> Response:
        del state, dt
        conductance = 1 / params.resistance
        return Response(conductance, -params.back_emf_constant * qvel * conductance)
