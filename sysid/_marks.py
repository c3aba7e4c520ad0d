"""Which samples of a channel are no fresh measurements: held, clipped, or too far apart to follow."""

import numpy as np

from sysid._angle import FAST, fast_steps
from sysid._channels import Channels
from sysid._clipping import beyond, clipped_rows
from sysid._held import held_rows
from sysid._log import INPUT_CHANNELS
from sysid._resolution import is_coarse, resolution
from sysid._units import CHANNEL_UNITS

# A drive's own reading of the torque is flat where the drive limits it, and is right there: only a stated limit counts.
_CLIPPED = ("current", "supply_current", "velocity")


def mark_held(channels: Channels) -> None:
    """Masks repeats of an older sample, in every measured channel."""
    if channels.keeps("held_samples"):
        return
    for channel, values in channels.values.items():
        if channel in INPUT_CHANNELS:
            continue
        mask = channels.masks[channel]
        rows = np.flatnonzero(mask)
        repeats = np.zeros(len(mask), dtype=np.bool_)
        repeats[rows] = held_rows(values[rows])
        if repeats.any():
            message = f"{channel} repeats an older sample in {repeats.sum() / len(rows):.0%} of the rows"
            action = "only fresh samples count"
            channels.tell_rows("held_samples", message, repeats, action, "--keep held_samples")
            channels.held[channel] = repeats
            channels.masks[channel] = mask & ~repeats


def mark_clipped(channels: Channels) -> None:
    """Masks and censors measurements at an end of their sensor's range."""
    for channel, whole in channels.values.items():
        limit = channels.options.limits.get(channel)
        if limit is None and (channel not in _CLIPPED or channels.keeps("clipped")):
            continue
        mask = channels.masks[channel]
        rows = np.flatnonzero(mask)
        values = whole[rows]
        found = clipped_rows(values) if limit is None else beyond(values, limit, resolution(values))
        if not found.any():
            continue
        marks = np.zeros(len(mask), dtype=np.int8)
        marks[rows] = found
        ends = " and ".join(f"{values[found == sign].max():.5g}" for sign in (-1, 1) if (found == sign).any())
        share = np.mean(found != 0)
        message = f"{channel} ends at {ends} {CHANNEL_UNITS[channel]}, the sensor's limit, in {share:.1%} of the rows"
        option = f"--keep clipped or --limit {channel}=VALUE"
        channels.tell_rows("clipped", message, marks != 0, "counted as bounds only", option)
        channels.censored[channel] = marks
        channels.masks[channel] = mask & (marks == 0)


def tell_fast(channels: Channels) -> None:
    """Reports steps of the position so large that the way round is uncertain."""
    if "position" not in channels.values:
        return
    where = np.zeros(len(channels.stamps.time), dtype=np.bool_)
    where[fast_steps(channels.values["position"], channels.masks["position"])] = True
    where[channels.stamps.breaks] = False
    if where.any():
        message = (
            f"position moves by more than {FAST} turn per step at {int(where.sum())} rows; the way round is uncertain"
        )
        channels.tell_rows("fast_angle", message, where, "none", "--keep wrapped_angle")


def tell_coarse(channels: Channels) -> None:
    """Reports channels written in steps that are as large as their usual changes."""
    for channel, values in channels.values.items():
        usable = values[channels.masks[channel]]
        if channel not in INPUT_CHANNELS and is_coarse(usable):
            message = f"{channel} comes in steps of {resolution(usable):.4g} {CHANNEL_UNITS[channel]}"
            channels.tell("quantised", message, "none", "", "info")
