"""Work that waits for compiled programs, on several cores."""

import concurrent.futures
import contextlib
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import jax

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """`function` of every item, in their order, on as many cores as there are; what they run should be compiled."""
    items = list(items)
    if len(items) < 2:
        return [function(item) for item in items]
    config: Any = jax.config
    device = config.jax_default_device

    def one(item: Item) -> Result:
        # A thread knows nothing of a device that its caller has chosen for a while.
        with contextlib.nullcontext() if device is None else jax.default_device(device):
            return function(item)

    with concurrent.futures.ThreadPoolExecutor(min(len(items), os.cpu_count() or 1)) as pool:
        return list(pool.map(one, items))
