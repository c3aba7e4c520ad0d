"""Torque ripple of the magnets against the teeth."""

import equinox as eqx
import jax.numpy as jnp

from ._kept import kept_sine
from ._parameter import Parameter, real
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


class CoggingParams(eqx.Module):
    """`amplitude` A [N m], `pole_count` N_p [periods per turn of the shaft], `phase` phi [rad]: one value
    each, or one per harmonic on a trailing axis."""

    amplitude: Parameter = real("N m")
    pole_count: Parameter = real("1")
    phase: Parameter = real("rad", default=0.0)


class Cogging(AbstractCogging):
    """tau = sum of A sin(N_p theta + phi) over the harmonics, with the motor angle theta [rad] (MuJoCo DC motor note,
    "Cogging Torque"; MuJoCo has one harmonic)."""

    def init(self, params: CoggingParams) -> None:
        del params

    def step(
        self, state: None, params: CoggingParams, ctrl: None, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, Scalar]:
        del state, ctrl, qvel, dt
        return None, jnp.sum(params.amplitude * kept_sine(params.pole_count * qpos + params.phase, params.amplitude))
