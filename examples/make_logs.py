"""Make the example bench logs with MuJoCo's own `dcmotor` engine: simulated, and by another simulator than jaxmotor.

    python examples/make_logs.py [FOLDER]

Writes motor_a.csv (to fit), motor_b.csv (to hold out), motor_hot.csv (long enough to warm up) and, beside them,
truth.json.
The same seed gives the same bytes. Needs `pip install mujoco`.
"""

import dataclasses
import json
import pathlib
import sys

import mujoco
import numpy as np

STEP = 2e-5
"""Engine step [s]. The engine is of first order, so a step of h shifts the inertia by h over twice the motor's
mechanical time constant: 0.02 % here, less than the sensors' noise does."""

MOTOR = {
    "resistance": (1.6, "ohm"),
    "torque_constant": (0.042, "N m/A"),
    "back_emf_constant": (0.042, "V s/rad"),
    "inertia": (5.5e-5, "kg m^2"),
    "coulomb_friction": (0.008, "N m"),
    "viscous_damping": (3e-5, "N m s/rad"),
}
WARMING = MOTOR | {
    "inertia": (5.5e-4, "kg m^2"),
    "thermal_resistance": (2.5, "K/W"),
    "thermal_capacitance": (12.0, "J/K"),
    "temperature_coefficient": (0.0039, "1/K"),
}
"""The same motor on a flywheel: it warms without leaving the speeds and currents that the sensors can follow."""
AMBIENT = 25.0


@dataclasses.dataclass(frozen=True)
class Sensor:
    """White noise of standard deviation `noise`, then rounding to `quantum`, both in the unit of the column."""

    noise: float
    quantum: float

    def read(self, values: np.ndarray, random: np.random.Generator) -> np.ndarray:
        noisy = values + self.noise * random.standard_normal(values.shape)
        return np.round(noisy / self.quantum) * self.quantum


CURRENT = Sensor(noise=15.0, quantum=5.0)
SPEED = Sensor(noise=3.0, quantum=1.0)
TEMPERATURE = Sensor(noise=0.1, quantum=0.1)


@dataclasses.dataclass(frozen=True)
class Run:
    """`motor`: its numbers with their units; row `period` and engine `step` [s]."""

    motor: dict[str, tuple[float, str]]
    period: float
    step: float

    @property
    def thermal(self) -> bool:
        return "thermal_resistance" in self.motor


QUICK = Run(MOTOR, period=2e-3, step=STEP)
LONG = Run(WARMING, period=2e-2, step=5 * STEP)


def model(run: Run) -> mujoco.MjModel:
    """One hinge driven by raw voltage; the rotor is a wheel, so nothing but the motor's own losses slows it."""
    value = {name: number for name, (number, _) in run.motor.items()}
    heat = (
        f'thermal="{value["thermal_resistance"]} {value["thermal_capacitance"]} 0 {value["temperature_coefficient"]}'
        f' {AMBIENT} {AMBIENT}"'
        if run.thermal
        else ""
    )
    # The solver's friction is soft by default; a time constant of two steps and a stiff impedance let the shaft hold.
    return mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <option timestep="{run.step}" gravity="0 0 0" integrator="implicitfast"/>
          <worldbody>
            <body>
              <joint name="shaft" type="hinge" axis="0 0 1" frictionloss="{value["coulomb_friction"]}"
                     solreffriction="{2 * run.step} 1" solimpfriction="0.9999 0.9999 0.001 0.5 2"/>
              <inertial pos="0 0 0" mass="0.1" diaginertia="{value["inertia"]} {value["inertia"]} {value["inertia"]}"/>
            </body>
          </worldbody>
          <actuator>
            <dcmotor name="motor" joint="shaft" input="voltage" resistance="{value["resistance"]}"
                     motorconst="{value["torque_constant"]}" damping="{value["viscous_damping"]}" {heat}/>
          </actuator>
        </mujoco>
    """)


def levels(rows: int, hold: tuple[int, int], top: float, random: np.random.Generator) -> np.ndarray:
    """Random voltages [V] held for a random number of rows: both directions, every third one a rest at 0 V."""
    volts = np.empty(0)
    index = 0
    while volts.size < rows:
        level = 0.0 if index % 3 == 2 else random.uniform(-top, top)
        volts = np.append(volts, np.full(random.integers(*hold), np.round(level, 2)))
        index += 1
    return volts[:rows]


def ramps(rows: int, top: float) -> np.ndarray:
    """A triangle of growing height that crosses rest slowly, rounded to 10 mV."""
    phase = np.linspace(0.0, 3.0, rows, endpoint=False)
    triangle = 4 * np.abs((phase + 0.25) % 1 - 0.5) - 1
    return np.round(-top * (0.4 + 0.2 * phase) * triangle, 2)


def drive(run: Run, volts: np.ndarray) -> dict[str, np.ndarray]:
    """Row k is the instant t[k], just after `volts[k]` is applied, which then holds until t[k+1]."""
    motor = model(run)
    data = mujoco.MjData(motor)
    steps = round(run.period / run.step)
    rows: dict[str, list[float]] = {"current": [], "velocity": [], "temperature": []}
    for volt in volts:
        data.ctrl[0] = volt
        mujoco.mj_forward(motor, data)
        rows["current"].append(data.actuator_force[0] / run.motor["torque_constant"][0])
        rows["velocity"].append(data.qvel[0])
        rows["temperature"].append(AMBIENT + (data.act[0] if run.thermal else 0.0))
        mujoco.mj_step(motor, data, steps)
    return {name: np.asarray(values) for name, values in rows.items()}


def write(path: pathlib.Path, run: Run, volts: np.ndarray, random: np.random.Generator) -> None:
    """Simulate, read the sensors and write one log."""
    truth = drive(run, volts)
    columns = {
        "time [ms]": (1e3 * run.period * np.arange(volts.size), "%.0f"),
        "voltage [V]": (volts, "%.2f"),
        "current [mA]": (CURRENT.read(1e3 * truth["current"], random), "%.0f"),
        "speed [rpm]": (SPEED.read(truth["velocity"] * 30 / np.pi, random), "%.0f"),
    }
    if run.thermal:
        columns["winding temperature [degC]"] = (TEMPERATURE.read(truth["temperature"], random), "%.1f")
    np.savetxt(
        path,
        np.column_stack([values + 0.0 for values, _ in columns.values()]),
        fmt=[form for _, form in columns.values()],
        delimiter=",",
        header=",".join(columns),
        comments="",
    )


def main(folder: pathlib.Path) -> None:
    """Write the three logs and the truth into `folder`."""
    random = np.random.default_rng(0)
    write(folder / "motor_a.csv", QUICK, levels(2000, (25, 150), 12.0, random), random)
    mixed = np.concatenate([ramps(900, 10.0), levels(1100, (15, 120), 10.0, random)])
    write(folder / "motor_b.csv", QUICK, mixed, random)
    working, resting = levels(5500, (20, 120), 14.0, random), levels(1500, (20, 120), 2.0, random)
    write(folder / "motor_hot.csv", LONG, np.concatenate([working, resting]), random)

    def numbers(parameters):
        return {name: {"value": value, "unit": unit} for name, (value, unit) in parameters.items()}

    truth = {
        "made_by": f"MuJoCo {mujoco.__version__}, its dcmotor at steps of {QUICK.step:g} s and {LONG.step:g} s",
        "kind": "simulated: no motor was measured",
        "row": "t[k], just after voltage[k] is applied, which holds until t[k+1]",
        "noise": {
            "current [mA]": dataclasses.asdict(CURRENT),
            "speed [rpm]": dataclasses.asdict(SPEED),
            "winding temperature [degC]": dataclasses.asdict(TEMPERATURE),
        },
        "logs": {
            "motor_a.csv": numbers(MOTOR),
            "motor_b.csv": numbers(MOTOR),
            "motor_hot.csv": numbers(WARMING) | {"ambient": {"value": AMBIENT, "unit": "degC"}},
        },
    }
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
