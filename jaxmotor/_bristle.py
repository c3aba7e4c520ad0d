"""Friction with a deflection: bristles between the shaft and its bearing, motor side."""

import abc
from typing import Any

import jax.numpy as jnp

from ._flow import AbstractShaft, Motion
from ._stage import AbstractStage, Scalar


class AbstractBristle(AbstractStage):
    """Bristle friction; no `ctrl`, its output is the friction torque on the shaft [N m] (opposing motion is negative).

    `step` reads the torque from the deflection at the start of the step, as MuJoCo does; `move` solves the shaft and
    the bristle together, with the torque from the deflection at the end, and is what rests at rest.
    """

    @abc.abstractmethod
    def move(self, state: Any, params: Any, shaft: AbstractShaft, qvel: Scalar, dt: Scalar) -> Motion:
        """The motion of `shaft` against this friction from speed `qvel` [rad/s] over `dt` [s]."""

    @abc.abstractmethod
    def damping(self, params: Any, qvel: Scalar) -> Scalar:
        """Micro-damping sigma1 [N m s/rad], the part of the torque's slope in speed that integrators may use."""


class Frictionless(AbstractBristle):
    """No bristle: the shaft moves exactly under its constant torque, damping and dry friction."""

    def init(self, params: None) -> None:
        del params

    def step(
        self, state: None, params: None, ctrl: None, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[None, Scalar]:
        del state, params, ctrl, qpos, dt
        return None, jnp.zeros_like(qvel)

    def move(self, state: None, params: None, shaft: AbstractShaft, qvel: Scalar, dt: Scalar) -> Motion:
        del state, params
        return shaft.flow(qvel, dt)

    def damping(self, params: None, qvel: Scalar) -> Scalar:
        del params
        return jnp.zeros_like(qvel)
