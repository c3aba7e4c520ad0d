"""Logs as the arrays of one compiled program: segments side by side, padded to one length."""

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int


class Channel(eqx.Module):
    """One measured channel of every segment.

    `measured` in SI; `usable` is false where nothing was measured, where a sample only repeats an older one, and in
    the padding; `censored` is +1 where the sensor stood at its upper end, -1 at its lower.
    """

    measured: Float[Array, "*segment time"]
    usable: Bool[Array, "*segment time"]
    censored: Int[Array, "*segment time"]


class Initial(eqx.Module):
    """What is known of one initial state: `value` and the `width` within which it may move."""

    value: Float[Array, "*segment"]
    width: Float[Array, "*segment"]


class Batch(eqx.Module):
    """Segments of logs between gaps.

    `dt` [s] of every row, zero in the padding; `command` in the controller's unit; `bus_voltage` [V], `enabled`,
    `ambient` [degC] where the logs have them; `channels` that are predicted; `initial` states by name; the motion
    `reset_position` [rad], `reset_velocity` [rad/s] to which a short window returns; `overrides` of params by dotted
    path, one value per segment; `log` the index of the log; `pick` which of all coordinates are those of the segment.
    """

    dt: Float[Array, "*segment time"]
    command: Float[Array, "*segment time"]
    bus_voltage: Float[Array, "*segment time"] | None
    enabled: Bool[Array, "*segment time"] | None
    ambient: Float[Array, "*segment time"] | None
    channels: dict[str, Channel]
    initial: dict[str, Initial]
    reset_position: Float[Array, "*segment time"]
    reset_velocity: Float[Array, "*segment time"]
    overrides: dict[str, Float[Array, "*segment"]]
    log: Int[Array, "*segment"]
    pick: Int[Array, "*segment local"]


class Scales(eqx.Module):
    """Per channel: the `sigma` in which residuals are counted, and `bend`, the number of them from which the loss
    grows linearly."""

    sigma: dict[str, Float[Array, ""]]
    bend: dict[str, Float[Array, ""]]
