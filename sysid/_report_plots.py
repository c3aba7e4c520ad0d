"""The pictures of a fit."""

import io
import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ._identifiability import OPEN, Direction, in_words
from ._metrics import Comparison
from ._profile import Profile
from ._valley import THRESHOLD

MEASURED, SIMULATED, RESIDUAL, ALARM = "#9aa5b1", "#0b62a4", "#3d4852", "#c0392b"
_SHOWN = (1e-9, 1e3)
"""Relative errors beyond these are drawn at them."""

_WIDE = 20.0
"""Ratio of the ends [1] from which an axis is logarithmic."""

_LABEL = 60
"""Letters in a line beside a bar."""


def png(figure: Figure, dpi: int = 110) -> bytes:
    """A figure as a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def _tidy(*axes) -> None:
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.grid(alpha=0.25, linewidth=0.5)


def channel_figure(comparison: Comparison) -> Figure:
    """One channel of one log: measured and simulated above, their difference below with twice the noise as a band."""
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2.4, 1))
    rows = comparison.usable
    time = comparison.time
    above.plot(time[rows], comparison.measured[rows], ".", color=MEASURED, markersize=3, label="measured")
    above.plot(time, comparison.predicted, "-", color=SIMULATED, linewidth=1.0, label="simulated")
    left_out = ~rows & np.isfinite(comparison.measured)
    if left_out.any():
        # Beneath the others: where a cell is missing, the value before stands in its place.
        marks = {"color": ALARM, "markersize": 3, "zorder": 1, "label": "not used or missing"}
        above.plot(time[left_out], comparison.measured[left_out], "x", **marks)
    unit = f" [{comparison.unit}]" if comparison.unit else ""
    above.set_ylabel(f"{comparison.channel.replace('_', ' ')}{unit}", fontsize=9)
    words = "held out" if comparison.role == "hold-out" else "fitted"
    above.set_title(f"{comparison.log}: {comparison.channel.replace('_', ' ')} ({words})", loc="left", fontsize=10)
    above.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False, ncols=3)
    gap = comparison.measured - comparison.predicted
    below.axhspan(-2 * comparison.sigma, 2 * comparison.sigma, color=SIMULATED, alpha=0.12, linewidth=0)
    below.plot(time[rows], gap[rows], ".", color=RESIDUAL, markersize=1.5)
    below.set_ylabel(f"residual{unit}", fontsize=9)
    below.set_xlabel("time [s]", fontsize=9)
    seen = np.abs(gap[rows & np.isfinite(gap)])
    # A few wild samples would flatten the rest.
    reach = np.quantile(seen, 0.999) if len(seen) else 0.0
    if reach > 0:
        below.set_ylim(-1.3 * reach, 1.3 * reach)
    _tidy(above, below)
    return figure


def correlation_figure(names: Sequence[str], correlation: np.ndarray) -> Figure:
    """How far the errors of two parameters go together."""
    size = max(3.2, 0.62 * len(names) + 1.8)
    figure = Figure(figsize=(size + 0.8, size), layout="constrained")
    axis = figure.subplots()
    image = axis.imshow(correlation, cmap="RdBu_r", vmin=-1, vmax=1)
    ticks = [name.replace("_", " ") for name in names]
    axis.set_xticks(range(len(names)), ticks, rotation=40, ha="right", fontsize=8)
    axis.set_yticks(range(len(names)), ticks, fontsize=8)
    for row in range(len(names)):
        for column in range(len(names)):
            value = correlation[row, column]
            ink = "white" if abs(value) > 0.6 else "black"
            axis.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
    figure.colorbar(image, ax=axis, shrink=0.8).ax.tick_params(labelsize=8)
    return figure


def identifiability_figure(directions: Sequence[Direction], names: Sequence[str]) -> Figure:
    """Relative error of every combination, best to worst: what lies beyond the line, the logs leave open."""
    # A combination of many parameters would leave no room for its bar.
    labels = [textwrap.fill(in_words(d, list(names)).replace("_", " "), _LABEL) for d in directions]
    lines = sum(label.count("\n") for label in labels)
    figure = Figure(figsize=(9.0, 0.42 * len(directions) + 0.16 * lines + 1.2), layout="constrained")
    axis = figure.subplots()
    spreads = np.array([direction.spread for direction in directions])
    shown = np.clip(np.where(np.isfinite(spreads), spreads, _SHOWN[1]), *_SHOWN)
    left = 10 ** np.floor(np.log10(shown.min()) - 0.5)
    colours = [ALARM if spread > OPEN else SIMULATED for spread in spreads]
    places = np.arange(len(directions))
    axis.barh(places, shown - left, left=left, color=colours, height=0.62)
    axis.set_xscale("log")
    axis.set_xlim(left, max(10.0, 3 * shown.max()))
    axis.axvline(OPEN, color=ALARM, linewidth=1, linestyle="--")
    axis.set_yticks(places, labels, fontsize=8)
    axis.invert_yaxis()
    axis.set_xlabel("relative standard error [1]; open beyond the dashed line", fontsize=9)
    _tidy(axis)
    return figure


def profile_figure(profile: Profile, stated: tuple[float, float] | None) -> Figure:
    """Rise of the misfit over a parameter that is held, with the threshold, its ends, and the `stated` error bars."""
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axis = figure.subplots()
    top = 3 * THRESHOLD
    low, high = profile.ci95
    axis.axvspan(
        profile.values[0] if low is None else low,
        profile.values[-1] if high is None else high,
        color=SIMULATED,
        alpha=0.12,
        linewidth=0,
        label="95 % by the profile",
    )
    seen = np.isfinite(profile.rise)
    values, rise = profile.values[seen], profile.rise[seen]
    # Between the visited places the root of the rise, with the sign of its side, is close to a line.
    middle = int(np.argmin(rise))
    side = np.where(np.arange(len(rise)) < middle, -1.0, 1.0)
    positive = values[0] > 0 and values[-1] > _WIDE * values[0]
    along = np.log(values) if positive else values
    apart = np.append(True, np.diff(along) > 0)
    if apart.sum() > 2:
        # Imported where it is used: few fits draw a profile, and all would wait for it.
        from scipy.interpolate import PchipInterpolator

        fine = np.linspace(along[0], along[-1], 600)
        root = PchipInterpolator(along[apart], (side * np.sqrt(rise))[apart])(fine)
        axis.plot(np.exp(fine) if positive else fine, root**2, "-", color=SIMULATED, linewidth=1.2)
    axis.plot(values, rise, "o", color=SIMULATED, markersize=4)
    axis.axhline(THRESHOLD, color=ALARM, linewidth=1, linestyle="--", label="95 %")
    axis.axvline(profile.estimate, color=RESIDUAL, linewidth=1, label="estimate")
    if stated is not None:
        axis.plot(stated, [THRESHOLD] * 2, "|-", color=RESIDUAL, markersize=12, linewidth=2, label="error bars")
    if positive:
        axis.set_xscale("log")
    axis.set_ylim(-0.03 * top, top)
    axis.set_title(profile.name.replace("_", " "), loc="left", fontsize=10)
    axis.set_xlabel(f"{profile.name.replace('_', ' ')} [{profile.unit}]", fontsize=9)
    axis.set_ylabel("rise of the misfit [1]", fontsize=9)
    axis.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False, ncols=4)
    _tidy(axis)
    return figure


def convergence_figure(trace: Sequence[tuple[str, int, float]]) -> Figure:
    """The cost of the best start over the whole walk; a new leg begins with a new cost."""
    figure = Figure(figsize=(9.0, 2.8), layout="constrained")
    axis = figure.subplots()
    legs: dict[str, list[tuple[int, float]]] = {}
    for number, (words, _, cost) in enumerate(trace):
        legs.setdefault(words, []).append((number, cost))
    for words, points in legs.items():
        axis.plot(*zip(*points, strict=True), ".-", markersize=5, linewidth=1, label=words)
    if any(cost > 0 for _, _, cost in trace):
        axis.set_yscale("log")
    axis.set_xlabel("iteration", fontsize=9)
    axis.set_ylabel("cost of the best start [1]", fontsize=9)
    if legs:
        axis.legend(fontsize=8, frameon=False)
    _tidy(axis)
    return figure
