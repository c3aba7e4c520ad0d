"""What a parameter is: an array leaf that knows its unit and the sign its value must have."""

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, PyTree

if TYPE_CHECKING:
    # A type checker does not see that the fields below convert plain numbers.
    Parameter = Any
else:
    Parameter = Float[Array, "*batch"]
    """One value, or one per batch element where params are built for `jax.vmap`."""


def as_parameter(value: Any) -> Array:
    """An array of the default float type; an array of `jax` keeps its own float type.

    A bare Python float would be no leaf for `jax.grad` and would retrace `jax.jit`, so params never hold one.
    """
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating):
        return jnp.asarray(value, dtype=value.dtype)
    return jnp.asarray(value, dtype=jnp.result_type(float))


def _field(unit: str, sign: str, default: Any) -> Any:
    rest = {} if default is dataclasses.MISSING else {"default": default}
    return eqx.field(converter=as_parameter, metadata={"unit": unit, "sign": sign}, **rest)


def positive(unit: str, default: Any = dataclasses.MISSING) -> Any:
    """A field whose values must be finite and above zero, in `unit`."""
    return _field(unit, "positive", default)


def positive_or_infinite(unit: str, default: Any = dataclasses.MISSING) -> Any:
    """A field whose values must be above zero and may be infinite, in `unit`."""
    return _field(unit, "positive or infinite", default)


def nonnegative_or_infinite(unit: str, default: Any = dataclasses.MISSING) -> Any:
    """A field whose values must not be below zero and may be infinite, in `unit`."""
    return _field(unit, "not negative or infinite", default)


def nonnegative(unit: str, default: Any = dataclasses.MISSING) -> Any:
    """A field whose values must be finite and not below zero, in `unit`."""
    return _field(unit, "not negative", default)


def nonzero(unit: str, default: Any = dataclasses.MISSING) -> Any:
    """A field whose values must be finite and not zero, in `unit`."""
    return _field(unit, "not zero", default)


def real(unit: str, default: Any = dataclasses.MISSING) -> Any:
    """A field whose values must be finite, in `unit`."""
    return _field(unit, "finite", default)


def fraction(unit: str, default: Any = dataclasses.MISSING) -> Any:
    """A field whose values must be above zero and not above one, in `unit`."""
    return _field(unit, "above zero and at most one", default)


def at_most_one(unit: str, default: Any = dataclasses.MISSING) -> Any:
    """A field whose values must be finite and not above one, in `unit`."""
    return _field(unit, "at most one", default)


_ADMISSIBLE = {
    "above zero and at most one": lambda x: (x > 0) & (x <= 1),
    "at most one": lambda x: np.isfinite(x) & (x <= 1),
    "positive": lambda x: np.isfinite(x) & (x > 0),
    "positive or infinite": lambda x: ~np.isnan(x) & (x > 0),
    "not negative": lambda x: np.isfinite(x) & (x >= 0),
    "not negative or infinite": lambda x: ~np.isnan(x) & (x >= 0),
    "not zero": lambda x: np.isfinite(x) & (x != 0),
    "finite": lambda x: np.isfinite(x),
}


def parameter_fields(params: PyTree, prefix: str = "") -> Iterator[tuple[str, dataclasses.Field[Any], Any]]:
    """Every parameter of a params tree as (dotted path, dataclass field, value)."""
    if isinstance(params, (tuple, list)):
        for index, item in enumerate(params):
            yield from parameter_fields(item, f"{prefix}[{index}]")
    elif dataclasses.is_dataclass(params):
        for field in dataclasses.fields(params):
            value, path = getattr(params, field.name), f"{prefix}.{field.name}" if prefix else field.name
            if "sign" in field.metadata:
                yield path, field, value
            else:
                yield from parameter_fields(value, path)


def check_params(params: PyTree) -> None:
    """Refuse values that no motor has. Values under a `jax` transformation cannot be seen and pass.

    **Raises:** `ValueError` naming the parameter, its unit, the offending value and, in a batch, its index.
    """
    for path, field, value in parameter_fields(params):
        if value is None or isinstance(value, Tracer):
            continue
        values = np.asarray(value)
        bad = ~_ADMISSIBLE[field.metadata["sign"]](values)
        if np.any(bad):
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            where = f" (batch element {index[0] if len(index) == 1 else index})" if index else ""
            raise ValueError(
                f"{path} [{field.metadata['unit']}] is {values[index]}{where}: it must be {field.metadata['sign']}"
            )
