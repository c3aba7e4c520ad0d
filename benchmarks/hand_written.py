"""The same motors as one would write them for speed: one function over plain numbers, no stages.

Each law takes the array module, so that the compiled scan and the NumPy loop run the same lines. It returns the step
`(carry, command) -> (carry, (angle, current))` and the number of states after angle and speed.
"""

import jax
import jax.numpy as jnp
import numpy as np


def _shaft(own, load, behind=0.0):
    """What moves on the motor's side: inertia, reflected damping, dry-friction budget, joint turns per motor turn."""
    n = own.gear.ratio
    inertia = own.gear.rotor_inertia + load.inertia / n**2
    return inertia, load.damping / n**2 + behind, n, 1 / n


def _slid(m, free, spent):
    return m.maximum(free - spent, 0) + m.minimum(free + spent, 0)


def plain_law(m, dt, params):
    """v = R i + K w, viscous drag implicit, Coulomb friction as a budget, semi-implicit Euler."""
    own, winding = params.actuator, params.actuator.motor.winding
    inertia, damping, n, turns = _shaft(own, params.load, own.drag.viscous_damping)
    mobility = dt / (inertia + dt * damping)
    spent = mobility * own.dry_friction.coulomb_friction / abs(n)

    def step(carry, volts):
        q, v = carry
        w = n * v
        current = (volts - winding.back_emf_constant * w) / winding.resistance
        w = _slid(m, w + mobility * (winding.torque_constant * current - damping * w), spent)
        return (q + dt * w * turns, w * turns), (q, current)

    return step, 0


def stateless_law(m, dt, params):
    """PD on a bus, v = R i + K w."""
    own, winding, pid = params.actuator, params.actuator.motor.winding, params.actuator.controller
    inertia, damping, n, turns = _shaft(own, params.load)
    mobility, bus, conductance = dt / (inertia + dt * damping), own.supply.bus_voltage, 1 / winding.resistance

    def step(carry, command):
        q, v = carry
        w = n * v
        volts = pid.proportional_gain * (command - n * q) - pid.derivative_gain * w
        volts = m.minimum(m.maximum(volts, -bus), bus)
        current = (volts - winding.back_emf_constant * w) * conductance
        w = w + mobility * (winding.torque_constant * current - damping * w)
        return (q + dt * w * turns, w * turns), (q, current)

    return step, 0


def electrical_law(m, dt, params):
    """v = R i + K w + L di/dt, exact over the step; viscous drag implicit, Coulomb friction as a budget."""
    own, winding = params.actuator, params.actuator.motor.winding
    inertia, damping, n, turns = _shaft(own, params.load, own.drag.viscous_damping)
    mobility = dt / (inertia + dt * damping)
    spent = mobility * own.dry_friction.coulomb_friction / abs(n)
    kept, conductance = m.exp(-dt * winding.resistance / winding.inductance), 1 / winding.resistance

    def step(carry, volts):
        q, v, current = carry
        w = n * v
        target = (volts - winding.back_emf_constant * w) * conductance
        after = target + (current - target) * kept
        w = _slid(m, w + mobility * (winding.torque_constant * after - damping * w), spent)
        return (q + dt * w * turns, w * turns, after), (q, current)

    return step, 1


def _phi1(m, x):
    small = abs(x) < 1e-2
    y = m.where(small, 1.0, x).astype(x.dtype)
    return m.where(small, 1 + x / 2 * (1 + x / 3 * (1 + x / 4)), m.expm1(y) / y)


def full_law(m, dt, params):
    """Slew, position PID, bus, current with a rate limit, heat, torque limit, cogging, LuGre, drag, dry friction."""
    own = params.actuator
    winding, thermal, friction = own.motor.winding, own.motor.thermal, own.motor.bristle
    pid, cogging, drag = own.controller, own.motor.cogging, own.drag
    inertia, behind, n, turns = _shaft(own, params.load)
    peak, bus, reach = own.motor.limit.peak_torque, own.supply.bus_voltage, own.setpoint.slew_rate * dt
    budget = own.dry_friction.coulomb_friction / abs(n)
    bound, most = pid.integral.bound.integral_bound, pid.voltage_limit.voltage_limit
    te, steepest = winding.electrical_time_constant, winding.rate.maximum_current_rate
    share = dt * _phi1(m, -dt / te)

    def clip(x, low, high):
        return m.minimum(m.maximum(x, low), high)

    def step(carry, command):
        q, v, held, integral, rise, z, i = carry
        theta, w = n * q, n * v
        held = clip(command, held - reach, held + reach)
        error = held - theta
        volts = pid.proportional_gain * error + pid.integral.integral_gain * integral - pid.derivative_gain * w
        volts = clip(clip(volts, -most, most), -bus, bus)
        integral = clip(integral + dt * error, -bound, bound)
        warmth = rise + thermal.ambient_temperature - thermal.reference_temperature
        r = winding.resistance * (1 + thermal.temperature_coefficient * warmth)
        rise = rise + dt * (r * i * i - rise / thermal.thermal_resistance) / thermal.thermal_capacitance
        rate = clip(((volts - winding.back_emf_constant * w) / r - i) / te, -steepest, steepest)
        after = i + rate * share
        torque = clip(winding.torque_constant * after, -peak, peak)
        torque = torque + cogging.amplitude * m.sin(cogging.pole_count * theta + cogging.phase)
        fade = m.exp(-m.square(w / friction.stribeck_velocity))
        level = friction.coulomb_friction + (friction.stiction_torque - friction.coulomb_friction) * fade
        a = -friction.lugre_stiffness * abs(w) / level
        torque = torque - friction.lugre_stiffness * z - friction.lugre_damping * (w + a * z)
        z = m.exp(a * dt) * z + dt * _phi1(m, a * dt) * w
        size = abs(v)
        loss = drag.viscous_damping + drag.quadratic_drag * size + drag.cubic_drag * v * v
        slope = drag.viscous_damping + 2 * drag.quadratic_drag * size + 3 * drag.cubic_drag * v * v
        mobility = dt / (inertia + dt * (slope + behind))
        w = _slid(m, w + mobility * (torque - (loss + behind) * w), mobility * budget)
        return (q + dt * w * turns, w * turns, held, integral, rise, z, after), (q, i)

    return step, 5


def scan(law, dt):
    """The law as one compiled loop: last angle and speed, traces of angle and current; one motor."""

    def run(params, ctrl):
        step, more = law(jnp, dt, params)
        carry, traces = jax.lax.scan(step, (jnp.zeros_like(params.actuator.gear.ratio),) * (2 + more), ctrl)
        return carry[0], carry[1], *traces

    return run


def loop(law, dt, params, ctrl):
    """The law as a NumPy loop over the rows of `ctrl`, (motors, rows), all motors at once."""
    step, more = law(np, ctrl.dtype.type(dt), params)
    carry = (np.zeros_like(ctrl[:, 0]),) * (2 + more)
    angles, currents = np.empty(ctrl.shape[::-1], ctrl.dtype), np.empty(ctrl.shape[::-1], ctrl.dtype)
    for k, command in enumerate(np.ascontiguousarray(ctrl.T)):
        carry, (angles[k], currents[k]) = step(carry, command)
    return carry[0], carry[1], angles, currents


def plain_scan(dt):
    """`plain_law`, compiled."""
    return scan(plain_law, dt)


def full_scan(dt):
    """`full_law`, compiled."""
    return scan(full_law, dt)
