"""What limited a torque: the codes of every `saturation` read-out."""

import enum

import jax.numpy as jnp

from ._stage import Scalar


class Saturation(enum.IntEnum):
    """Which bound moved a request. An admissible request, also one exactly on a bound, was not moved: `NONE`."""

    NONE = 0
    PEAK_TORQUE = 1
    VOLTAGE = 2
    CURRENT = 3


def rounding(*terms: Scalar) -> Scalar:
    """What a sum of such terms may lose or gain on its way through a few operations, in their unit.

    A torque that lies exactly on a bound is asked for as a voltage and comes back as a torque: only what moves it by
    more than this is a limit.
    """
    size = sum(abs(term) for term in terms[1:]) + abs(terms[0])
    return 8 * jnp.finfo(size.dtype).eps * size
