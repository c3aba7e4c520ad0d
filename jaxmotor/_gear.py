"""Gears between the motor shaft and the joint."""

import abc
from typing import Any

import equinox as eqx

from ._parameter import Parameter, nonnegative, nonzero
from ._stage import Scalar


class AbstractGear(eqx.Module):
    """A gear; params hold `ratio` and `rotor_inertia`."""

    @abc.abstractmethod
    def ratio(self, params: Any) -> Scalar:
        """Motor angle per joint angle [1], of any sign: theta = N q, w = N u, joint torque = N motor torque."""

    @abc.abstractmethod
    def reflected_inertia(self, params: Any) -> Scalar:
        """Rotor inertia seen at the joint [kg m^2]: N^2 J."""


class GearParams(eqx.Module):
    """`ratio` N [1]; `rotor_inertia` J [kg m^2] on the motor side."""

    ratio: Parameter = nonzero("1", default=1.0)
    rotor_inertia: Parameter = nonnegative("kg m^2", default=0.0)


class Gear(AbstractGear):
    """A stiff gear without losses (MuJoCo DC motor note, "Gearing")."""

    def ratio(self, params: GearParams) -> Scalar:
        return params.ratio

    def reflected_inertia(self, params: GearParams) -> Scalar:
        return params.rotor_inertia * params.ratio**2
