"""Whether bristle friction can give energy to the shaft: looked at where values enter."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from ._lugre import LuGre, LuGreParams
from ._parameter import check_params
from ._stage import Scalar


class PassivityWarning(UserWarning):
    """Friction that can give energy to the shaft."""


def _lacking(bristle: LuGre, params: LuGreParams, qvel: Scalar) -> Scalar:
    """Viscous damping [N m s/rad] without which the bristle gives energy at this speed W > 0.

    Power minus the growth of the energy sigma0 z^2 / 2 stored in the bristle is, with y = sigma0 z,
    W y^2 / g + sigma1 W^2 (1 - y / g) + sigma2 W^2. It is least at y = sigma1 W / 2, or at the largest y = tau_s.
    """
    level, damping = bristle.level(params, qvel), bristle.damping(params, qvel)
    worst = jnp.minimum(damping * qvel / 2, params.stiction_torque)
    return damping * (worst / level - 1) - jnp.square(worst) / (level * qvel)


def passive_damping(bristle: LuGre, params: LuGreParams) -> Float[Array, "*batch"]:
    """The least viscous damping sigma2 [N m s/rad] with which this friction takes energy in every motion.

    sigma1 (tau_s - tau_c) / tau_c for constant sigma1 (MuJoCo DC motor note, "LuGre Model"); where sigma1 decays with
    speed, the largest value over a grid of speeds.
    """

    def one(values: LuGreParams) -> Scalar:
        speeds = values.stribeck_velocity * jnp.geomspace(1e-3, 1e6, 400, dtype=values.stribeck_velocity.dtype)
        lacking = jax.vmap(lambda w: _lacking(bristle, values, w))(speeds)
        return jnp.maximum(jnp.max(lacking), jnp.zeros_like(lacking[0]))

    evaluate = one
    for _ in range(params.lugre_stiffness.ndim):
        evaluate = jax.vmap(evaluate)
    return evaluate(params)


def check_lugre(bristle: LuGre, params: LuGreParams, viscous_damping: Any = 0.0) -> None:
    """Look at LuGre values where they enter, with the motor-side viscous damping sigma2 [N m s/rad] beside them.

    **Raises:** `ValueError` for values that no bristle has, among them stiction below Coulomb friction.

    **Warns:** `PassivityWarning` where sigma2 is below `passive_damping`. Values under a `jax` transformation pass
    unseen.
    """
    check_params(params)
    if any(isinstance(value, Tracer) for value in jax.tree_util.tree_leaves((params, viscous_damping))):
        return
    stiction, coulomb = np.asarray(params.stiction_torque), np.asarray(params.coulomb_friction)
    if np.any(stiction < coulomb):
        raise ValueError(
            f"stiction_torque [N m] is {stiction}, below coulomb_friction {coulomb}: friction is strongest at rest, "
            "give stiction_torque at least the value of coulomb_friction"
        )
    needed = np.asarray(passive_damping(bristle, params))
    if np.any(np.asarray(viscous_damping) < needed * (1 - 1e-6)):
        warnings.warn(
            f"LuGre friction can give energy to the shaft: viscous damping is {viscous_damping} N m s/rad but must be "
            f"{needed} to take energy in every motion; raise it, lower lugre_damping or let that decay with speed",
            PassivityWarning,
            stacklevel=2,
        )
