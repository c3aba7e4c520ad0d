"""Dahl friction: bristles of constant strength, hysteresis without a Stribeck effect."""

import equinox as eqx
import jax.numpy as jnp

from ._bristle import AbstractBristle
from ._bristle_motion import BristleState, hold, move_bristle
from ._flow import AbstractShaft, Motion
from ._parameter import Parameter, nonnegative, positive
from ._stage import Scalar


class DahlParams(eqx.Module):
    """`bristle_stiffness` sigma0 [N m/rad] and `coulomb_friction` tau_c [N m] at the motor shaft."""

    bristle_stiffness: Parameter = nonnegative("N m/rad")
    coulomb_friction: Parameter = positive("N m")


class Dahl(AbstractBristle):
    """dz/dt = w - sigma0 |w| z / tau_c, tau = -sigma0 z (MuJoCo DC motor note, "Dahl Model").

    Rate-independent and passive for all values: LuGre with tau_s = tau_c and no micro-damping.
    """

    def init(self, params: DahlParams) -> BristleState:
        return BristleState(jnp.zeros_like(params.bristle_stiffness))

    def damping(self, params: DahlParams, qvel: Scalar) -> Scalar:
        del params
        return jnp.zeros_like(qvel)

    def step(
        self, state: BristleState, params: DahlParams, ctrl: None, qpos: Scalar, qvel: Scalar, dt: Scalar
    ) -> tuple[BristleState, Scalar]:
        del ctrl, qpos
        after = hold(state.deflection, params.bristle_stiffness, params.coulomb_friction, qvel, dt)
        return BristleState(after), -params.bristle_stiffness * state.deflection

    def move(self, state: BristleState, params: DahlParams, shaft: AbstractShaft, qvel: Scalar, dt: Scalar) -> Motion:
        none = jnp.zeros_like(qvel)
        stiffness, level = params.bristle_stiffness, params.coulomb_friction
        return move_bristle(state.deflection, stiffness, none, level, shaft, qvel, dt)
