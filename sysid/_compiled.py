"""Programs that are compiled once, run for seconds and thrown away: compiling them fast matters as much as running."""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

_QUICK = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_prefer_vector_width": 512}
"""XLA's older code generator for processors compiles the body of a simulated step sooner, and its code runs as fast;
with vectors as wide as the processor has them, not half as wide, by a sixth faster."""


@functools.cache
def _options() -> dict[str, Any] | None:
    """Compiler options of this backend; none where the installed XLA has no such words."""
    if jax.default_backend() != "cpu":
        return None
    try:
        jax.jit(lambda: None, compiler_options=_QUICK).lower().compile()
    except jax.errors.JaxRuntimeError:
        return None
    return _QUICK


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`eqx.filter_jit`, compiled fast; not for use inside another compiled function. Its `lower` is that of the jit."""

    @functools.cache
    def made() -> Callable[..., Any]:
        jit: Any = eqx.filter_jit
        return jit(function, compiler_options=_options())

    @functools.wraps(function)
    def called(*given: Any) -> Any:
        return made()(*given)

    def lower(*given: Any) -> Any:
        program: Any = made()
        return program.lower(*given)

    vars(called)["lower"] = lower
    return called
