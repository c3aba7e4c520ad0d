"""Dry friction of a loaded, geared joint, put together from its terms."""

from typing import Any

import equinox as eqx

from ._dry_friction import AbstractDryFriction
from ._load_friction import AbstractLoadFriction, NoLoadFriction
from ._parameter import Parameter, nonnegative
from ._stage import Scalar
from ._stribeck import AbstractStribeck, NoStribeck


class LoadDependentFrictionParams(eqx.Module):
    """`coulomb_friction` [N m]; params of the terms `load`, `stribeck`, `slow_load` and `slow_quadratic`, `None` where
    a term has none."""

    coulomb_friction: Parameter = nonnegative("N m")
    load: Any = None
    stribeck: Any = None
    slow_load: Any = None
    slow_quadratic: Any = None


class LoadDependentFriction(AbstractDryFriction):
    """budget = tau_c + load(tm, te) + s(w) (tau_cs + slow_load(tm, te) + slow_quadratic(tm, te)).

    The slow terms fade with the Stribeck share s. BAM's models (bam/model.py) are its cases: M1 none of the terms, M2
    `stribeck`, M3 a symmetric `load`, M4 both and a symmetric `slow_load`, M5 the same with directional terms, M6 a
    quadratic `slow_quadratic` added. Viscous friction is the actuator's drag.
    """

    load: AbstractLoadFriction = NoLoadFriction()
    stribeck: AbstractStribeck = NoStribeck()
    slow_load: AbstractLoadFriction = NoLoadFriction()
    slow_quadratic: AbstractLoadFriction = NoLoadFriction()

    def budget(
        self, params: LoadDependentFrictionParams, qvel: Scalar, motor_torque: Scalar, external_torque: Scalar
    ) -> Scalar:
        steady = params.coulomb_friction + self.load.share(params.load, motor_torque, external_torque)
        slow = self.stribeck.friction(params.stribeck, qvel)
        slow = slow + self.slow_load.share(params.slow_load, motor_torque, external_torque)
        slow = slow + self.slow_quadratic.share(params.slow_quadratic, motor_torque, external_torque)
        return steady + self.stribeck.left(params.stribeck, qvel) * slow
