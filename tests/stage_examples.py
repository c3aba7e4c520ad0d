"""One example of every concrete stage and slot: what the contract test runs over.

A class without an entry fails the contract test, so whoever adds a stage adds an example with parameters of a motor
that exists, away from the kinks of its law.
"""

import dataclasses
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

import jaxmotor as jm
from jaxmotor._request import DutyRequest, TorqueRequest, VoltageRequest
from jaxmotor._supply import Asked, Draw, Terminals
from jaxmotor._winding import Response, WindingState

SLOTS = (
    jm.AbstractStage,
    jm.AbstractDrag,
    jm.AbstractDryFriction,
    jm.AbstractGear,
    jm.AbstractCurrentLimit,
    jm.AbstractCurrentRate,
    jm.AbstractLoad,
    jm.AbstractIntegrator,
)


def _step(module, state, params, ctrl, qpos, qvel, dt):
    return module.step(state, params, ctrl, qpos, qvel, dt)


@dataclasses.dataclass
class Example:
    """`module` and its `params`; `ctrl` and an excited `state` (the initial one where it is left out) at `qpos`, `qvel`
    over `dt`; `call` runs a slot that is no stage with the signature of one; `steady` keeps
    `ctrl` at rest, where it holds more than a command."""

    module: Any
    params: Any
    ctrl: Any = None
    state: Any = None
    qpos: float = 0.7
    qvel: float = 3.0
    dt: float = 2e-3
    call: Callable[..., Any] = _step
    initial: Callable[[Any, Any], Any] | None = None
    steady: bool = False

    def at_rest(self) -> Any:
        """The state that the stage starts with."""
        if self.initial is not None:
            return self.initial(self.module, self.params)
        return self.module.init(self.params) if hasattr(self.module, "init") else None

    def excited(self) -> Any:
        return self.at_rest() if self.state is None else self.state

    def arguments(self, dtype: Any = jnp.float64) -> tuple[Any, ...]:
        """State, params, ctrl, qpos, qvel, dt at the excited point, of one float type."""
        return cast((self.excited(), self.params, self.ctrl, self.qpos, self.qvel, self.dt), dtype)

    def resting(self, dtype: Any = jnp.float64) -> tuple[Any, ...]:
        """The same at rest: initial state, no command, no motion."""
        still = cast(self.ctrl, dtype) if self.steady else jax.tree.map(jnp.zeros_like, cast(self.ctrl, dtype))
        return cast((self.at_rest(), self.params, still, 0.0, 0.0, self.dt), dtype)


def cast(tree: Any, dtype: Any) -> Any:
    """Every float of the tree as an array of `dtype`."""

    def convert(x):
        x = jnp.asarray(x)
        return x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x

    return jax.tree.map(convert, tree)


def floats(tree: Any) -> Any:
    """The float leaves of a tree in one vector."""
    return ravel_pytree(eqx.filter(tree, eqx.is_inexact_array))[0]


def concrete_classes() -> Iterator[type]:
    """Every class that fills a slot, in every module of the package."""
    for cls in package_modules_classes():
        if issubclass(cls, SLOTS) and not cls.__name__.startswith("Abstract"):
            yield cls


def package_modules_classes() -> Iterator[type]:
    """Every equinox module class that the package reaches, its public modules imported."""
    for info in pkgutil.iter_modules(jm.__path__):
        if not info.name.startswith("_"):
            importlib.import_module(f"jaxmotor.{info.name}")
    for name, module in sorted(sys.modules.items()):
        if name.startswith("jaxmotor."):
            for _, cls in inspect.getmembers(module, inspect.isclass):
                if cls.__module__ == name and issubclass(cls, eqx.Module):
                    yield cls


def _drag(module, state, params, ctrl, qpos, qvel, dt):
    del ctrl, qpos, dt
    return state, module.torque(params, jnp.full_like(qvel, 7.0), qvel)


def _budget(module, state, params, ctrl, qpos, qvel, dt):
    del qpos, dt
    return state, module.budget(params, qvel, ctrl[0], ctrl[1])


def _load(module, state, params, ctrl, qpos, qvel, dt):
    del ctrl, qvel, dt
    return state, (module.inertia(params, qpos), module.external_torque(params, qpos), module.damping(params))


def _gear(module, state, params, ctrl, qpos, qvel, dt):
    del ctrl, qpos, qvel, dt
    return state, (module.ratio(params), module.reflected_inertia(params))


def _rate(module, state, params, ctrl, qpos, qvel, dt):
    del qpos, qvel, dt
    return state, module.limit(params, ctrl)


def _window(module, state, params, ctrl, qpos, qvel, dt):
    del qpos, qvel, dt
    lower, upper = module.voltage_bounds(params, ctrl)
    return state, (jnp.tanh(lower / 50), jnp.tanh(upper / 50))


def _move(module, state, params, ctrl, qpos, qvel, dt):
    state, qpos, qvel, out = module.step(
        actuator(), jm.Pendulum(), state, params.actuator, params.load, ctrl, qpos, qvel, dt
    )
    return state, (qpos, qvel, out)


def winding_params():
    return jm.QuasiStaticParams(resistance=1.2, torque_constant=0.045, back_emf_constant=0.05)


def actuator():
    """An actuator with something in most slots."""
    return jm.Actuator(
        jm.Motor(jm.Inductive(), limit=jm.TorqueLimit()),
        jm.VoltageDrive(),
        supply=jm.FixedSupply(),
        drag=jm.PolynomialDrag(),
        dry_friction=jm.CoulombFriction(),
        current_limit=jm.CurrentLimit(),
    )


def actuator_params():
    return jm.ActuatorParams(
        motor=jm.MotorParams(
            jm.InductiveParams(resistance=1.2, torque_constant=0.045, back_emf_constant=0.05, inductance=2e-3),
            limit=jm.TorqueLimitParams(1.5),
        ),
        supply=jm.FixedSupplyParams(24.0),
        gear=jm.GearParams(ratio=-7.0, rotor_inertia=2e-5),
        drag=jm.PolynomialDragParams(1e-4, 1e-6, 1e-8),
        dry_friction=jm.CoulombFrictionParams(0.05),
        current_limit=jm.CurrentLimitParams(20.0),
    )


def actuator_state():
    state = actuator().init(actuator_params())
    return eqx.tree_at(lambda s: s.motor.winding, state, WindingState(jnp.asarray(2.0)))


def pendulum_params():
    return jm.PendulumParams(mass=0.4, length=0.2, inertia=1e-3, arm_mass=0.1, damping=2e-3, offset=0.05)


def _bench_params():
    return jm.BenchParams(actuator_params(), pendulum_params())


def _bench_start(module, params):
    del module
    return actuator().init(params.actuator)


def _asked():
    return Asked(
        VoltageRequest(jnp.asarray(7.0)),
        jnp.asarray(-19.0),
        jnp.asarray(31.0),
        winding_params(),
        Response(jnp.asarray(0.8), jnp.asarray(-0.2)),
    )


def _supplied(module, state, params, ctrl, qpos, qvel, dt):
    """A supply's whole work in a step: terminals from what is asked, then the bill."""
    asked, current = ctrl
    volts = []
    for request in (asked.request, TorqueRequest(current / 100), DutyRequest(current / 20, jnp.ones_like(current))):
        if isinstance(request, DutyRequest) and module.bus_voltage(state, params) is None:
            continue
        each = Asked(request, asked.lower, asked.upper, asked.winding, asked.response)
        volts.append(module.terminals(state, params, each, qvel, dt))
    terminals: Terminals = volts[0]
    state, drawn = module.step(state, params, Draw(terminals, current), qpos, qvel, dt)
    return state, (drawn, [t.voltage for t in volts])


def _demand(command):
    return jm.Demand(command, jnp.asarray(24.0), winding_params())


def examples() -> dict[type, list[Example]]:
    """Fresh examples by class; two calls build equal but distinct objects."""
    lagging = WindingState(jnp.asarray(2.0))
    response = Response(jnp.asarray(0.8), jnp.asarray(-0.2))
    return {
        jm.NoSlew: [Example(jm.NoSlew(), None, 2.0)],
        jm.VoltageDrive: [Example(jm.VoltageDrive(), None, _demand(5.0))],
        jm.DutyDrive: [Example(jm.DutyDrive(), None, _demand(0.4))],
        jm.TorqueDrive: [Example(jm.TorqueDrive(), None, _demand(0.1))],
        jm.ServoDrive: [Example(jm.ServoDrive(), jm.ServoDriveParams(gain=2.0, duty_limit=0.9), _demand(1.0))],
        jm.IdealSupply: [Example(jm.IdealSupply(), None, (_asked(), 3.0), call=_supplied, steady=True)],
        jm.FixedSupply: [
            Example(jm.FixedSupply(), jm.FixedSupplyParams(24.0), (_asked(), 3.0), call=_supplied, steady=True)
        ],
        jm.QuasiStatic: [Example(jm.QuasiStatic(), winding_params(), 6.0)],
        jm.Inductive: [
            Example(jm.Inductive(), jm.InductiveParams(1.2, 0.045, 0.05, 2e-3), 6.0, state=lagging),
            Example(
                jm.Inductive(rate=jm.CurrentRateLimit()),
                jm.InductiveParams(1.2, 0.045, 0.05, 2e-3, rate=jm.CurrentRateLimitParams(500.0)),
                6.0,
                state=lagging,
            ),
        ],
        jm.FixedTimeConstant: [
            Example(jm.FixedTimeConstant(), jm.FixedTimeConstantParams(1.2, 0.045, 0.05, 1.5e-3), 6.0, state=lagging)
        ],
        jm.UnlimitedCurrentRate: [Example(jm.UnlimitedCurrentRate(), None, 900.0, call=_rate)],
        jm.CurrentRateLimit: [Example(jm.CurrentRateLimit(), jm.CurrentRateLimitParams(500.0), 900.0, call=_rate)],
        jm.Isothermal: [Example(jm.Isothermal(), None, 10.0)],
        jm.Unlimited: [Example(jm.Unlimited(), None, 0.9)],
        jm.TorqueLimit: [
            Example(jm.TorqueLimit(), jm.TorqueLimitParams(0.6), 0.9),
            Example(jm.TorqueLimit(), jm.TorqueLimitParams(0.6), 0.3),
        ],
        jm.SmoothTorqueLimit: [Example(jm.SmoothTorqueLimit(), jm.SmoothTorqueLimitParams(0.6, 0.1), 0.58)],
        jm.NoCurrentLimit: [Example(jm.NoCurrentLimit(), None, response, call=_window, steady=True)],
        jm.CurrentLimit: [Example(jm.CurrentLimit(), jm.CurrentLimitParams(20.0), response, call=_window, steady=True)],
        jm.NoCogging: [Example(jm.NoCogging(), None)],
        jm.Frictionless: [Example(jm.Frictionless(), None)],
        jm.NoDrag: [Example(jm.NoDrag(), None, call=_drag)],
        jm.ViscousDrag: [Example(jm.ViscousDrag(), jm.ViscousDragParams(1e-4), call=_drag)],
        jm.PolynomialDrag: [Example(jm.PolynomialDrag(), jm.PolynomialDragParams(1e-4, 1e-5, 1e-6), call=_drag)],
        jm.MotorSideDrag: [Example(jm.MotorSideDrag(), jm.PolynomialDragParams(1e-4, 1e-5, 1e-6), call=_drag)],
        jm.NoDryFriction: [Example(jm.NoDryFriction(), None, (0.3, -0.1), call=_budget)],
        jm.CoulombFriction: [Example(jm.CoulombFriction(), jm.CoulombFrictionParams(0.05), (0.3, -0.1), call=_budget)],
        jm.Gear: [Example(jm.Gear(), jm.GearParams(-7.0, 2e-5), call=_gear)],
        jm.RigidLoad: [Example(jm.RigidLoad(), jm.RigidLoadParams(0.01, 1e-3), call=_load)],
        jm.Pendulum: [Example(jm.Pendulum(), pendulum_params(), call=_load)],
        jm.ExactFlow: [
            Example(jm.ExactFlow(), _bench_params(), 5.0, actuator_state(), call=_move, initial=_bench_start)
        ],
        jm.Euler: [Example(jm.Euler(), _bench_params(), 5.0, actuator_state(), call=_move, initial=_bench_start)],
        jm.ImplicitFast: [
            Example(jm.ImplicitFast(), _bench_params(), 5.0, actuator_state(), call=_move, initial=_bench_start)
        ],
        jm.Motor: [
            Example(
                jm.Motor(jm.Inductive(), limit=jm.TorqueLimit()), actuator_params().motor, 6.0, actuator_state().motor
            )
        ],
        jm.Actuator: [
            Example(actuator(), actuator_params(), 5.0, actuator_state()),
            Example(
                actuator(),
                actuator_params(),
                jm.Input(5.0, jnp.asarray(22.0), jnp.asarray(True), jnp.asarray(30.0)),
                actuator_state(),
            ),
        ],
    }


def every_example() -> list[Any]:
    """(name, class, index) of every example, for `pytest.mark.parametrize`."""
    return [(cls, index) for cls, given in examples().items() for index in range(len(given))]
