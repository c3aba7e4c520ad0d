"""Loops over rows that a processor runs as one function each.

XLA's compiler for processors starts a function for every group of operations in every turn of a loop, unless a turn
touches less than 1 kB; a simulated step is some twenty of them, and starting them takes longer than what they do. A
call with the attribute below, which that compiler itself gives to the loops it takes for small, is compiled as a whole
and takes a third to two thirds of the processor time for up to some hundred lanes. It runs on one core.
"""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Jaxpr, jaxpr_as_fun

try:
    from jax.experimental.xla_metadata import set_xla_metadata
except ImportError:  # An experiment of JAX that may end: loops are slower without it.
    set_xla_metadata = None

MOST_LANES = 128
"""Runs side by side, tangents included, up to which a loop on one core beats steps dealt out to several."""

_PLAIN = frozenset(
    "abs acos acosh add add_any and asin asinh atan atan2 atanh broadcast_in_dim cbrt ceil clamp concatenate cond"
    " convert_element_type copy copy_p cos cosh cumsum custom_jvp_call custom_vjp_call div dot_general dynamic_slice"
    " dynamic_update_slice eq erf erf_inv erfc exp exp2 expand_dims expm1 floor ge gt integer_pow iota is_finite jit le"
    " log log1p logistic lt max min mul ne neg nextafter not or pad pjit pow reduce_and reduce_max reduce_min reduce_or"
    " reduce_prod reduce_sum rem reshape rev round rsqrt scan select_n sign sin sinh slice sqrt square squeeze"
    " stop_gradient sub tan tanh transpose while xor checkpoint closed_call core_call remat remat2".split()
)
"""What may stand in such a loop. Calls of libraries (a linear solve, a sort) and of Python may not."""


def worthwhile(lanes: int) -> bool:
    """Whether loops with so many runs side by side are better compiled as one function."""
    return set_xla_metadata is not None and lanes <= MOST_LANES and jax.default_backend() == "cpu"


def at_once(function: Callable[..., Any], *given: Any) -> Any:
    """`function(*given)`, which loops, as one function; as ever where it holds what may not stand in one."""
    traced, shape = jax.make_jaxpr(function, return_shape=True)(*given)
    tree = jax.tree_util.tree_structure(shape)
    inner = jaxpr_as_fun(traced)
    leaves = jax.tree_util.tree_leaves(given)
    if set_xla_metadata is None or not _plain(traced.jaxpr):
        return jax.tree_util.tree_unflatten(tree, inner(*leaves))
    found = jax.jit(inner)(*leaves)
    # Put on a value, the attribute is that of the call it comes from, and of nothing inside.
    found[0] = set_xla_metadata(found[0], xla_cpu_small_call="true", inlineable="false")
    return jax.tree_util.tree_unflatten(tree, found)


def _plain(program: Jaxpr) -> bool:
    """Whether every operation of a program, and of those inside it, is plain."""
    return all(
        equation.primitive.name in _PLAIN and all(_plain(inner) for inner in _inside(equation.params))
        for equation in program.eqns
    )


def _inside(params: Any) -> list[Jaxpr]:
    found = []
    for value in jax.tree_util.tree_leaves(list(params.values()), is_leaf=_is_program):
        if _is_program(value):
            found.append(getattr(value, "jaxpr", value))
    return found


def _is_program(value: Any) -> bool:
    return hasattr(value, "eqns") or hasattr(value, "jaxpr")
