"""LuGre friction: bristles whose strength falls with speed."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ._bristle import AbstractBristle
from ._bristle_motion import BristleState, hold, move_bristle
from ._decay import AbstractDecay, GaussianDecay, NoDecay
from ._flow import AbstractShaft, Motion
from ._parameter import Parameter, nonnegative, positive
from ._stage import Scalar


class LuGreParams(eqx.Module):
    """`lugre_stiffness` sigma0 [N m/rad], `lugre_damping` sigma1 [N m s/rad], `coulomb_friction` tau_c [N m],
    `stiction_torque` tau_s >= tau_c [N m], `stribeck_velocity` w_s [rad/s], at the motor shaft; `stribeck_decay` and
    `damping_decay` belong to those parts. The viscous term sigma2 of the model is the actuator's drag."""

    lugre_stiffness: Parameter = nonnegative("N m/rad")
    lugre_damping: Parameter = nonnegative("N m s/rad")
    coulomb_friction: Parameter = positive("N m")
    stiction_torque: Parameter = positive("N m")
    stribeck_velocity: Parameter = positive("rad/s")
    stribeck_decay: Any = None
    damping_decay: Any = None


class LuGre(AbstractBristle):
    """dz/dt = w - sigma0 |w| z / g(w), tau = -(sigma0 z + sigma1(w) dz/dt),
    g(w) = tau_c + (tau_s - tau_c) e^(-|w/w_s|^gamma), sigma1(w) = sigma1 e^(-|w/w_s|^beta)
    (MuJoCo DC motor note, "LuGre Model" and "Velocity-Dependent Damping").

    `stribeck_decay` is `GaussianDecay()` for gamma = 2 or `PowerDecay()`; `damping_decay` is `NoDecay()` for a constant
    sigma1 or either of the others.
    """

    stribeck_decay: AbstractDecay = GaussianDecay()
    damping_decay: AbstractDecay = NoDecay()

    def init(self, params: LuGreParams) -> BristleState:
        return BristleState(jnp.zeros_like(params.lugre_stiffness))

    def level(self, params: LuGreParams, qvel: Scalar) -> Scalar:
        """Steady friction torque g [N m] at shaft speed `qvel` [rad/s], the Stribeck curve."""
        left = self.stribeck_decay.left(params.stribeck_decay, qvel / params.stribeck_velocity)
        return params.coulomb_friction + (params.stiction_torque - params.coulomb_friction) * left

    def damping(self, params: LuGreParams, qvel: Scalar) -> Scalar:
        return params.lugre_damping * self.damping_decay.left(params.damping_decay, qvel / params.stribeck_velocity)

    def step(
        self, state: BristleState, params: LuGreParams, ctrl: None, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[BristleState, Scalar]:
        del ctrl, qpos
        stiffness, level, deflection = params.lugre_stiffness, self.level(params, qvel), state.deflection
        rate = qvel - stiffness * jnp.abs(qvel) / level * deflection
        torque = -(stiffness * deflection + self.damping(params, qvel) * rate)
        return BristleState(hold(deflection, stiffness, level, qvel, dt)), torque

    def move(self, state: BristleState, params: LuGreParams, shaft: AbstractShaft, qvel: Scalar, dt: Scalar) -> Motion:
        level, damping = self.level(params, qvel), self.damping(params, qvel)
        return move_bristle(state.deflection, params.lugre_stiffness, damping, level, shaft, qvel, dt)
