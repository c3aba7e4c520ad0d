"""What an example of a stage is, and how to find every class that needs one."""

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


def stepped(module, state, params, ctrl, qpos, qvel, dt):
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
    call: Callable[..., Any] = stepped
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
