"""Every parameter that a fit offers moves the cost of a log that excites it, with the slope of central differences."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sysid
from sysid._adjust import free_parameter
from sysid._draft import Draft, assemble
from sysid._free import Free, places
from sysid._model import Model
from sysid._normal_equations import Point
from sysid._setup import setup

from .motor_logs import levels

pytestmark = pytest.mark.slow

ROWS, STEP = 240, 2e-3
HEAT = {"thermal_resistance": 20.0, "thermal_capacitance": 0.05, "temperature_coefficient": 0.0039}
NODES = {"winding_thermal_resistance": 5.0, "winding_thermal_capacitance": 0.05, "housing_thermal_resistance": 9.0}
LOADS = {"dry_friction": "LoadDependentFriction", "dry_friction.load": "DirectionalLoadFriction"}

BENCHES: dict[str, tuple[str, float, dict[str, str], dict[str, float]]] = {
    "voltage, warm, toothed, with bristles": (
        "voltage",
        10.0,
        {"winding": "Inductive", "thermal": "LumpedThermal", "cogging": "Cogging", "bristle": "LuGre"}
        | {"drag": "PolynomialDrag"},
        HEAT | {"pole_count": 7.0, "phase": 0.3, "stribeck_velocity": 5.0, "amplitude": 5e-3},
    ),
    "two nodes of heat, torque limit": (
        "voltage",
        10.0,
        {"thermal": "TwoNodeThermal", "limit": "SmoothTorqueLimit", "dry_friction": "CoulombFriction"}
        | {"load": "UnbalancedLoad", "drag": "MotorSideDrag"},
        NODES
        | {"housing_thermal_capacitance": 0.5, "temperature_coefficient": 0.0039, "iron_loss": 1e-6}
        | {"magnet_temperature_coefficient": -1e-3, "peak_torque": 0.15, "transition_width": 0.05}
        | {"unbalance": 0.01, "offset": 0.2, "quadratic_drag": 1e-6, "cubic_drag": 1e-8},
    ),
    "duty, slew, bristle of Dahl": (
        "duty",
        0.8,
        {"controller": "DutyDrive", "supply": "FixedSupply", "winding": "FixedTimeConstant", "bristle": "Dahl"}
        | {"setpoint": "SlewLimiter", "drag": "ViscousDrag"},
        {"bus_voltage": 12.0, "slew_rate": 40.0, "coulomb_friction": 0.01},
    ),
    "firmware servo with a current cap on a pendulum": (
        "command",
        2.0,
        {"controller": "ServoDrive", "supply": "FixedSupply", "current_limit": "CurrentLimit", "load": "Pendulum"}
        | LOADS,
        {"bus_voltage": 7.4, "gain": 0.2, "current_limit": 0.6, "mass": 0.05, "length": 0.1, "offset": 0.1}
        | {"resistance": 3.0, "torque_constant": 0.3, "back_emf_constant": 0.3, "duty_limit": 0.3}
        | {"motor_load_friction": 0.2, "external_load_friction": 0.1, "rotor_inertia": 1e-3},
    ),
    "speed loop": (
        "command",
        100.0,
        {"controller": "VelocityPI", "controller.integral": "NoIntegral", "dry_friction": "CoulombFriction"},
        {"proportional_gain": 0.1},
    ),
    "gear with losses": (
        "voltage",
        10.0,
        {"gear": "LossyGear", "dry_friction": "CoulombFriction"},
        {"ratio": 5.0, "driving_efficiency": 0.8, "driven_efficiency": 0.7, "driving_friction": 0.01}
        | {"driven_friction": 0.02, "rotor_inertia": 1e-5, "inertia": 1e-3},
    ),
}


def _log(channel: str, size: float) -> sysid.Log:
    """Levels of both signs from cold; what is measured is that of no motor, so that no residual is zero."""
    generator = np.random.default_rng(5)
    time = np.arange(ROWS) * STEP
    measured = {
        "position": 3.0 * np.sin(7 * time) + 0.3,
        "velocity": 40.0 * np.sin(9 * time) + 0.5,
        "current": 2.0 * np.sin(11 * time) + 0.4,
        "temperature": 25.0 + 20.0 * time,
    }
    channels = {name: values + 0.01 * generator.standard_normal(ROWS) for name, values in measured.items()}
    return sysid.Log("made", time, {channel: levels(ROWS, 8, largest=size, hold=20)} | channels)


def _all_free(model: Model) -> Model:
    """The model with everything free that it has, the parts of ties by themselves, each at its value or a little off
    zero."""
    found = []
    for name, place in places(model.subject).items():
        if len(place.paths) > 1:
            continue
        parameter = free_parameter(place, model.subject)
        small = {"delay": 3.3e-3, "lag": 4.1e-3}.get(name, 1e-3)
        found.append(dataclasses.replace(parameter, start=parameter.start or small))
    return dataclasses.replace(model, free=Free(tuple(found)), conditions=())


@pytest.mark.parametrize("name", BENCHES)
def test_every_parameter_has_its_slope(name):
    channel, size, stages, values = BENCHES[name]
    drive = {} if "controller" in stages else {"controller": "VoltageDrive"}
    load = {} if "load" in stages else {"load": "RigidLoad"}
    model = _all_free(assemble(Draft(drive | load | stages, {}, channel, name, values)))
    log = _log(channel, size)
    problem = setup(model, [log]).problem
    # Between rows: where a delay is a whole number of them its cost has a kink.
    coordinates = model.free.coordinates([parameter.start for parameter in model.free.parameters])
    point = Point(jnp.asarray(coordinates), jnp.zeros((1, len(problem.batch.initial))))
    value = eqx.filter_jit(lambda at: problem.value(at))
    gradient = eqx.filter_jit(jax.grad(lambda at: problem.value(at)))(point).coordinates
    assert np.all(np.isfinite(np.asarray(gradient)))
    for k, parameter in enumerate(model.free.names):
        differences = []
        for step in (1e-4, 1e-5, 1e-6):
            up, down = (
                float(value(eqx.tree_at(lambda p: p.coordinates, point, point.coordinates.at[k].add(s))))
                for s in (step, -step)
            )
            differences.append((up - down) / (2 * step))
        gap = min(abs(float(gradient[k]) - d) / max(abs(d), 1e-300) for d in differences)
        assert float(gradient[k]) != 0, parameter
        assert gap < 1e-4, (parameter, float(gradient[k]), differences)
