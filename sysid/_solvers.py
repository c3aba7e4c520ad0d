"""The words by which a user chooses how parameters are moved."""

import functools

import optax

from ._errors import ModelError
from ._levenberg_marquardt import levenberg_marquardt
from ._solve import Solver

SOLVERS = ("levenberg-marquardt", "adam", "lbfgs")


@functools.cache
def _named(name: str) -> Solver:
    if name == "adam":
        # From strides of a few percent down to the width of good error bars.
        strides = optax.exponential_decay(0.03, 50, 0.7)
        return Solver(name, optax.with_extra_args_support(optax.adam(strides)), False)
    if name == "lbfgs":
        return Solver(name, optax.lbfgs(), False)
    return Solver(name, levenberg_marquardt(), True)


def solver_named(choice: str | optax.GradientTransformation) -> Solver:
    """A solver by its word, or around any Optax transformation of the user's.

    **Raises:** `ModelError` for an unknown word.
    """
    if isinstance(choice, str):
        if choice not in SOLVERS:
            raise ModelError(f"solver {choice!r} is unknown: choose one of {', '.join(SOLVERS)}")
        return _named(choice)
    return Solver("given", optax.with_extra_args_support(choice), False)
