"""Seconds that JAX spent compiling, as JAX itself reports them."""

import contextlib
import time
from collections.abc import Iterator

import jax.monitoring

_spent = {"compile": 0.0}


def _listen(event: str, duration_secs: float, **kwargs: str | int) -> None:
    del kwargs
    if event.startswith("/jax/core/compile/"):
        _spent["compile"] += duration_secs


jax.monitoring.register_event_duration_secs_listener(_listen)


def compile_seconds() -> float:
    """Tracing, lowering and compiling so far in this process [s]."""
    return _spent["compile"]


@contextlib.contextmanager
def compiling_together() -> Iterator[None]:
    """While several threads compile, time passes only once."""
    before, begun = _spent["compile"], time.perf_counter()
    yield
    if _spent["compile"] > before:
        _spent["compile"] = before + time.perf_counter() - begun
