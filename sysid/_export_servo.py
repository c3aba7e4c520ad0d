"""Firmware servos and friction that grows with load, in the words that MuJoCo has for them.

A servo becomes an affine actuator: with duty = k (u - q), v = duty V and tau = K v / R - K^2 q' / R, the torque is
(k V K / R) (u - q) - (K^2 / R) q', within K i_max. Friction becomes one number, the mean of the budget.
"""

from xml.sax.saxutils import quoteattr

import jax
import jax.numpy as jnp
import numpy as np

import jaxmotor as jm

from ._log import Log
from ._model import Model
from ._simulation import simulated

_ANGLES = 64


def affine_servo(model: Model, joint: str) -> tuple[str, list[str]]:
    """The `<general>` element of a `ServoDrive`, and what it leaves out.

    **Raises:** `ValueError` for a bus voltage that is not known.
    """
    actuator, params = model.bench.actuator, model.params.actuator
    winding, ratio = params.motor.winding, float(actuator.gear.ratio(params.gear))
    bus = float(getattr(params.supply, "bus_voltage", np.inf))
    if not np.isfinite(bus):
        raise ValueError("a servo's stiffness needs its bus voltage: fix bus_voltage in the fit")
    torque, emf = float(winding.torque_constant), float(winding.back_emf_constant)
    resistance, gain = float(winding.resistance), float(params.controller.gain)
    stiffness = gain * bus * torque / resistance * ratio**2
    damping = torque * emf / resistance * ratio**2
    stall = torque * bus * float(params.controller.duty_limit) / resistance * abs(ratio)
    if isinstance(actuator.current_limit, jm.CurrentLimit):
        stall = min(stall, torque * float(params.current_limit.current_limit) * abs(ratio))
    element = (
        f'<general name={quoteattr(joint + "_motor")} joint={quoteattr(joint)} gainprm="{stiffness!r}"'
        f' biastype="affine" biasprm="0 {-stiffness!r} {-damping!r}" forcelimited="true"'
        f' forcerange="{-stall!r} {stall!r}"/>'
    )
    notes = [f"the bus is taken as {bus:.4g} V and the gain as {gain:.4g} per rad: stiffness goes with both"]
    delay = float(model.sensors.delay)
    if delay > 0:
        notes.append(f"the command's delay of {1e3 * delay:.3g} ms is not in the model: give commands that much later")
    if not isinstance(actuator.setpoint, jm.NoSlew):
        notes.append("the limit on the target's speed is not in the model: limit the command")
    return element, notes


def mean_budget(model: Model, log: Log | None = None) -> float:
    """Dry friction as one number [N m]: the mean of its budget along what the model does on a log, or over a turn that
    the load is held."""
    friction, params = model.bench.actuator.dry_friction, model.params.actuator.dry_friction
    load, load_params = model.bench.load, model.params.load
    if log is None:
        angle = jnp.linspace(-jnp.pi, jnp.pi, _ANGLES)
        external = jax.vmap(lambda q: load.external_torque(load_params, q))(angle)
        speed, motor = jnp.zeros_like(angle), -external
    else:
        found = {name: jnp.asarray(values) for name, values in simulated(model, log).items()}
        speed, motor = found["velocity"], found["torque"]
        external = jax.vmap(lambda q: load.external_torque(load_params, q))(found["position"])
    budget = jax.vmap(lambda w, tm, te: friction.budget(params, w, tm, te))(speed, motor, external)
    return float(jnp.nanmean(budget))
