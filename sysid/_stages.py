"""The words that name a stage, and how stages and values become a bench."""

import dataclasses
import difflib
import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import equinox as eqx

import jaxmotor as jm

from ._errors import ModelError

MOTOR_SLOTS = ("winding", "thermal", "limit", "cogging", "bristle")
ACTUATOR_SLOTS = ("controller", "supply", "gear", "drag", "dry_friction", "current_limit", "delay", "setpoint")

_ABSTRACT: dict[str, tuple[type, type | None]] = {
    "winding": (jm.AbstractWinding, jm.QuasiStatic),
    "current_rate": (jm.AbstractCurrentRate, None),
    "thermal": (jm.AbstractThermal, jm.Isothermal),
    "limit": (jm.AbstractLimit, jm.Unlimited),
    "cogging": (jm.AbstractCogging, jm.NoCogging),
    "bristle": (jm.AbstractBristle, jm.Frictionless),
    "controller": (jm.AbstractController, jm.VoltageDrive),
    "supply": (jm.AbstractSupply, jm.IdealSupply),
    "gear": (jm.AbstractGear, jm.Gear),
    "drag": (jm.AbstractDrag, jm.NoDrag),
    "dry_friction": (jm.AbstractDryFriction, jm.NoDryFriction),
    "current_limit": (jm.AbstractCurrentLimit, jm.NoCurrentLimit),
    "delay": (jm.AbstractSetpoint, jm.NoSlew),
    "setpoint": (jm.AbstractSetpoint, jm.NoSlew),
    "load": (jm.AbstractLoad, jm.RigidLoad),
    "integrator": (jm.AbstractIntegrator, jm.ExactFlow),
}
"""Per slot: what fills it, and what fills it where nothing is named (`None`: it stays out)."""

SLOTS = tuple(_ABSTRACT)

_TYPICAL = {
    "resistance": 1.0,
    "torque_constant": 0.05,
    "back_emf_constant": 0.05,
    "inductance": 1e-3,
    "electrical_time_constant": 1e-3,
    "inertia": 1e-4,
    "coulomb_friction": 1e-2,
    "viscous_damping": 1e-4,
    "quadratic_drag": 1e-8,
    "cubic_drag": 1e-10,
    "gain": 1.0,
    "unbalance": 1.0,
    "rotor_inertia": 1e-5,
    "thermal_resistance": 5.0,
    "thermal_capacitance": 20.0,
    "maximum_current_rate": 1e4,
}
"""Where a search starts [SI] if neither the user nor a regression says so. Anything else must be stated."""


def words(slot: str) -> dict[str, type]:
    """The stages that may fill a slot, by name."""
    abstract, _ = _ABSTRACT[slot]
    return {
        kind.__name__: kind
        for kind in vars(jm).values()
        if inspect.isclass(kind) and issubclass(kind, abstract) and not inspect.isabstract(kind)
    }


def stage_class(slot: str, word: str, where: str) -> type:
    """The stage that a word names.

    **Raises:** `ModelError` that starts with `where` and lists the slots or words that there are.
    """
    if slot not in _ABSTRACT:
        raise ModelError(f"{where}: unknown slot '{slot}'{nearest(slot, SLOTS)}; the slots are: {', '.join(SLOTS)}")
    known = words(slot)
    if word not in known:
        raise ModelError(
            f"{where}: unknown {slot} '{word}'{nearest(word, known)}; the allowed words are: {', '.join(sorted(known))}"
        )
    return known[word]


def nearest(word: str, known: Iterable[str]) -> str:
    """`" (meant X?)"` where one of the known words is close, else nothing."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (meant {close[0]}?)" if close else ""


@functools.cache
def params_class(kind: type) -> type | None:
    """The params class of a stage, as its own methods are annotated; `None` for a stage without params."""
    for owner in kind.__mro__:
        for method in vars(owner).values():
            hint = getattr(inspect.unwrap(method), "__annotations__", {}).get("params") if callable(method) else None
            if inspect.isclass(hint) and dataclasses.is_dataclass(hint):
                return hint
    return None


@dataclasses.dataclass(frozen=True)
class Needed:
    """A value that a stage needs: its `name`, the `slot` it belongs to, its `unit`, and whether it has a default."""

    name: str
    slot: str
    unit: str
    optional: bool


def needed(stages: Mapping[str, str], where: str = "model") -> Iterator[Needed]:
    """Every value that these stages hold.

    **Raises:** `ModelError` for a word that names no stage.
    """
    for slot in stages:
        stage_class(slot, stages[slot], where)
    for slot in SLOTS:
        kind = _kind(slot, stages, where)
        params = params_class(kind) if kind is not None and slot != "integrator" else None
        for field in dataclasses.fields(params) if params is not None else ():
            if "unit" in field.metadata:
                optional = field.default is not dataclasses.MISSING
                yield Needed(field.name, slot, field.metadata["unit"], optional)


def _kind(slot: str, stages: Mapping[str, str], where: str = "model") -> type | None:
    return stage_class(slot, stages[slot], where) if slot in stages else _ABSTRACT[slot][1]


def _params(kind: type, slot: str, values: Mapping[str, float], **nested: Any) -> Any:
    params = params_class(kind) if slot != "integrator" else None
    if params is None:
        return None
    given: dict[str, Any] = {name: value for name, value in nested.items() if value is not None}
    for field in dataclasses.fields(params):
        if "unit" not in field.metadata:
            continue
        name = field.name
        value = values.get(f"{slot}.{name}", values.get(name))
        if value is None and field.default is dataclasses.MISSING:
            value = _TYPICAL.get(name)
            if value is None:
                raise ModelError(
                    f"{kind.__name__} needs a value of {name} [{field.metadata['unit']}]: give it with"
                    f" --fix {name}=VALUE or in a --model file"
                )
        if value is not None:
            given[name] = value
    return params(**given)


def build(
    stages: Mapping[str, str], values: Mapping[str, float], where: str = "model"
) -> tuple[jm.Bench, jm.BenchParams]:
    """The bench of these stages (a word per slot; slots left out are empty or usual) with these values [SI].

    Values are named by their field (`resistance`), or `slot.field` where two stages share a name.

    **Raises:** `ModelError` for a word that names no stage, for stages that do not fit together and for a value that
    only the user can know.
    """
    for slot in stages:
        stage_class(slot, stages[slot], where)
    kinds = {slot: _kind(slot, stages, where) for slot in SLOTS}
    made: dict[str, Any] = {slot: kind() for slot, kind in kinds.items() if kind and slot not in ("winding",)}
    winding, rate = kinds["winding"], kinds["current_rate"]
    assert winding is not None
    params = {slot: _params(type(stage), slot, values) for slot, stage in made.items()}
    if rate is not None and "rate" not in {field.name for field in dataclasses.fields(winding)}:
        raise ModelError(f"{where}: {rate.__name__} needs a winding with inductance, which {winding.__name__} lacks")
    params["winding"] = _params(winding, "winding", values, rate=params.get("current_rate"))
    made["winding"] = winding(rate=made["current_rate"]) if rate is not None else winding()
    motor = jm.Motor(**{slot: made[slot] for slot in MOTOR_SLOTS})
    try:
        actuator = jm.Actuator(motor, **{slot: made[slot] for slot in ACTUATOR_SLOTS})
    except ValueError as error:
        raise ModelError(str(error)) from None
    motor_params = jm.MotorParams(**{slot: params[slot] for slot in MOTOR_SLOTS})
    actuator_params = jm.ActuatorParams(motor_params, **{slot: params[slot] for slot in ACTUATOR_SLOTS})
    bench = jm.Bench(actuator, made["load"], made["integrator"])
    return bench, jm.BenchParams(actuator_params, params["load"])


def stages_of(bench: jm.Bench) -> dict[str, str]:
    """The words that name the stages of a bench, as `build` takes them."""
    found: dict[str, eqx.Module] = {slot: getattr(bench.actuator.motor, slot) for slot in MOTOR_SLOTS}
    found |= {slot: getattr(bench.actuator, slot) for slot in ACTUATOR_SLOTS}
    found |= {"load": bench.load, "integrator": bench.integrator}
    rate = getattr(bench.actuator.motor.winding, "rate", None)
    if rate is not None:
        found["current_rate"] = rate
    return {slot: type(stage).__name__ for slot, stage in found.items()}
