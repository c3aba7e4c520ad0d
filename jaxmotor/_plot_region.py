"""Pictures of operating regions: torque against speed, at the motor or at the joint. Needs matplotlib."""

from collections.abc import Sequence
from typing import Any

import jax
import matplotlib.figure
import numpy as np
from jax.typing import ArrayLike
from matplotlib.axes import Axes

from ._group import ActuatorGroup, GroupParams
from ._region import OperatingRegion

_REGION, _LOSSES, _BOX, _POINTS = "#2e7d32", "#e65100", "#9e9e9e", "#1a237e"
_ROWS = 801


def plot_region(
    region: OperatingRegion,
    axes: Axes | None = None,
    *,
    speed: ArrayLike | Sequence[float] = (),
    torque: ArrayLike | Sequence[float] = (),
    box: tuple[float, float] | None = None,
    friction: float = 0.0,
    damping: float = 0.0,
    reach: float | None = None,
) -> Axes:
    """Draw the region of one motor.

    **Arguments:**

    - `axes`: where to draw; a figure of its own by default.
    - `speed` [rad/s], `torque` [N·m]: operating points to put on it, at the motor.
    - `box`: the rectangle (effort limit [N·m], speed limit [rad/s]) behind it, as a URDF's `<limit>` describes a joint,
      divided by the gear.
    - `friction` [N·m], `damping` [N·m·s/rad]: output losses in the motor's plane, c / G and b / G². What is left of the
      region for the joint is drawn as a second outline.
    - `reach`: largest speed shown [rad/s]; by default a little beyond the overspeed limit.
    """
    axes = matplotlib.figure.Figure(figsize=(5, 4), layout="constrained").subplots() if axes is None else axes
    points = np.asarray(speed, float).ravel(), np.asarray(torque, float).ravel()
    shown = _reach(region, points[0]) if reach is None else reach
    # The line through zero speed is drawn twice, so that friction jumps there instead of sloping.
    grid = np.concatenate([np.linspace(-shown, 0, _ROWS), np.linspace(0, shown, _ROWS)])
    ends = region.bounds(np.asarray(grid, region.resistance.dtype))
    lower, upper = np.asarray(ends.lower), np.asarray(ends.upper)
    axes.axhline(0, color="0.7", lw=0.6)
    axes.axvline(0, color="0.7", lw=0.6)
    if box is not None:
        effort, limit = box
        corners = np.array([[-limit, -effort], [limit, -effort], [limit, effort], [-limit, effort], [-limit, -effort]])
        axes.plot(*corners.T, color=_BOX, ls="--", lw=1, label="box of the joint limits")
    axes.fill_between(grid, lower, upper, color=_REGION, alpha=0.18, lw=0)
    axes.plot(grid, upper, color=_REGION, lw=1.4, label="operating region")
    axes.plot(grid, lower, color=_REGION, lw=1.4)
    if friction or damping:
        side = np.concatenate([-np.ones(_ROWS), np.ones(_ROWS)])
        loss = friction * side + damping * grid
        axes.plot(grid, upper - loss, color=_LOSSES, lw=1, label="left after output losses")
        axes.plot(grid, lower - loss, color=_LOSSES, lw=1)
    if points[0].size:
        axes.plot(*points, ".", color=_POINTS, ms=3, alpha=0.6, label="operating points")
    axes.set(xlabel="motor speed [rad/s]", ylabel="motor torque [N·m]", xlim=(-shown, shown))
    return axes


def plot_group(
    group: ActuatorGroup,
    params: GroupParams,
    *,
    speed: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    boxes: dict[str, tuple[float, float]] | None = None,
    columns: int = 3,
) -> matplotlib.figure.Figure:
    """A sheet with the region of every actuator of a group, in the motors' planes.

    **Arguments:** `speed` [rad/s] and `torque` [N·m]: `motor_speed` and `motor_torque` of a run, with the actuators on
    the last axis; `boxes`: (effort limit [N·m], speed limit [rad/s]) of joints by their names, at the joint.
    """
    count = max(len(group.names), 1)
    rows = -(-count // columns)
    figure = matplotlib.figure.Figure(figsize=(3.4 * columns, 2.6 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    regions, gear = group.regions(params), np.abs(np.asarray(group.gear_ratio(params)))
    for at, name in enumerate(group.names):
        joint = group.joint_names[group.wiring.driven[at]]
        plot_region(
            jax.tree.map(lambda x, at=at: x[at], regions),
            grid[at],
            speed=_of_actuator(speed, at),
            torque=_of_actuator(torque, at),
            box=_at_motor((boxes or {}).get(joint), gear[at]),
            friction=float(params.output_friction[at]) / gear[at],
            damping=float(params.output_damping[at]) / gear[at] ** 2,
        )
        grid[at].set_title(name, fontsize="medium")
    for unused in grid[len(group.names) :]:
        unused.set_axis_off()
    handles, labels = grid[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _reach(region: OperatingRegion, speed: np.ndarray) -> float:
    natural = [float(region.overspeed_limit), 2 * float(region.no_load_speed)]
    largest = float(np.max(np.abs(speed), initial=0.0))
    finite = [x for x in natural if np.isfinite(x)]
    return max(1.1 * min(finite, default=1.0), 1.05 * largest)


def _of_actuator(run: Any, at: int) -> np.ndarray:
    return np.zeros(0) if run is None else np.asarray(run)[..., at].ravel()


def _at_motor(box: tuple[float, float] | None, gear: float) -> tuple[float, float] | None:
    return None if box is None else (box[0] / gear, box[1] * gear)
