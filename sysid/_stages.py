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

_FILLERS: dict[str, tuple[type, type]] = {
    "winding": (jm.AbstractWinding, jm.QuasiStatic),
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
"""Per slot: what may fill it, and what fills it where nothing is named."""

SLOTS = tuple(_FILLERS)

_TYPICAL = {
    "resistance": 1.0,
    "torque_constant": 0.05,
    "back_emf_constant": 0.05,
    "inductance": 1e-3,
    "electrical_time_constant": 1e-3,
    "inertia": 1e-4,
    "rotor_inertia": 1e-5,
    "unbalance": 1.0,
    "coulomb_friction": 1e-2,
    "viscous_damping": 1e-4,
    "quadratic_drag": 1e-8,
    "cubic_drag": 1e-10,
    "bristle_stiffness": 10.0,
    "lugre_stiffness": 10.0,
    "lugre_damping": 1e-2,
    "stiction_torque": 1.5e-2,
    "stribeck_velocity": 1.0,
    "amplitude": 1e-3,
    "gain": 1.0,
    "proportional_gain": 1.0,
    "thermal_resistance": 5.0,
    "thermal_capacitance": 20.0,
    "maximum_current_rate": 1e4,
}
"""Where a search starts [SI] if neither the user nor a regression says so. Anything else must be stated."""


def words(abstract: type) -> dict[str, type]:
    """The stages of this kind that need nothing but params, by name."""
    return {
        kind.__name__: kind
        for kind in vars(jm).values()
        if inspect.isclass(kind) and issubclass(kind, abstract) and not inspect.isabstract(kind) and _plain(kind)
        if _of_numbers(params_class(kind))
    }


def _plain(kind: type) -> bool:
    return all(
        field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        for field in dataclasses.fields(kind)
    )


def _of_numbers(params: type | None) -> bool:
    """Whether every value is one number; a curve of points, such as a battery's, cannot be written as one."""
    fields = dataclasses.fields(params) if params is not None else ()
    return all(getattr(field.type, "dim_str", "*batch") == "*batch" for field in fields)


def _parts(kind: type) -> Iterator[tuple[str, type, type]]:
    """Stages inside a stage: their field, what may fill it, and what fills it by default."""
    for field in dataclasses.fields(kind):
        if isinstance(field.default, eqx.Module) and inspect.isclass(field.type):
            yield field.name, field.type, type(field.default)


def nearest(word: str, known: Iterable[str]) -> str:
    """`" (meant X?)"` where one of the known words is close, else nothing."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (meant {close[0]}?)" if close else ""


@functools.cache
def params_class(kind: type) -> type | None:
    """The params class of a stage, as its own methods are annotated; `None` for a stage without params."""
    if issubclass(kind, jm.AbstractIntegrator):
        return None
    for owner in kind.__mro__:
        for method in vars(owner).values():
            hint = getattr(inspect.unwrap(method), "__annotations__", {}).get("params") if callable(method) else None
            if inspect.isclass(hint) and dataclasses.is_dataclass(hint):
                return hint
    return None


def chosen(stages: Mapping[str, str], where: str = "model") -> dict[str, type]:
    """The stage in every slot; a part of a stage has the slot `slot.part`, such as `winding.rate`.

    **Raises:** `ModelError` that starts with `where` and lists the slots or words that there are.
    """
    found: dict[str, type] = {}

    def fill(slot: str, abstract: type, usual: type) -> None:
        kind = usual
        if slot in stages:
            known = words(abstract)
            if stages[slot] not in known:
                hint, allowed = nearest(stages[slot], known), ", ".join(sorted(known))
                raise ModelError(f"{where}: unknown {slot} '{stages[slot]}'{hint}; the allowed words are: {allowed}")
            kind = known[stages[slot]]
        found[slot] = kind
        for part, fits, default in _parts(kind):
            fill(f"{slot}.{part}", fits, default)

    for slot, (abstract, usual) in _FILLERS.items():
        fill(slot, abstract, usual)
    for slot in stages:
        if slot not in found:
            allowed = ", ".join(found)
            raise ModelError(f"{where}: unknown slot '{slot}'{nearest(slot, found)}; the slots are: {allowed}")
    return found


@dataclasses.dataclass(frozen=True)
class Needed:
    """A value that a stage holds: its `name` and `unit`, and whether it has a default."""

    name: str
    unit: str
    optional: bool


def needed(stages: Mapping[str, str], where: str = "model") -> Iterator[Needed]:
    """Every value that these stages hold.

    **Raises:** `ModelError` for a word that names no stage.
    """
    for kind in chosen(stages, where).values():
        params = params_class(kind)
        for field in dataclasses.fields(params) if params is not None else ():
            if "unit" in field.metadata:
                yield Needed(field.name, field.metadata["unit"], field.default is not dataclasses.MISSING)


def _value(kind: type, slot: str, field: dataclasses.Field[Any], values: Mapping[str, float]) -> float | None:
    name = field.name
    value = values.get(f"{slot.rsplit('.', 1)[-1]}.{name}", values.get(name))
    if value is None and field.default is dataclasses.MISSING:
        value = _TYPICAL.get(name)
        if value is None:
            unit = field.metadata["unit"]
            how = f"give it with --fix {name}=VALUE or in a --model file"
            raise ModelError(f"{kind.__name__} needs a value of {name} [{unit}]: {how}")
    return value


def _made(slot: str, kinds: Mapping[str, type], values: Mapping[str, float]) -> tuple[Any, Any]:
    """The stage of a slot with its parts, and its params."""
    kind = kinds[slot]
    parts = {name: _made(f"{slot}.{name}", kinds, values) for name, _, _ in _parts(kind)}
    stage = kind(**{name: part for name, (part, _) in parts.items()})
    params = params_class(kind)
    if params is None:
        return stage, None
    given: dict[str, Any] = {}
    for field in dataclasses.fields(params):
        if "unit" not in field.metadata:
            given[field.name] = parts[field.name][1] if field.name in parts else None
            continue
        value = _value(kind, slot, field, values)
        if value is not None:
            given[field.name] = value
    return stage, params(**given)


def build(
    stages: Mapping[str, str], values: Mapping[str, float], where: str = "model"
) -> tuple[jm.Bench, jm.BenchParams]:
    """The bench of these stages (a word per slot; slots left out are empty or usual) with these values [SI].

    Values are named by their field (`resistance`), or `slot.field` where two stages share a name.

    **Raises:** `ModelError` for a word that names no stage, for stages that do not fit together and for a value that
    only the user can know.
    """
    kinds = chosen(stages, where)
    made = {slot: _made(slot, kinds, values) for slot in SLOTS}
    motor = jm.Motor(**{slot: made[slot][0] for slot in MOTOR_SLOTS})
    try:
        actuator = jm.Actuator(motor, **{slot: made[slot][0] for slot in ACTUATOR_SLOTS})
    except ValueError as error:
        raise ModelError(f"{where}: {error}") from None
    motor_params = jm.MotorParams(**{slot: made[slot][1] for slot in MOTOR_SLOTS})
    actuator_params = jm.ActuatorParams(motor_params, **{slot: made[slot][1] for slot in ACTUATOR_SLOTS})
    bench = jm.Bench(actuator, made["load"][0], made["integrator"][0])
    return bench, jm.BenchParams(actuator_params, made["load"][1])


def stages_of(bench: jm.Bench) -> dict[str, str]:
    """The words that name the stages of a bench, as `build` takes them."""
    found: dict[str, str] = {}

    def name(slot: str, stage: Any) -> None:
        found[slot] = type(stage).__name__
        for part, _, _ in _parts(type(stage)):
            name(f"{slot}.{part}", getattr(stage, part))

    for slot in SLOTS:
        owner = bench.actuator.motor if slot in MOTOR_SLOTS else bench.actuator if slot in ACTUATOR_SLOTS else bench
        name(slot, getattr(owner, slot))
    return found
