"""Work that waits for compiled programs, on several cores."""

import concurrent.futures
import contextlib
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import jax

Item = TypeVar("Item")
Result = TypeVar("Result")


def as_caller(function: Callable[..., Result]) -> Callable[..., Result]:
    """`function` for other threads, which know nothing of a device or of a float type that their caller has chosen for
    a while."""
    config: Any = jax.config
    wide, device = config.jax_enable_x64, config.jax_default_device

    def run(*given: Any) -> Result:
        with jax.enable_x64(wide), contextlib.nullcontext() if device is None else jax.default_device(device):
            return function(*given)

    return run


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """`function` of every item, in their order, on as many cores as there are; what they run should be compiled."""
    items = list(items)
    if len(items) < 2:
        return [function(item) for item in items]
    with concurrent.futures.ThreadPoolExecutor(min(len(items), os.cpu_count() or 1)) as pool:
        return list(pool.map(as_caller(function), items))
