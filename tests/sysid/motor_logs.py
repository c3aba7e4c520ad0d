"""Logs of a brushed motor from exact solutions, made without the packages under test."""

import numpy as np
from scipy.linalg import expm

import sysid

TRUTH = {
    "resistance": 1.3,
    "motor_constant": 0.045,
    "inertia": 4e-5,
    "viscous_damping": 2e-5,
    "coulomb_friction": 0.006,
}
CURRENT_NOISE, SPEED_NOISE = 0.01, 0.05


def levels(rows: int, seed: int, largest: float = 10.0, hold: int = 40) -> np.ndarray:
    """Random voltages [V] of both signs, each held for `hold` rows."""
    generator = np.random.default_rng(seed)
    return np.repeat(generator.uniform(-largest, largest, -(-rows // hold)), hold)[:rows]


def _flow(
    speed: float, current: float, voltage: float, step: float, p: dict, sense: float
) -> tuple[float, float, float]:
    """Angle gained, speed and current after `step` of sliding in one sense; exact, by a matrix exponential."""
    r, k, j, b = p["resistance"], p["motor_constant"], p["inertia"], p["viscous_damping"]
    friction = -sense * p["coulomb_friction"] / j
    if p["inductance"] == 0:
        a = np.array([[0.0, 1.0, 0.0], [0.0, -(b + k * k / r) / j, k * voltage / (r * j) + friction], [0.0, 0.0, 0.0]])
        angle, after, _ = expm(a * step) @ [0.0, speed, 1.0]
        return angle, after, (voltage - k * after) / r
    inductance = p["inductance"]
    a = np.zeros((4, 4))
    a[0, 1] = 1.0
    a[1] = [0.0, -b / j, k / j, friction]
    a[2] = [0.0, -k / inductance, -r / inductance, voltage / inductance]
    angle, after, current, _ = expm(a * step) @ [0.0, speed, current, 1.0]
    return angle, after, current


def _row(speed: float, current: float, voltage: float, step: float, p: dict) -> tuple[float, float, float]:
    """One row: sliding until the shaft stops, then held or sliding the other way."""
    gained, left = 0.0, step
    for _ in range(4):
        if left <= 0:
            break
        drive = p["motor_constant"] * (voltage / p["resistance"] if p["inductance"] == 0 else current)
        if abs(speed) < 1e-12 and abs(drive) <= p["coulomb_friction"]:
            if p["inductance"] > 0:
                decay = np.exp(-left * p["resistance"] / p["inductance"])
                current = voltage / p["resistance"] + (current - voltage / p["resistance"]) * decay
            else:
                current = voltage / p["resistance"]
            return gained, 0.0, current
        sense = np.sign(speed) if abs(speed) >= 1e-12 else np.sign(drive)
        angle, after, following = _flow(speed, current, voltage, left, p, sense)
        if after * sense >= 0:
            return gained + angle, after, following
        low, high = 0.0, left
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if _flow(speed, current, voltage, middle, p, sense)[1] * sense > 0 else (low, middle)
            )
        angle, _, current = _flow(speed, current, voltage, high, p, sense)
        gained, speed, left = gained + angle, 0.0, left - high
    return gained, speed, current


def brushed(
    seed: int = 0,
    rows: int = 800,
    step: float = 2e-3,
    noise: float = 1.0,
    voltage: np.ndarray | None = None,
    inductance: float = 0.0,
    **changes: float,
) -> dict[str, np.ndarray]:
    """Time and channels of a motor at rest that random voltage levels drive; measured before the row acts."""
    p = {**TRUTH, "inductance": inductance, **changes}
    generator = np.random.default_rng(1000 + seed)
    volts = levels(rows, seed) if voltage is None else voltage
    angles, speeds, currents = np.zeros(rows), np.zeros(rows), np.zeros(rows)
    angle, speed, current = 0.0, 0.0, 0.0
    for n in range(rows):
        angles[n], speeds[n] = angle, speed
        currents[n] = current if inductance > 0 else (volts[n] - p["motor_constant"] * speed) / p["resistance"]
        gained, speed, current = _row(speed, current, volts[n], step, p)
        angle += gained
    return {
        "time": np.arange(rows) * step,
        "voltage": volts,
        "current": currents + noise * CURRENT_NOISE * generator.standard_normal(rows),
        "velocity": speeds + noise * SPEED_NOISE * generator.standard_normal(rows),
        "position": angles,
    }


def log(
    columns: dict[str, np.ndarray], channels: tuple[str, ...] = ("voltage", "current", "velocity"), name="made", **more
):
    """A `Log` of some of these columns."""
    return sysid.Log(name, columns["time"], {channel: columns[channel] for channel in channels}, **more)
