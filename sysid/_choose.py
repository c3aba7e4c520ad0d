"""The model that a log calls for when none is named."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._draft import Draft, assemble
from ._errors import ModelError
from ._log import Log
from ._model import Condition, Model
from ._start import electrical_lag
from ._with_friction import with_friction

_FRICTION = {"drag": "ViscousDrag", "dry_friction": "CoulombFriction"}
_FRICTION_NUMBERS = ("coulomb_friction", "viscous_damping")
_XL330_GAIN = 4096 / (2 * math.pi) / (256 * 885)
"""Duty per radian and unit of the firmware's P gain: encoder counts per radian over gain scale and full PWM."""
_XL330_CURRENT = 1.75
_BAM_GRID = 5e-3
_LEVELS = 20
"""Distinct currents up to which a current may be a set-point."""

_WARMED = 5.0
"""A temperature that moved by less than this [K] tells nothing of the thermal node."""

_ROOM_KNOWN = 5.0
"""How far the room may be from the lowest winding temperature seen [K]."""


def choose_model(logs: Sequence[Log], values: Mapping[str, float] | None = None, friction: str | None = None) -> Model:
    """The bench that the channels which all logs have call for; `description` says which and why.

    **Arguments:** `values`: numbers that the user states, by name [SI], such as a bus voltage that no log recorded;
    `friction`: a name in `FRICTION_MODELS`, in place of Coulomb's.

    **Raises:** `ModelError` when the channels drive no motor that could be simulated, with those that would; for an
    unknown friction model, or one for a bench without dry friction.
    """
    if not logs:
        raise ModelError("no log to choose a model for")
    channels = set.intersection(*({name for name in log.channels if log.masks[name].any()} for log in logs))
    draft = _draft(logs, channels)
    model = assemble(dataclasses.replace(draft, values={**draft.values, **(values or {})}))
    return model if friction is None else with_friction(model, friction)


def _draft(logs: Sequence[Log], channels: set[str]) -> Draft:
    moving = bool({"position", "velocity"} & channels)
    command = logs[0].units.get("command", "") if "command" in channels else None
    if command and any(finding.code == "unsigned_torque" for log in logs for finding in log.findings):
        # A torque whose sign is that of the motion would drive it whatever it does.
        channels = channels - {"torque"}
    if command == "rad" and "position" in channels and all("kp" in log.conditions for log in logs):
        return _firmware_servo(logs)
    if "voltage" in channels and (moving or "current" in channels):
        return _voltage(logs, channels, "voltage")
    if {"duty", "bus_voltage"} <= channels and (moving or "current" in channels):
        return _duty(logs, channels)
    if command == "V" and (moving or "current" in channels):
        return _voltage(logs, channels, "command")
    if "torque" in channels and moving:
        return _torque(channels, "torque")
    if command == "N·m" and moving:
        return _torque(channels, "command")
    if command == "rad" and "position" in channels:
        return _servo(channels)
    if command == "rad/s" and moving:
        return _speed_loop(channels)
    if {"current", "velocity"} <= channels:
        return _balance()
    raise ModelError(_no_model(logs, channels, command))


def _no_model(logs: Sequence[Log], channels: set[str], command: str | None) -> str:
    has = ", ".join(sorted(channels)) or "none"
    if command == "":
        return (
            f"{logs[0].name}: the command has no unit: say it with --columns 'command=COLUMN[V]'"
            " (or rad, rad/s, A, N*m), or describe the drive in a --model file"
        )
    return (
        f"{logs[0].name}: no model fits the channels {has}: a motor log needs what drives it (voltage; duty and"
        " bus_voltage; torque; a command) and what it does (current, velocity or position); name columns with"
        " --columns, or describe the bench in a --model file"
    )


def _moving(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {} for name in names}


def _electrical(logs: Sequence[Log], channels: set[str]) -> tuple[dict[str, str], tuple[str, ...], str]:
    """Winding stage, its free parameters and words for it."""
    seen = "torque" in channels
    constants = ("torque_constant", "back_emf_constant") if seen else ("motor_constant",)
    if {"current", "voltage"} <= channels and {"position", "velocity"} & channels:
        lag = max((electrical_lag(log) or 0.0 for log in logs), default=0.0)
        if lag > 0:
            return {"winding": "Inductive"}, ("resistance", *constants, "inductance"), "winding with inductance"
    return {"winding": "QuasiStatic"}, ("resistance", *constants), "winding without inductance"


def _voltage(logs: Sequence[Log], channels: set[str], command: str) -> Draft:
    stages, free, winding = _electrical(logs, channels)
    drive = "terminal voltage" if command == "voltage" else "commanded voltage"
    heated, warming, values, warmth = _thermal(logs, channels)
    if not {"position", "velocity"} & channels and "current" in channels and _imposed(logs):
        # With a unit torque constant a torque command of an ideal driver is its current.
        unit = {"torque_constant": 1.0, "back_emf_constant": 1.0}
        return Draft(
            {"controller": "TorqueDrive", "load": "RigidLoad", "integrator": "Prescribed"} | stages | heated,
            _moving("resistance") | warming,
            "current",
            f"imposed current through a {winding} whose shaft is held (no channel shows motion){warmth}",
            values | unit,
        )
    if not {"position", "velocity"} & channels:
        # Nothing moved that was measured, so the shaft is taken as held: current then tells resistance alone.
        return Draft(
            {"controller": "VoltageDrive", "load": "RigidLoad", "integrator": "Prescribed"} | stages | heated,
            _moving("resistance") | warming,
            command,
            f"{drive} drives a {winding} whose shaft is held (no channel shows motion){warmth}",
            values,
        )
    return Draft(
        {"controller": "VoltageDrive", "load": "RigidLoad"} | stages | _FRICTION | heated,
        _moving(*free, "inertia", *_FRICTION_NUMBERS) | warming,
        command,
        f"{drive} drives a {winding}; rigid load with Coulomb and viscous friction{warmth}",
        values,
    )


def _imposed(logs: Sequence[Log]) -> bool:
    """Whether the current is a set-point: a few exact levels, while the voltage takes many values."""
    return all(
        len(np.unique(log.channels["current"])) <= _LEVELS
        and len(np.unique(log.channels["voltage"])) > 10 * len(np.unique(log.channels["current"]))
        for log in logs
    )


def _thermal(
    logs: Sequence[Log], channels: set[str]
) -> tuple[dict[str, str], dict[str, dict[str, Any]], dict[str, float], str]:
    """Thermal stage, its free parameters, its numbers and words for it, where the winding's temperature moved."""
    if "temperature" not in channels:
        return {}, {}, {}, ""
    seen = [log.channels["temperature"][log.masks["temperature"]] for log in logs]
    if max(float(np.ptp(t)) for t in seen) < _WARMED:
        return {}, {}, {}, ""
    room = float(min(np.min(t) for t in seen))
    values = {"ambient_temperature": room, "temperature_coefficient": 0.0039}
    values |= {"thermal_resistance": 5.0, "thermal_capacitance": 20.0}
    moving = _moving("temperature_coefficient", "thermal_resistance", "thermal_capacitance")
    moving |= {
        "temperature_coefficient": {"lower": 0.0, "upper": 0.02},
        "ambient_temperature": {"prior": (room, _ROOM_KNOWN)},
    }
    return {"thermal": "LumpedThermal"}, moving, values, "; one thermal node"


def _duty(logs: Sequence[Log], channels: set[str]) -> Draft:
    stages, free, winding = _electrical(logs, channels)
    return Draft(
        {"controller": "DutyDrive", "supply": "FixedSupply", "load": "RigidLoad"} | stages | _FRICTION,
        _moving(*free, "inertia", *_FRICTION_NUMBERS),
        "duty",
        f"duty times the measured bus voltage drives a {winding}; rigid load with Coulomb and viscous friction",
        {"bus_voltage": _median(logs, "bus_voltage")},
    )


def _firmware_servo(logs: Sequence[Log]) -> Draft:
    """The pendulum bench of BAM: its raw recordings state mass, length and firmware gain."""
    known = set.intersection(*(set(log.conditions) for log in logs))
    pendulum = {"mass", "length"} <= known
    conditions = [Condition("gain", "kp", _XL330_GAIN)]
    if pendulum:
        conditions += [Condition("mass", "mass"), Condition("length", "length")]
        conditions += [Condition("arm_mass", "arm_mass")] if "arm_mass" in known else []
    bus = all("bus_voltage" in log.channels for log in logs)
    nominal = _median(logs, "bus_voltage") if bus else min(log.conditions.get("vin", math.nan) for log in logs)
    values = {"current_limit": _XL330_CURRENT, "gain": _XL330_GAIN * logs[0].conditions["kp"], "rotor_inertia": 2e-3}
    values |= {"resistance": 3.0, "torque_constant": 0.4, "back_emf_constant": 0.4}
    values |= {"coulomb_friction": 0.02, "viscous_damping": 0.01}
    values |= {"mass": logs[0].conditions["mass"], "length": logs[0].conditions["length"]} if pendulum else {}
    values |= {"bus_voltage": nominal} if math.isfinite(nominal) else {}
    load = {"load": "Pendulum"} if pendulum else {"load": "UnbalancedLoad"}
    stages = {"controller": "ServoDrive", "supply": "FixedSupply", "current_limit": "CurrentLimit"} | load | _FRICTION
    unknown = () if pendulum else ("unbalance",)
    inertia = "rotor_inertia" if pendulum else "inertia"
    return Draft(
        stages,
        _moving("resistance", "motor_constant", inertia, *_FRICTION_NUMBERS, "position_offset", *unknown),
        "command",
        "firmware position loop (duty per radian from the log's kp, XL330 scale) on the measured bus voltage, current "
        f"capped at {_XL330_CURRENT} A; pendulum with Coulomb and viscous friction",
        values,
        tuple(conditions),
        # The register of the speed is a filtered one, and the law was written for this grid (bam/process.py).
        outputs=("position",),
        grid=_BAM_GRID,
    )


def _servo(channels: set[str]) -> Draft:
    values = {"rotor_inertia": 0.0, "inertia": 1e-2} | ({"bus_voltage": 1.0} if "bus_voltage" in channels else {})
    return Draft(
        {"controller": "ServoDrive", "supply": "FixedSupply", "load": "RigidLoad"} | _FRICTION,
        _moving("gain", "motor_constant", "inertia", *_FRICTION_NUMBERS),
        "command",
        "position loop of unknown gain on the bus voltage, resistance held at 1 ohm; rigid load with Coulomb and"
        " viscous friction",
        values,
    )


def _speed_loop(channels: set[str]) -> Draft:
    stages = {"controller": "VelocityPI", "controller.integral": "NoIntegral", "load": "RigidLoad"}
    loop = ("proportional_gain", "delay", "lag")
    values = {"delay": 0.1, "lag": 0.03, "inertia": 1e-6, "proportional_gain": 1.0}
    if "current" not in channels:
        return Draft(
            stages | _FRICTION,
            _moving(*loop, "coulomb_friction"),
            "command",
            "speed loop of unknown gain behind a delay and a lag; nominal motor with Coulomb friction",
            values,
        )
    return Draft(
        stages | _FRICTION,
        _moving(*loop, "motor_constant", *_FRICTION_NUMBERS),
        "command",
        "speed loop of unknown gain behind a delay and a lag predicts the speed; the current is the one that Coulomb "
        "and viscous friction ask for at the measured speed",
        values,
        balanced=True,
    )


def _balance() -> Draft:
    """Current without a sign of its own, and speed: the drive is unknown, friction is not."""
    return Draft(
        {"controller": "VelocityPI", "controller.integral": "NoIntegral", "load": "RigidLoad"} | _FRICTION,
        _moving("motor_constant", *_FRICTION_NUMBERS),
        "velocity",
        "the current is the one that Coulomb and viscous friction ask for at the measured speed",
        {"inertia": 1e-6, "proportional_gain": 1.0},
        balanced=True,
    )


def _torque(channels: set[str], command: str) -> Draft:
    swings = "position" in channels
    load = ("inertia", "unbalance", "position_offset") if swings else ("inertia",)
    constant = ("torque_constant",) if "current" in channels else ()
    words = "an unbalanced load (inertia and weight)" if swings else "a rigid load"
    return Draft(
        {"controller": "TorqueDrive", "load": "UnbalancedLoad" if swings else "RigidLoad"} | _FRICTION,
        _moving(*constant, *load, *_FRICTION_NUMBERS, "torque_offset"),
        command,
        f"{'measured' if command == 'torque' else 'commanded'} torque drives {words} with Coulomb and viscous friction;"
        " the winding plays no part",
        {"inertia": 1e-1, "coulomb_friction": 1e-1, "viscous_damping": 1e-1} if swings else {},
    )


def _median(logs: Sequence[Log], channel: str) -> float:
    return float(np.median(np.concatenate([log.channels[channel][log.masks[channel]] for log in logs])))
