"""How fast a driver lets the winding current change."""

import abc

import equinox as eqx

from ._bounded import bounded
from ._parameter import Parameter, positive
from ._stage import Scalar


class AbstractCurrentRate(eqx.Module):
    """Bounds di/dt inside a winding that has inductance."""

    @abc.abstractmethod
    def limit(self, params, rate: Scalar) -> Scalar:
        """The admissible rate of change of current [A/s] nearest to `rate` [A/s]."""


class UnlimitedCurrentRate(AbstractCurrentRate):
    """No bound on di/dt; params are `None`."""

    def limit(self, params: None, rate: Scalar) -> Scalar:
        del params
        return rate


class CurrentRateLimitParams(eqx.Module):
    """`maximum_current_rate`: bound on the magnitude of di/dt [A/s]."""

    maximum_current_rate: Parameter = positive("A/s")


class CurrentRateLimit(AbstractCurrentRate):
    """|di/dt| <= (di/dt)max [A/s] at the start of the step (MuJoCo DC motor note, "Inductance").

    The bound is on the rate at the start: within the step the rate decays with the winding's time constant, so the
    current changes by at most (di/dt)max t_e (1 - e^(-h/t_e)), which is MuJoCo's rule in code.
    """

    def limit(self, params: CurrentRateLimitParams, rate: Scalar) -> Scalar:
        return bounded(rate, -params.maximum_current_rate, params.maximum_current_rate)
