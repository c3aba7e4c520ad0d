"""Torque ripple of the magnets against the teeth."""

import jax.numpy as jnp

from ._stage import AbstractStage, Scalar


class AbstractCogging(AbstractStage):
    """Cogging; no `ctrl`, its output is the cogging torque at the shaft [N m]."""


class NoCogging(AbstractCogging):
    """A slotless or skewed machine: no cogging torque."""

    def init(self, params: None) -> None:
        del params

    def step(
        self, state: None, params: None, ctrl: None, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, Scalar]:
        del state, params, ctrl, qpos, dt
        return None, jnp.zeros_like(qvel)
