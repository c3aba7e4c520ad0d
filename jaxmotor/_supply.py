"""Supplies: what the terminals really get, and what that costs at the bus."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool

from ._bounded import bounded
from ._parameter import Parameter, as_parameter, nonnegative_or_infinite
from ._request import AbstractRequest
from ._saturation import rounding
from ._stage import AbstractStage, Scalar
from ._winding import QuasiStaticParams, Response


class Asked(eqx.Module):
    """What the supply must serve: the `request`, the window `lower`, `upper` [V] of the current limit, the hot
    `winding` params and the winding's `response`."""

    request: AbstractRequest
    lower: Scalar
    upper: Scalar
    winding: QuasiStaticParams | Any
    response: Response


class Terminals(eqx.Module):
    """`voltage` [V] at the winding, signed `duty` [1] (`None` for a supply without a bus), and whether the `bus`
    or the `current` window held the voltage back."""

    voltage: Scalar
    duty: Any
    bus_limited: Bool[Array, ""]
    current_limited: Bool[Array, ""]


class Draw(eqx.Module):
    """`ctrl` of a supply: the `terminals` of this step and the winding `current` [A]."""

    terminals: Terminals
    current: Scalar


class AbstractSupply(AbstractStage):
    """A supply; its `ctrl` is a `Draw`, its output the current [A] taken from the bus, or `None` without one."""

    @abc.abstractmethod
    def bus_voltage(self, state: Any, params: Any) -> Scalar | None:
        """Bus voltage [V] that the drive sees at the start of the step, or `None` where there is none."""

    @abc.abstractmethod
    def terminals(self, state: Any, params: Any, asked: Asked, qvel: Scalar, dt: Scalar) -> Terminals:
        """The terminal voltage that the power stage makes of what is asked."""

    @abc.abstractmethod
    def with_bus_voltage(self, params: Any, bus_voltage: Scalar | None) -> Any:
        """The params with the bus voltage [V] of this row of a log; `None` keeps their own.

        **Raises:** `ValueError` when a supply without a bus is given one.
        """


class IdealSupply(AbstractSupply):
    """Any voltage at any current: the terminals get what the drive asks; params are `None`."""

    def init(self, params: None) -> None:
        del params

    def step(self, state: None, params: None, ctrl: Draw, qpos: Scalar, qvel: Scalar, dt: Scalar) -> tuple[None, None]:
        del state, params, ctrl, qpos, qvel, dt
        return None, None

    def bus_voltage(self, state: None, params: None) -> None:
        del state, params

    def terminals(self, state: None, params: None, asked: Asked, qvel: Scalar, dt: Scalar) -> Terminals:
        del state, params, dt
        # A request for a duty has no meaning without a bus; assemblies refuse it when they are built.
        volts = asked.request.volts(jnp.zeros_like(qvel), asked.winding, qvel)
        limited = bounded(volts, asked.lower, asked.upper)
        held = _moved(volts, limited, asked, qvel)
        return Terminals(limited, None, jnp.zeros_like(held), held)

    def with_bus_voltage(self, params: None, bus_voltage: Scalar | None) -> None:
        del params
        if bus_voltage is not None:
            raise ValueError("bus_voltage was given to an actuator whose supply is IdealSupply: use FixedSupply")


def _moved(wanted: Scalar, given: Scalar, asked: Asked, qvel: Scalar) -> Bool[Array, ""]:
    """Whether a bound held the voltage back, by more than a request on that bound rounds."""
    return jnp.abs(wanted - given) > rounding(given, asked.winding.back_emf_constant * qvel)


class FixedSupplyParams(eqx.Module):
    """`bus_voltage` [V], may be infinite and may change every step."""

    bus_voltage: Parameter = nonnegative_or_infinite("V")


class FixedSupply(AbstractSupply):
    """A stiff bus behind an H-bridge: |v| <= V, supply current = duty i with duty = v / V.

    Power balances exactly: V i_supply = v i, so the bus is fed back while the motor brakes (Newton MotorDC page,
    source current d I; RaiSim Actuators page, "Bus voltage").
    """

    def init(self, params: FixedSupplyParams) -> None:
        del params

    def step(
        self, state: None, params: FixedSupplyParams, ctrl: Draw, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, Scalar]:
        del state, params, qpos, qvel, dt
        return None, ctrl.terminals.duty * ctrl.current

    def bus_voltage(self, state: None, params: FixedSupplyParams) -> Scalar:
        del state
        return params.bus_voltage

    def terminals(self, state: None, params: FixedSupplyParams, asked: Asked, qvel: Scalar, dt: Scalar) -> Terminals:
        del state, dt
        bus = params.bus_voltage
        volts = asked.request.volts(bus, asked.winding, qvel)
        limited = bounded(volts, asked.lower, asked.upper)
        ceiling = asked.request.ceiling(bus)
        applied = bounded(limited, -ceiling, ceiling)
        # A bus at 0 V has no duty; Newton's page sets it to zero there.
        alive = bus > 0
        duty = jnp.where(alive, applied / jnp.where(alive, bus, jnp.ones_like(bus)), jnp.zeros_like(bus))
        bus_limited, current_limited = _moved(limited, applied, asked, qvel), _moved(volts, limited, asked, qvel)
        return Terminals(applied, duty, bus_limited, current_limited)

    def with_bus_voltage(self, params: FixedSupplyParams, bus_voltage: Scalar | None) -> FixedSupplyParams:
        return params if bus_voltage is None else FixedSupplyParams(as_parameter(bus_voltage))
