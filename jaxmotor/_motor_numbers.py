"""The numbers of one motor, or of a batch, as a user gives them: made into arrays, and refused when no motor has them.

A bad entry is named by its place in the batch. Values that are being traced (inside `jit`, `vmap` or `grad`) have no
number yet and pass unseen: they were looked at where they entered.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

Given = ArrayLike | Sequence[Any] | None
"""One number, a batch of them, or a list that may hold a gap."""


def float_arrays(given: Mapping[str, Given]) -> dict[str, Float[Array, "..."]]:
    """Arrays of one floating dtype: the widest that the given arrays have, else JAX's default float."""
    dtype = _shared_dtype(given.values())
    return {name: jnp.asarray(value, dtype=dtype) for name, value in given.items()}


def check_motor(given: Mapping[str, Given], infinite: Sequence[str] = ()) -> None:
    """Refuse a gap, a non-number and anything but positive; `infinite` names what may be infinite."""
    checked = {name: _positive(name, value, name in infinite) for name, value in given.items() if not traced(value)}
    if len(checked) == len(given):
        dtype = np.dtype(_shared_dtype(given.values()))
        _check_derived(**{name: numbers.astype(dtype) for name, numbers in checked.items()})


def check_positive(name: str, value: Given) -> None:
    """Refuse anything but positive and finite."""
    if not traced(value):
        _positive(name, value, may_be_infinite=False)


def check_nonnegative(name: str, value: Given) -> None:
    """Refuse anything but finite and not negative."""
    if not traced(value):
        _in_range(name, value, lambda x: (x >= 0) & np.isfinite(x), "finite and not negative")


def place(index: Iterable[Any], shape: tuple[int, ...]) -> str:
    """Which motor of the batch, counted from one; nothing for a single motor."""
    if not shape:
        return ""
    counted = ", ".join(str(int(i) + 1) for i in index)
    sizes = ", ".join(str(size) for size in shape)
    return f"motor {counted} of {sizes}: "


def traced(value: Given) -> bool:
    """Whether a value is being traced, so that it has no number yet."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value))


def _shared_dtype(values: Iterable[Given]) -> np.dtype:
    leaves = jax.tree.leaves(list(values))
    floats = [
        x.dtype for x in leaves if isinstance(x, jax.Array | np.ndarray) and jnp.issubdtype(x.dtype, jnp.floating)
    ]
    # Explicit folding: `result_type` of mixed widths is an error under strict promotion.
    widest = max(floats, key=lambda dtype: jnp.finfo(dtype).bits, default=np.dtype(float))
    return np.dtype(jax.dtypes.canonicalize_dtype(widest))


def _positive(name: str, value: Given, may_be_infinite: bool) -> np.ndarray:
    if may_be_infinite:
        return _in_range(name, value, lambda x: x > 0, "positive", "; write inf where there is no such limit")
    return _in_range(name, value, lambda x: (x > 0) & np.isfinite(x), "positive and finite")


def _in_range(
    name: str, value: Given, admissible: Callable[[np.ndarray], np.ndarray], wanted: str, hint: str = ""
) -> np.ndarray:
    words = name.replace("_", " ")
    if _has_gap(value):
        entries = np.asarray(value, dtype=object)
        gap = next(index for index, entry in np.ndenumerate(entries) if entry is None)
        raise ValueError(f"{place(gap, entries.shape)}{words} is missing{hint}")
    try:
        numbers = np.asarray(value).astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{words} must be numbers, not {value!r}") from error
    for at in np.argwhere(~admissible(numbers)):
        raise ValueError(f"{place(at, numbers.shape)}{words} must be {wanted}, not {numbers[tuple(at)]:g}{hint}")
    return numbers


def _has_gap(value: Given) -> bool:
    return any(leaf is None for leaf in jax.tree.leaves(value, is_leaf=lambda leaf: leaf is None))


def _check_derived(resistance, torque_constant, back_emf_constant, bus_voltage, peak_torque) -> None:
    del peak_torque
    finite_voltage = np.where(np.isinf(bus_voltage), np.ones_like(bus_voltage), bus_voltage)
    with np.errstate(all="ignore"):
        derived = {
            "torque per volt (torque constant / resistance)": torque_constant / resistance,
            "stall torque (torque constant · bus voltage / resistance)": torque_constant * finite_voltage / resistance,
            "back-EMF damping (torque constant · back-EMF constant / resistance)": torque_constant
            * back_emf_constant
            / resistance,
            "no-load speed (bus voltage / back-EMF constant)": finite_voltage / back_emf_constant,
        }
    for words, numbers in derived.items():
        for at in np.argwhere(~((numbers > 0) & np.isfinite(numbers))):
            raise ValueError(
                f"{place(at, numbers.shape)}the {words} is {numbers[tuple(at)]:g}, beyond what {numbers.dtype} can hold"
            )
