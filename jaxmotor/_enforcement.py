"""Whether the operating region limits the motors of a group, or is only watched."""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._region import TorqueBounds

PerActuator = Float[Array, " actuators"]


class AbstractEnforcement(eqx.Module):
    """What becomes of a request outside the region; structure only."""

    @abc.abstractmethod
    def applied(self, commanded: PerActuator, limited: PerActuator) -> PerActuator:
        """The torque that acts [N m], of the commanded and of the limited one."""

    @abc.abstractmethod
    def bounds(self, bounds: TorqueBounds) -> tuple[PerActuator, PerActuator]:
        """The motor torques [N m] between which a command passes unchanged."""


class Enforced(AbstractEnforcement):
    """Requests are clipped to the region."""

    def applied(self, commanded: PerActuator, limited: PerActuator) -> PerActuator:
        del commanded
        return limited

    def bounds(self, bounds: TorqueBounds) -> tuple[PerActuator, PerActuator]:
        return bounds.lower, bounds.upper


class Monitored(AbstractEnforcement):
    """Requests pass; `saturation` still names the bound that they exceed (RaiSim, "Monitoring without enforcing").

    The electrical read-outs stay those of the limited motor: no current gives a torque outside the region.
    """

    def applied(self, commanded: PerActuator, limited: PerActuator) -> PerActuator:
        del limited
        return commanded

    def bounds(self, bounds: TorqueBounds) -> tuple[PerActuator, PerActuator]:
        return jnp.full_like(bounds.lower, -jnp.inf), jnp.full_like(bounds.upper, jnp.inf)
