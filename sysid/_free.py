"""Which parameters a fit may move, from where, and how far."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxmotor import BenchParams
from jaxmotor._parameter import parameter_fields

from ._bijector import AbstractBijector, Affine, Logarithm, Logit
from ._errors import ModelError
from ._sensors import Sensors

TIES: dict[str, tuple[str, ...]] = {"motor_constant": ("torque_constant", "back_emf_constant")}
"""Names that stand for several leaves with one value."""

_ALIASES = {"position_offset": "offset"}
_FLOOR = 1e-9
"""A parameter that may be zero is held above this share of its typical size."""


class Subject(eqx.Module):
    """Everything that a fit may move: params of the `bench`, and of the `sensors` that read it."""

    bench: BenchParams
    sensors: Sensors


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a named parameter lives in a `Subject`: dotted `paths` of its leaves, `unit`, and `sign` rule."""

    name: str
    paths: tuple[str, ...]
    unit: str
    sign: str


def places(subject: Subject) -> dict[str, Place]:
    """Every parameter of a subject by the name users give it: the field's name, or the dotted tail that is unique."""
    found = [(path, field.metadata["unit"], field.metadata["sign"]) for path, field, _ in parameter_fields(subject)]
    names: dict[str, Place] = {}
    for path, unit, sign in found:
        tail = path.rsplit(".", 1)[-1]
        same = [other for other, _, _ in found if other.rsplit(".", 1)[-1] == tail]
        name = tail if len(same) == 1 else ".".join(path.split(".")[-2:])
        names[name] = Place(name, (path,), unit, sign)
    for alias, tail in _ALIASES.items():
        if tail in names:
            names[alias] = dataclasses.replace(names.pop(tail), name=alias)
    for tie, parts in TIES.items():
        if all(part in names for part in parts):
            first = names[parts[0]]
            names[tie] = Place(tie, tuple(names[part].paths[0] for part in parts), first.unit, first.sign)
    return names


def read(subject: Subject, path: str) -> Any:
    """The leaf at a dotted path."""
    leaf: Any = subject
    for name in path.split("."):
        leaf = getattr(leaf, name)
    return leaf


def write(subject: Subject, values: Mapping[str, Any]) -> Subject:
    """A copy with the leaves at these dotted paths replaced."""
    paths = list(values)
    if not paths:
        return subject
    return eqx.tree_at(lambda s: [read(s, p) for p in paths], subject, [values[p] for p in paths])


@dataclasses.dataclass(frozen=True)
class FreeParameter:
    """One parameter that a fit moves.

    `start`, `lower`, `upper` in `unit`; infinite bounds are none. `prior` is (mean, standard deviation) or `None`.
    `per_log`: each log has its own value. `spread`: natural-log (signed parameters: absolute) width of random starts.
    """

    place: Place
    start: float
    lower: float
    upper: float
    prior: tuple[float, float] | None = None
    per_log: bool = False
    spread: float = 1.0

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def scale(self) -> float:
        """A typical size [unit], in which sensitivities are compared."""
        if np.isfinite(self.upper - self.lower) and self.lower < 0:
            return (self.upper - self.lower) / 2
        return abs(self.start) if self.start != 0 else 1.0

    @property
    def typical(self) -> float:
        """A value well off the bounds [unit]: the middle between two, else that of `scale`."""
        if np.isfinite(self.upper - self.lower):
            return (self.lower + self.upper) / 2
        return self.scale

    def bijector(self) -> AbstractBijector:
        """Two bounds: logit; positive: logarithm; signed: affine."""
        dtype = jnp.result_type(float)
        if np.isfinite(self.lower) and np.isfinite(self.upper):
            return Logit(jnp.asarray(self.lower, dtype), jnp.asarray(self.upper, dtype))
        if self.lower >= 0:
            return Logarithm(jnp.asarray(_FLOOR * self.scale, dtype))
        return Affine(jnp.asarray(self.scale, dtype))

    def inside(self, value: float) -> float:
        """`value` moved off the bounds, where a bijector has no coordinate and a gradient no effect."""
        if np.isfinite(self.upper - self.lower):
            margin = 1e-3 * (self.upper - self.lower)
            return float(np.clip(value, self.lower + margin, self.upper - margin))
        if self.lower >= 0:
            return max(value, 1e-3 * self.scale)
        return value


class Unknowns(eqx.Module):
    """Where free parameters go and how their coordinates become values; `paths` is structure."""

    paths: tuple[tuple[str, ...], ...] = eqx.field(static=True)
    bijectors: tuple[AbstractBijector, ...]

    def values(self, coordinates: Float[Array, " n"]) -> list[Float[Array, ""]]:
        """Physical values at these coordinates, one per parameter."""
        return [bijector.value(coordinates[k]) for k, bijector in enumerate(self.bijectors)]

    def put(self, subject: Subject, coordinates: Float[Array, " n"]) -> Subject:
        """The subject with the free parameters at these coordinates."""
        values = self.values(coordinates)
        return write(subject, {path: value for paths, value in zip(self.paths, values, strict=True) for path in paths})


@dataclasses.dataclass(frozen=True)
class Free:
    """The free parameters of a fit, in the order in which they are reported."""

    parameters: tuple[FreeParameter, ...]

    def __post_init__(self):
        seen: dict[str, str] = {}
        for parameter in self.parameters:
            for path in parameter.place.paths:
                if path in seen:
                    raise ModelError(f"{parameter.name} and {seen[path]} are the same value: free only one of them")
                seen[path] = parameter.name

    @property
    def names(self) -> list[str]:
        return [parameter.name for parameter in self.parameters]

    def coordinates(self, values: Iterable[float | np.ndarray]) -> Float[Array, "n *motor"]:
        """Coordinates of physical values, moved off the bounds; of many motors where the values are arrays."""
        inner = [
            p.bijector().coordinate(jnp.asarray(np.vectorize(p.inside, otypes=[float])(v)))
            for p, v in zip(self.parameters, values, strict=True)
        ]
        return jnp.stack(inner) if inner else jnp.zeros((0,))

    def unknowns(self) -> "Unknowns":
        """The part of this that a compiled program needs."""
        return Unknowns(tuple(p.place.paths for p in self.parameters), tuple(p.bijector() for p in self.parameters))

    def without(self, names: Iterable[str]) -> "Free":
        """The same without these parameters."""
        dropped = set(names)
        return Free(tuple(p for p in self.parameters if p.name not in dropped))


def free(
    subject: Subject,
    names: Iterable[str],
    *,
    starts: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    priors: Mapping[str, tuple[float, float]] | None = None,
    per_log: Iterable[str] = (),
    spreads: Mapping[str, float] | None = None,
) -> Free:
    """The named parameters of `subject` as a `Free`, starting where the subject stands unless `starts` says otherwise.

    **Raises:** `ModelError` for a name that the model does not have, with the names that it has; for bounds in the
    wrong order.
    """
    known = places(subject)
    starts, bounds, priors, spreads = starts or {}, bounds or {}, priors or {}, spreads or {}
    own = set(per_log)
    parameters = []
    for name in names:
        if name not in known:
            raise ModelError(f"{name} is not a parameter of this model: it has {', '.join(sorted(known))}")
        place = known[name]
        start = float(starts[name]) if name in starts else float(np.mean(np.asarray(read(subject, place.paths[0]))))
        lower, upper = bounds.get(name, (-np.inf if place.sign in ("finite", "not zero") else 0.0, np.inf))
        if not lower < upper:
            raise ModelError(
                f"bounds of {name} are [{lower:g}, {upper:g}] {place.unit}: the lower must be below the upper"
            )
        parameters.append(
            FreeParameter(place, start, lower, upper, priors.get(name), name in own, float(spreads.get(name, 1.0)))
        )
    return Free(tuple(parameters))
