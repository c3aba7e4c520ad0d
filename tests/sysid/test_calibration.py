"""How often a 95 % interval holds the truth, counted over many logs of a motor whose winding warms.

The motion comes from a Runge-Kutta rule of fourth order in fine steps, which shares nothing with the packages under
test. It is simulated once; each run adds its own noise. All runs of a motor are one fleet, which gives what single fits
give (`test_fleet`) in one compiled program. For the plain motor see `test_uncertainty`.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import lfilter

import sysid
from sysid._choose import choose_model
from sysid._draft import Draft, assemble
from sysid._fleet import fit_fleet
from sysid._free import Free

from .intervals import shares_held

KINDS = ("white", "quantised", "memory")
"""Noise without memory, the same behind a converter, and noise that remembers nine tenths of itself from row to row."""


_SIZES = {"memory": 0.3}
"""Noise that remembers is made smaller, so that every run still identifies every parameter."""


def _noise(kind: str, rows: int, generator: np.random.Generator) -> np.ndarray:
    """A stationary series of unit variance, less where it remembers."""
    white = generator.standard_normal(rows + 200)
    if kind == "memory":
        return _SIZES[kind] * np.asarray(lfilter([np.sqrt(1 - 0.9**2)], [1.0, -0.9], white))[200:]
    return white[200:]


@dataclasses.dataclass(frozen=True)
class Motor:
    """`columns` without noise, the `truth` behind them, the `model` to be fitted; per noisy channel the size of its
    `noise` and the step of its converter `quantum`; `substeps` that make the model's own step no matter."""

    columns: dict[str, np.ndarray]
    truth: dict[str, float]
    model: sysid.Model
    noise: dict[str, float]
    quantum: dict[str, float]
    substeps: int = 1

    def log(self, kind: str, seed: int) -> sysid.Log:
        """One run: the columns with noise of this kind."""
        generator = np.random.default_rng(seed)
        channels = {name: values for name, values in self.columns.items() if name != "time"}
        for name, size in self.noise.items():
            channels[name] = channels[name] + size * _noise(kind, len(channels[name]), generator)
            if kind == "quantised":
                channels[name] = np.round(channels[name] / self.quantum[name]) * self.quantum[name]
        return sysid.Log(f"{kind}{seed}", self.columns["time"], channels)


def _at_truth(model: sysid.Model, truth: dict[str, float]) -> sysid.Model:
    """The model begun at the truth: what counts here are the ends and their errors, not the walk."""
    begun = tuple(dataclasses.replace(p, start=truth[p.name]) for p in model.free.parameters)
    return dataclasses.replace(model, free=Free(begun))


def _runge_kutta(
    slope: Callable[[np.ndarray, float], np.ndarray], state: np.ndarray, held: np.ndarray, step: float, finer: int
) -> np.ndarray:
    """The state at every row of inputs `held` over rows of `step` [s], by the classical rule in `finer` parts."""
    h, found = step / finer, np.zeros((len(held), len(state)))
    for row, drive in enumerate(held):
        found[row] = state
        for _ in range(finer):
            a = slope(state, drive)
            b = slope(state + h / 2 * a, drive)
            c = slope(state + h / 2 * b, drive)
            state = state + h / 6 * (a + 2 * b + 2 * c + slope(state + h * c, drive))
    return found


WARM = {
    "resistance": 1.3,
    "motor_constant": 0.045,
    "inertia": 4e-5,
    "coulomb_friction": 0.006,
    "viscous_damping": 2e-5,
    "thermal_resistance": 25.0,
    "thermal_capacitance": 0.08,
    "temperature_coefficient": 0.0039,
    "ambient_temperature": 25.0,
}


def _warm() -> Motor:
    """Voltages of one sign, so that the shaft never stops and the equations stay smooth between rows."""
    step, rows = 1e-2, 400
    generator = np.random.default_rng(3)
    volts = np.repeat(generator.uniform(2, 12, rows // 20), 20)
    volts[rows // 2 :] *= 0.5
    p = WARM

    def current(speed, rise, drive):
        return (drive - p["motor_constant"] * speed) / (p["resistance"] * (1 + p["temperature_coefficient"] * rise))

    def slope(state: np.ndarray, drive: float) -> np.ndarray:
        _, speed, rise = state
        amps = current(speed, rise, drive)
        pull = p["motor_constant"] * amps - p["coulomb_friction"] - p["viscous_damping"] * speed
        heat = p["resistance"] * (1 + p["temperature_coefficient"] * rise) * amps**2
        warming = (heat - rise / p["thermal_resistance"]) / p["thermal_capacitance"]
        return np.array([speed, pull / p["inertia"], warming])

    speed = 30.0
    moved = _runge_kutta(slope, np.array([0.0, speed, 0.0]), volts, step, finer=10)
    columns = {
        "time": np.arange(rows) * step,
        "voltage": volts,
        "current": current(moved[:, 1], moved[:, 2], volts),
        "velocity": moved[:, 1],
        "temperature": p["ambient_temperature"] + moved[:, 2],
    }
    log = sysid.Log("clean", columns["time"], {n: v for n, v in columns.items() if n != "time"})
    return Motor(
        columns,
        WARM,
        _at_truth(choose_model([log]), WARM),
        {"current": 0.01, "velocity": 0.05, "temperature": 0.1},
        {"current": 0.02, "velocity": 0.1, "temperature": 0.2},
        substeps=8,
    )


BRISTLES = {
    "inertia": 4e-4,
    "lugre_stiffness": 1.0,
    "lugre_damping": 0.003,
    "coulomb_friction": 0.01,
    "stiction_torque": 0.018,
    "stribeck_velocity": 0.5,
    "viscous_damping": 2e-3,
}


def _bristles() -> Motor:
    """A torque below break-away, one through it, and reversals: all that LuGre friction shows."""
    step, rows = 1e-3, 1000
    time = np.arange(rows) * step
    slow = 0.010 * np.sin(2 * np.pi * 8 * time)
    through = 0.02 * (time - 0.3) / 0.2 * np.sin(2 * np.pi * 10 * (time - 0.3))
    sweep = 0.03 * np.sin(2 * np.pi * (2 * (time - 0.5) + 6 * (time - 0.5) ** 2))
    torques = np.where(time < 0.3, slow, np.where(time < 0.5, through, sweep))
    p = BRISTLES
    excess = p["stiction_torque"] - p["coulomb_friction"]

    def slope(state: np.ndarray, torque: float) -> np.ndarray:
        _, speed, bend = state
        level = p["coulomb_friction"] + excess * np.exp(-((speed / p["stribeck_velocity"]) ** 2))
        rate = speed - p["lugre_stiffness"] * abs(speed) / level * bend
        friction = p["lugre_stiffness"] * bend + p["lugre_damping"] * rate
        return np.array([speed, (torque - friction - p["viscous_damping"] * speed) / p["inertia"], rate])

    moved = _runge_kutta(slope, np.zeros(3), torques, step, finer=20)
    columns = {"time": time, "torque": torques, "position": moved[:, 0], "velocity": moved[:, 1]}
    stages = {"controller": "TorqueDrive", "load": "RigidLoad", "bristle": "LuGre", "drag": "ViscousDrag"}
    model = assemble(Draft(stages, {name: {} for name in BRISTLES}, "torque", "bristles", BRISTLES))
    noise = {"position": 2e-3, "velocity": 0.04}
    quantum = {"position": 4e-3, "velocity": 0.08}
    return Motor(columns, BRISTLES, _at_truth(model, BRISTLES), noise, quantum, substeps=16)


MOTORS = {"warm": _warm, "bristles": _bristles}


def _covered(motor: Motor, kind: str, runs: int) -> dict[str, float]:
    """Share of runs whose 95 % interval holds the truth, per parameter."""
    logs = [motor.log(kind, seed) for seed in range(runs)]
    return shares_held(fit_fleet(logs, model=motor.model, starts=1, substeps=motor.substeps), motor.truth)


@pytest.fixture(scope="module", params=list(MOTORS))
def motor(request):
    return MOTORS[request.param]()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_truth_in_a_thousand_runs(motor, kind):
    shares = _covered(motor, kind, 1000)
    low, high = (0.88, 0.99) if kind == "memory" else (0.92, 0.98)
    assert all(low <= share <= high for share in shares.values()), shares
    assert 0.92 <= np.mean(list(shares.values())) <= 0.98, shares
