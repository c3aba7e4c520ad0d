"""The contract that every motor subsystem keeps.

A *module* is structure: it has no array leaves, so two equal ones share one trace. Its *params* are what may be
differentiated. Its *state* is what a scan carries. A stage works on scalars; batches come from `jax.vmap`, time from
`jax.lax.scan`. All leaves and `dt` share one float type, and a stage keeps it.
"""

import abc
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

Scalar = Float[Array, ""]


class AbstractStage(eqx.Module):
    """One subsystem: `step` is itself a scan body, `init` its first carry.

    A stage that is absent is a named null object with `None` params and `None` state, so that an assembly is only
    wiring and the carry holds only what exists.
    """

    @abc.abstractmethod
    def init(self, params: Any) -> Any:
        """The state at rest, cold and unexcited, of the float type of `params`."""

    @abc.abstractmethod
    def step(self, state: Any, params: Any, ctrl: Any, qpos: Scalar, qvel: Scalar, dt: Scalar) -> tuple[Any, Any]:
        """Advance by `dt` [s].

        **Arguments:**

        - `state`, `params`: of this stage, as `init` made and as its params class holds them.
        - `ctrl`: this stage's input (a controller: the command; a winding: volts; a thermal stage: watts).
        - `qpos`, `qvel`: angle [rad] and speed [rad/s] at the start of the step, on this stage's side of the gear.
        - `dt`: duration [s].

        **Returns:** the state after the step and the stage's output during it.
        """
