"""Logs as the arrays of one compiled program: segments side by side, padded to one length."""

from typing import TYPE_CHECKING, Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int

if TYPE_CHECKING:
    Rows = Any
else:
    # Of NumPy until they are handed to a program, which is all that calculates with them.
    Rows = Array | np.ndarray


class Channel(eqx.Module):
    """One measured channel of every segment.

    `measured` in SI; `usable` is false where nothing was measured, where a sample only repeats an older one, and in
    the padding; `censored` is +1 where the sensor stood at its upper end, -1 at its lower.
    """

    measured: Float[Rows, "*segment time"]
    usable: Bool[Rows, "*segment time"]
    censored: Int[Rows, "*segment time"]


class Initial(eqx.Module):
    """What is known of one initial state: `value` and the `width` within which it may move."""

    value: Float[Rows, "*segment"]
    width: Float[Rows, "*segment"]


class Batch(eqx.Module):
    """Segments of logs between gaps.

    `dt` [s] of every row, zero in the padding; `command` in the controller's unit; `bus_voltage` [V], `enabled`,
    `ambient` [degC] where the logs have them; `channels` that are predicted; `initial` states by name; the motion
    `reset_position` [rad], `reset_velocity` [rad/s] to which a short window returns; `overrides` of params by dotted
    path, one value per segment; `log` the index of the log; `pick` which of all coordinates are those of the segment.
    """

    dt: Float[Rows, "*segment time"]
    command: Float[Rows, "*segment time"]
    bus_voltage: Float[Rows, "*segment time"] | None
    enabled: Bool[Rows, "*segment time"] | None
    ambient: Float[Rows, "*segment time"] | None
    channels: dict[str, Channel]
    initial: dict[str, Initial]
    reset_position: Float[Rows, "*segment time"]
    reset_velocity: Float[Rows, "*segment time"]
    overrides: dict[str, Float[Rows, "*segment"]]
    log: Int[Rows, "*segment"]
    pick: Int[Rows, "*segment local"]


class Scales(eqx.Module):
    """Per channel: the `sigma` in which residuals are counted, and `bend`, the number of them from which the loss
    grows linearly."""

    sigma: dict[str, Float[Array, ""]]
    bend: dict[str, Float[Array, ""]]
