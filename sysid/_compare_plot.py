"""The picture of a comparison of friction models."""

import numpy as np
from matplotlib.figure import Figure

from ._compare import Ranking
from ._report_plots import ALARM, MEASURED, SIMULATED


def ranking_figure(ranking: Ranking) -> Figure:
    """Per model the error in training and held out, each group a dot: a model whose bars lie apart has learnt its
    logs by heart."""
    channels = list(ranking.units)
    figure = Figure(figsize=(9.0, 3.4 * len(channels)), layout="constrained")
    axes = np.atleast_1d(np.asarray(figure.subplots(len(channels), 1)))
    shown = list(ranking.contenders)
    places = np.arange(len(shown))
    for axis, channel in zip(axes, channels, strict=True):
        train = [c.train[channel] for c in shown]
        ahead = [c.cross_validated[channel] for c in shown]
        colours = [SIMULATED if c is ranking.picked else MEASURED for c in shown]
        axis.bar(places - 0.2, train, 0.36, color=colours, alpha=0.45, label="in training")
        axis.bar(places + 0.2, ahead, 0.36, color=colours, label=f"held out by {ranking.by}")
        for place, contender in zip(places, shown, strict=True):
            dots = [fold[channel] for fold in contender.folds.values()]
            axis.plot(np.full(len(dots), place + 0.2), dots, ".", color=ALARM, markersize=6)
        axis.set_xticks(places, [f"{c.name}\n{len(c.fit.estimates)} free" for c in shown], fontsize=8)
        unit = ranking.units[channel]
        axis.set_ylabel(f"error of {channel.replace('_', ' ')}{f' [{unit}]' if unit else ''}", fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.grid(axis="y", alpha=0.25, linewidth=0.5)
        axis.legend(fontsize=8, frameon=False)
    axes[0].set_title(f"picked by cross-validation: {ranking.picked.name}", loc="left", fontsize=10)
    return figure
