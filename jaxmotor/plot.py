"""Pictures of a motor from its params: envelope, thermal response, friction curves, time traces. Needs matplotlib.

Every function draws into `axes`, or into a figure of its own, and returns the axes.
"""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ._actuator import Actuator, ActuatorOutput, ActuatorParams
from ._bench import BenchOutput
from ._bristle import AbstractBristle
from ._drag import AbstractDrag, NoDrag
from ._gear import AbstractStiffGear
from ._motor_figures import motor_figures
from ._plot_region import plot_group as plot_group, plot_region as plot_region
from ._thermal import AbstractThermal
from ._winding import Response

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAIN, _SECOND, _GUIDE = "#1f5fa8", "#c8501e", "0.55"


def _drawn_on(axes: Any, xlabel: str, ylabel: str, title: str) -> "Axes":
    if axes is None:
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def torque_speed_lines(
    actuator: Actuator, params: ActuatorParams, voltage: float, *, steps: int = 4, axes: Any = None
) -> "Axes":
    """Torque against speed of the motor shaft at `voltage` [V] and fractions of it (the note's first figure)."""
    axes = _drawn_on(axes, "shaft speed [rad/s]", "torque [N m]", "Torque and speed at fixed voltage")
    winding = params.motor.winding
    for k in range(steps):
        part = voltage * (steps - k) / steps
        figures = motor_figures(winding, jnp.zeros_like(winding.resistance), jnp.asarray(part))
        axes.plot(
            [0.0, float(figures.no_load_speed)],
            [float(figures.stall_torque), 0.0],
            color=_MAIN,
            alpha=1 - 0.75 * k / steps,
            label=f"{part:.4g} V",
        )
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return axes


def _envelope(actuator: Actuator, params: ActuatorParams, volts: Any, speed: Any) -> tuple[Any, Any]:
    """Joint torque of the motor and the losses behind it, at steady joint `speed` with `volts` at the terminals."""
    winding, gear = params.motor.winding, actuator.gear
    ratio = gear.ratio(params.gear)
    conductance = 1 / winding.resistance
    response = Response(conductance, -winding.back_emf_constant * ratio * speed * conductance)
    cold = actuator.motor.thermal.temperature(actuator.motor.thermal.init(params.motor.thermal), params.motor.thermal)
    lower, upper = actuator.current_limit.voltage_bounds(params.current_limit, response, cold)
    current = response.conductance * jnp.clip(volts, lower, upper) + response.offset
    law, limit = actuator.motor.torque_law, actuator.motor.limit
    torque = law.torque(params.motor.torque_law, winding.torque_constant, current)
    torque = limit.apply(params.motor.limit, torque).torque
    if isinstance(gear, AbstractStiffGear):
        one = jnp.ones_like(speed)
        motion = gear.follow(None, params.gear, torque, lambda shaft, w: shaft.flow(w, one), speed, speed, one)
        joint = gear.joint_torque(params.gear, motion, torque, one)
    else:
        joint = ratio * torque
    dry = actuator.dry_friction.budget(params.dry_friction, speed, joint, jnp.zeros_like(speed))
    return joint, actuator.drag.torque(params.drag, ratio, speed) - jnp.sign(speed) * dry


def torque_speed_envelope(
    actuator: Actuator,
    params: ActuatorParams,
    voltage: float,
    *,
    maximum_speed: float | None = None,
    axes: Any = None,
) -> "Axes":
    """The joint torques that lie between -`voltage` and +`voltage` [V], over joint speed: current and torque limits,
    gear losses, drag and dry friction included, the winding cold (the note's envelope figures)."""
    axes = _drawn_on(axes, "joint speed [rad/s]", "joint torque [N m]", "Torque-speed envelope")
    winding, ratio = params.motor.winding, abs(float(actuator.gear.ratio(params.gear)))
    no_load = voltage / float(winding.back_emf_constant) / ratio
    reach = 1.6 * no_load if maximum_speed is None else maximum_speed
    half = np.linspace(1e-9 * reach, reach, 400)
    speed = jnp.asarray(np.concatenate([-half[::-1], half]), winding.resistance.dtype)
    volts = jnp.asarray(voltage, speed.dtype)

    @jax.vmap
    def at(w):
        sign = jnp.sign(ratio_sign)
        top, loss = _envelope(actuator, params, sign * volts, w)
        bottom, _ = _envelope(actuator, params, -sign * volts, w)
        return top, bottom, loss

    ratio_sign = actuator.gear.ratio(params.gear)
    top, bottom, loss = (np.asarray(x) for x in jax.jit(at)(speed))
    upper, lower, w = top + loss, bottom + loss, np.asarray(speed)
    # Beyond the speed at which the two voltages meet nothing is admissible.
    axes.fill_between(w, lower, upper, color=_MAIN, alpha=0.1, linewidth=0)
    axes.plot(w, upper, color=_MAIN, label=f"+{voltage:.4g} V")
    axes.plot(w, lower, color=_SECOND, label=f"-{voltage:.4g} V")
    if np.any(loss):
        axes.plot(w, loss, "--", color=_GUIDE, label="drag and friction")
    for x in (-no_load, no_load):
        axes.axvline(x, color=_GUIDE, linewidth=0.8, linestyle=":")
    axes.annotate("no load", (no_load, 1.0), (4, -12), xycoords=("data", "axes fraction"), textcoords="offset points")
    axes.axhline(0.0, color="0.3", linewidth=0.8)
    axes.axvline(0.0, color="0.3", linewidth=0.8)
    axes.legend(frameon=False, loc="lower left", fontsize="small")
    return axes


def thermal_step_response(
    thermal: AbstractThermal, params: Any, watts: float, duration: float, *, rows: int = 600, axes: Any = None
) -> "Axes":
    """Winding temperature [degC] after `watts` [W] set in, over `duration` [s], by the stage's own rule."""
    axes = _drawn_on(axes, "time [s]", "temperature [degC]", f"Thermal response to {watts:.4g} W in the winding")
    state = thermal.init(params)
    dtype = jax.tree.leaves(params)[0].dtype
    heat, none, dt = (jnp.asarray(x, dtype) for x in (watts, 0.0, duration / rows))
    housing = getattr(thermal, "housing_temperature", None)

    def body(state, _):
        nodes: list[Any] = [thermal.temperature(state, params), *([housing(state, params)] if housing else [])]
        return thermal.step(state, params, heat, none, none, dt)[0], jnp.stack(nodes)

    temperature = np.asarray(jax.lax.scan(body, state, length=rows + 1)[1])
    time = np.arange(rows + 1) * float(dt)
    axes.plot(time, temperature[:, 0], color=_MAIN, label="winding")
    if housing:
        axes.plot(time, temperature[:, 1], color=_SECOND, label="housing")
    axes.axhline(temperature[0, 0], color=_GUIDE, linestyle="--", label="room")
    axes.set_xlim(0, duration)
    axes.legend(frameon=False)
    return axes


def hysteresis_loop(
    bristle: AbstractBristle, params: Any, amplitude: float, *, speed: float = 1e-3, rows: int = 2000, axes: Any = None
) -> "Axes":
    """Bristle torque [N m] over the angle of a slow sine of `amplitude` [rad] whose largest speed is `speed` [rad/s]:
    the second of two turns."""
    axes = _drawn_on(axes, "shaft angle [rad]", "friction torque [N m]", "Hysteresis under a slow periodic motion")
    state = bristle.init(params)
    dtype = jax.tree.leaves(params)[0].dtype
    rate = speed / amplitude
    time = np.arange(2 * rows) * (2 * np.pi / rate / rows)
    motion = (jnp.asarray(amplitude * np.sin(rate * time), dtype), jnp.asarray(speed * np.cos(rate * time), dtype))
    dt = jnp.asarray(time[1], dtype)
    _, torque = jax.lax.scan(lambda s, m: bristle.step(s, params, None, m[0], m[1], dt), state, motion)
    axes.plot(np.asarray(motion[0])[rows:], np.asarray(torque)[rows:], color=_MAIN)
    axes.fill(np.asarray(motion[0])[rows:], np.asarray(torque)[rows:], color=_MAIN, alpha=0.1, linewidth=0)
    area = -float(np.trapezoid(np.asarray(torque)[rows:], np.asarray(motion[0])[rows:]))
    axes.text(0.5, 0.55, f"{area:.3g} J per turn", transform=axes.transAxes, ha="center", backgroundcolor="white")
    axes.locator_params(axis="x", nbins=5)
    axes.axhline(0.0, color="0.3", linewidth=0.8)
    axes.axvline(0.0, color="0.3", linewidth=0.8)
    return axes


def stribeck_curve(
    bristle: AbstractBristle,
    params: Any,
    maximum_speed: float,
    *,
    drag: AbstractDrag | None = None,
    drag_params: Any = None,
    axes: Any = None,
) -> "Axes":
    """Steady friction torque [N m] over shaft speed [rad/s], `drag` included where it is given (motor side)."""
    axes = _drawn_on(axes, "shaft speed [rad/s]", "friction torque [N m]", "Steady friction (Stribeck curve)")
    drag = drag or NoDrag()
    dtype = jax.tree.leaves(params)[0].dtype
    half = np.geomspace(1e-3 * maximum_speed, maximum_speed, 300)
    one, long = jnp.ones((), dtype), jnp.asarray(1e6, dtype)

    @jax.vmap
    def steady(w):
        # However long the bristle took to bend, the torque is read once it has.
        state, _ = bristle.step(bristle.init(params), params, None, 0 * w, w, long / jnp.abs(w))
        _, torque = bristle.step(state, params, None, 0 * w, w, one)
        viscous = drag.torque(drag_params, one, w)
        return torque + viscous, viscous

    for side in (-1, 1):
        total, viscous = (np.asarray(x) for x in steady(jnp.asarray(side * half, dtype)))
        axes.plot(side * half, total, color=_MAIN, label="friction" if side > 0 else None)
        if np.any(viscous):
            axes.plot(side * half, viscous, "--", color=_GUIDE, label="viscous part" if side > 0 else None)
    axes.axhline(0.0, color="0.3", linewidth=0.8)
    axes.axvline(0.0, color="0.3", linewidth=0.8)
    axes.legend(frameon=False)
    return axes


def time_trace(out: BenchOutput | ActuatorOutput, dt: Any) -> Any:
    """One panel per channel of a run over time: motion, voltage, current, torque, and temperature where there is one.

    `dt` [s] as given to `rollout` or `replay`. Returns the figure.
    """
    import matplotlib.pyplot as plt

    own = out.actuator if isinstance(out, BenchOutput) else out
    panels = [("voltage [V]", own.voltage), ("current [A]", own.current), ("joint torque [N m]", own.joint_torque)]
    if isinstance(out, BenchOutput):
        panels = [("angle [rad]", out.qpos), ("speed [rad/s]", out.qvel), *panels]
    if own.temperature is not None:
        panels.append(("temperature [degC]", own.temperature))
    rows = own.voltage.shape[0]
    steps = np.broadcast_to(np.asarray(dt, float), (rows,))
    time = np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    figure, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(7.0, 1.5 * len(panels)), layout="constrained")
    for each, (label, values) in zip(axes, panels, strict=True):
        held = "steps-post" if label.startswith(("voltage", "joint torque")) else "default"
        each.plot(time, np.asarray(values), color=_MAIN, drawstyle=held, linewidth=1.2)
        each.set_ylabel(label, fontsize="small")
        each.grid(alpha=0.25)
        each.spines[["top", "right"]].set_visible(False)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel("time [s]")
    return figure
