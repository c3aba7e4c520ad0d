"""The same motors as one would write them for speed: a scan over plain numbers, no stages."""

import jax
import jax.numpy as jnp


def plain_scan(dt):
    """v = R i + K w, viscous drag implicit, Coulomb friction as a budget, semi-implicit Euler."""

    def run(params, ctrl):
        own, load = params.actuator, params.load
        winding, n = own.motor.winding, own.gear.ratio
        inertia = own.gear.rotor_inertia + load.inertia / n**2
        b1, budget = own.drag.viscous_damping, own.dry_friction.coulomb_friction / jnp.abs(n)
        damping = b1 + load.damping / n**2
        mobility, turns = dt / (inertia + dt * damping), 1 / n
        spent = mobility * budget

        def body(carry, volts):
            q, v = carry
            w = n * v
            current = (volts - winding.back_emf_constant * w) / winding.resistance
            free = w + mobility * (winding.torque_constant * current - damping * w)
            w = jnp.maximum(free - spent, 0) + jnp.minimum(free + spent, 0)
            return (q + dt * w * turns, w * turns), (q, current)

        zero = jnp.zeros_like(n)
        (q, v), (angles, currents) = jax.lax.scan(body, (zero, zero), ctrl)
        return q, v, angles, currents

    return run


def _phi1(x):
    small = jnp.abs(x) < 1e-2
    y = jnp.where(small, 1.0, x)
    return jnp.where(small, 1 + x / 2 * (1 + x / 3 * (1 + x / 4)), jnp.expm1(y) / y)


def full_scan(dt):
    """Slew, position PID, bus, current with a rate limit, heat, torque limit, cogging, LuGre, drag, dry friction."""

    def run(params, ctrl):
        own, load = params.actuator, params.load
        winding, thermal, friction = own.motor.winding, own.motor.thermal, own.motor.bristle
        pid, cogging, drag, n = own.controller, own.motor.cogging, own.drag, own.gear.ratio
        peak, bus, slew = own.motor.limit.peak_torque, own.supply.bus_voltage, own.setpoint.slew_rate
        inertia = own.gear.rotor_inertia + load.inertia / n**2
        budget = own.dry_friction.coulomb_friction / jnp.abs(n)
        behind, turns = load.damping / n**2, 1 / n
        bound, most = pid.integral.bound.integral_bound, pid.voltage_limit.voltage_limit
        te, steepest = winding.electrical_time_constant, winding.rate.maximum_current_rate

        def body(carry, command):
            q, v, held, integral, rise, z, i = carry
            theta, w = n * q, n * v
            held = jnp.clip(command, held - slew * dt, held + slew * dt)
            error = held - theta
            volts = pid.proportional_gain * error + pid.integral.integral_gain * integral - pid.derivative_gain * w
            volts = jnp.clip(jnp.clip(volts, -most, most), -bus, bus)
            integral = jnp.clip(integral + dt * error, -bound, bound)
            warmth = rise + thermal.ambient_temperature - thermal.reference_temperature
            r = winding.resistance * (1 + thermal.temperature_coefficient * warmth)
            rise = rise + dt * (r * i * i - rise / thermal.thermal_resistance) / thermal.thermal_capacitance
            rate = jnp.clip(((volts - winding.back_emf_constant * w) / r - i) / te, -steepest, steepest)
            after = i + rate * dt * _phi1(-dt / te)
            torque = jnp.clip(winding.torque_constant * after, -peak, peak)
            torque = torque + cogging.amplitude * jnp.sin(cogging.pole_count * theta + cogging.phase)
            fade = jnp.exp(-jnp.square(w / friction.stribeck_velocity))
            level = friction.coulomb_friction + (friction.stiction_torque - friction.coulomb_friction) * fade
            a = -friction.lugre_stiffness * jnp.abs(w) / level
            torque = torque - friction.lugre_stiffness * z - friction.lugre_damping * (w + a * z)
            z = jnp.exp(a * dt) * z + dt * _phi1(a * dt) * w
            size = jnp.abs(v)
            loss = drag.viscous_damping + drag.quadratic_drag * size + drag.cubic_drag * v * v
            slope = drag.viscous_damping + 2 * drag.quadratic_drag * size + 3 * drag.cubic_drag * v * v
            mobility = dt / (inertia + dt * (slope + behind))
            free = w + mobility * (torque - (loss + behind) * w)
            spent = mobility * budget
            w = jnp.maximum(free - spent, 0) + jnp.minimum(free + spent, 0)
            return (q + dt * w * turns, w * turns, held, integral, rise, z, after), (q, i)

        zero = jnp.zeros_like(n)
        carry, (angles, currents) = jax.lax.scan(body, (zero,) * 7, ctrl)
        return carry[0], carry[1], angles, currents

    return run
