"""LuGre friction from a log of micro-motion and of sweeps, simulated by SciPy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sysid
from sysid._draft import Draft, assemble

TRUTH = {
    "inertia": 4e-5,
    "lugre_stiffness": 10.0,
    "lugre_damping": 0.01,
    "coulomb_friction": 0.01,
    "stiction_torque": 0.015,
    "stribeck_velocity": 2.0,
    "viscous_damping": 1e-4,
}
BEGUN = {
    "inertia": 8e-5,
    "lugre_stiffness": 5.0,
    "lugre_damping": 0.005,
    "coulomb_friction": 0.007,
    "stiction_torque": 0.02,
    "stribeck_velocity": 1.0,
    "viscous_damping": 2e-4,
}
STEP, PRESLIDING, ROWS = 1e-3, 600, 2000


def _torques(time: np.ndarray) -> np.ndarray:
    """Below break-away, then through it, then a sweep of reversals [N m]."""
    slow = 0.010 * np.sin(2 * np.pi * 4 * time)
    through = 0.02 * (time - 0.6) / 0.4 * np.sin(2 * np.pi * 10 * (time - 0.6))
    sweep = 0.022 * np.sin(2 * np.pi * (2 * (time - 1) + 2 * (time - 1) ** 2))
    return np.where(time < 0.6, slow, np.where(time < 1.0, through, sweep))


def _simulated(torques: np.ndarray) -> np.ndarray:
    """Angle and speed at every row, (rows, 2)."""
    excess = TRUTH["stiction_torque"] - TRUTH["coulomb_friction"]

    def slope(at: float, state: np.ndarray, torque: float) -> list[float]:
        del at
        _, speed, bend = state
        level = TRUTH["coulomb_friction"] + excess * np.exp(-((speed / TRUTH["stribeck_velocity"]) ** 2))
        rate = speed - TRUTH["lugre_stiffness"] * abs(speed) / level * bend
        friction = TRUTH["lugre_stiffness"] * bend + TRUTH["lugre_damping"] * rate
        return [speed, (torque - friction - TRUTH["viscous_damping"] * speed) / TRUTH["inertia"], rate]

    state, found = np.zeros(3), np.zeros((len(torques), 2))
    for row, torque in enumerate(torques):
        found[row] = state[:2]
        state = solve_ivp(slope, (0, STEP), state, args=(torque,), rtol=1e-7, atol=1e-10).y[:, -1]
    return found


def test_lugre_is_recovered():
    time = np.arange(ROWS) * STEP
    torques = _torques(time)
    angle, speed = _simulated(torques).T
    generator = np.random.default_rng(0)
    # One hundredth of the micro-motion, and of the largest speed.
    angle = angle + 0.01 * np.ptp(angle[:PRESLIDING]) / 2 * generator.standard_normal(ROWS)
    speed = speed + 0.01 * np.max(np.abs(speed)) * generator.standard_normal(ROWS)
    stages = {"controller": "TorqueDrive", "load": "RigidLoad", "bristle": "LuGre", "drag": "ViscousDrag"}
    model = assemble(Draft(stages, {name: {} for name in TRUTH}, "torque", "bristles", BEGUN))
    log = sysid.Log("sweep", time, {"torque": torques, "position": angle, "velocity": speed})
    result = sysid.fit(log, model=model, starts=3)
    found = {estimate.name: estimate.value for estimate in result.estimates}
    widths = {"lugre_stiffness": 0.10, "stiction_torque": 0.03, "coulomb_friction": 0.03, "stribeck_velocity": 0.15}
    for name, width in widths.items():
        assert found[name] == pytest.approx(TRUTH[name], rel=width), name
    assert found["inertia"] == pytest.approx(TRUTH["inertia"], rel=0.01)
    assert found["viscous_damping"] == pytest.approx(TRUTH["viscous_damping"], rel=0.1)
