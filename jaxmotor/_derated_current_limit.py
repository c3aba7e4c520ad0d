"""A driver that takes current back as the winding heats up."""

import equinox as eqx
import jax.numpy as jnp

from ._current_limit import AbstractCurrentLimit, window
from ._parameter import Parameter, positive, real
from ._stage import Scalar
from ._winding import Response


class DeratedCurrentLimitParams(eqx.Module):
    """`rated_current` [A] up to `derating_start` T1 [degC] of the winding, `safe_current` [A] from `derating_end`
    T2 > T1 [degC] on."""

    rated_current: Parameter = positive("A")
    safe_current: Parameter = positive("A")
    derating_start: Parameter = real("degC")
    derating_end: Parameter = real("degC")


class DeratedCurrentLimit(AbstractCurrentLimit):
    """|i| <= i_safe + (i_rated - i_safe) s(T) with s = 1 - x^2 (3 - 2 x), x = (T - T1) / (T2 - T1) within 0 and 1
    (MuJoCo DC motor note, "Thermal Derating", whose interpolant is left open; this one has no kink). Needs a thermal
    stage."""

    def limit(self, params: DeratedCurrentLimitParams, temperature: Scalar) -> Scalar:
        """Largest current [A] at this winding temperature [degC]."""
        span = params.derating_end - params.derating_start
        x = jnp.clip((temperature - params.derating_start) / span, 0.0, 1.0)
        return params.safe_current + (params.rated_current - params.safe_current) * (1 - x * x * (3 - 2 * x))

    def voltage_bounds(
        self, params: DeratedCurrentLimitParams, response: Response, temperature: Scalar | None = None
    ) -> tuple[Scalar, Scalar]:
        if temperature is None:
            raise ValueError("DeratedCurrentLimit follows the winding temperature: give the Motor a thermal stage")
        return window(self.limit(params, temperature), response)

    def largest_current(self, params: DeratedCurrentLimitParams, like: Scalar) -> Scalar:
        return jnp.broadcast_to(params.rated_current, like.shape)
