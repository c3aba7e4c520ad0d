"""The experiment that would pin a parameter down."""

_EXPERIMENTS = {
    "resistance": "hold the shaft still and step the voltage through a few levels of both signs, with current and"
    " voltage measured at the terminals",
    "motor_constant": "spin the shaft at several steady speeds with current measured, or turn it by hand or another"
    " motor with the terminals open and measure the voltage",
    "torque_constant": "measure the torque on a scale or a torque sensor at several held currents",
    "back_emf_constant": "turn the shaft from outside at several speeds, terminals open, and measure the voltage",
    "inductance": "hold the shaft still and step the voltage, sampled several times within L/R (often below 1 ms)",
    "electrical_time_constant": "hold the shaft still and step the voltage, sampled several times within L/R",
    "maximum_current_rate": "step the command from one current limit to the other with the shaft held, sampled fast",
    "inertia": "reverse the {drive} sharply many times, so that acceleration takes most of the torque",
    "rotor_inertia": "repeat the log with a known inertia added to the shaft; the difference separates rotor and load",
    "coulomb_friction": "let the shaft coast down with the power off for 2 s from several speeds, and cross zero speed"
    " slowly in both directions",
    "viscous_damping": "let the shaft coast down with the power off for 2 s from full speed, and run at several steady"
    " speeds up to the highest",
    "quadratic_drag": "run at steady speeds up to the highest, several of them in the upper half",
    "cubic_drag": "run at steady speeds up to the highest, several of them in the upper half",
    "lugre_stiffness": "push with a slow sine of torque below break-away and measure the micro-motion",
    "bristle_stiffness": "push with a slow sine of torque below break-away and measure the micro-motion",
    "lugre_damping": "step the torque below break-away and record how the micro-motion rings out",
    "stiction_torque": "ramp the torque slowly from zero until the shaft breaks away, ten times in each direction",
    "stribeck_velocity": "creep at steady speeds between zero and a few times the speed of least friction",
    "amplitude": "turn slowly through several revolutions at a constant low speed with the angle measured",
    "phase": "turn slowly through several revolutions at a constant low speed with the angle measured",
    "thermal_resistance": "hold a constant current until the temperature levels off (five thermal time constants)",
    "thermal_capacitance": "step the current from cold and record the first rise of the temperature, then let it cool",
    "temperature_coefficient": "repeat the resistance measurement cold and hot",
    "unbalance": "let the load swing freely, or hold it still at several angles with the torque measured",
    "mass": "weigh it: a log fixes only mass times length and the inertia",
    "length": "measure it: a log fixes only mass times length and the inertia",
    "position_offset": "let the load hang at rest with the power off at the start of the log",
    "torque_offset": "drive slowly in both directions through the same angles",
    "current_offset": "log a second with the power off before the run",
    "current_gain": "compare with a second ammeter in series",
    "velocity_offset": "log a second at rest before the run",
    "gain": "step the command with the load held, so that the duty shows the gain alone",
    "proportional_gain": "step the command with the load held, so that the voltage shows the gain alone",
    "current_limit": "stall the motor at full command with the current measured",
    "bus_voltage": "log the bus voltage",
    "lag": "step the command, sampled several times within the lag; one that ends at zero is none: --fix lag=0",
    "slew_rate": "step the command far, so that the motor follows the limit and not the step",
    "load_friction": "repeat the same motion with a load several times as heavy",
    "delay": "command a ramp or a slow sine rather than steps, sampled much faster than the delay",
}


_DRIVES = {"voltage": "voltage", "duty": "duty cycle", "torque": "torque", "current": "current"}
"""What is driven, by the channel that commands the bench; else a set-point is."""


def experiment(name: str, command: str = "voltage") -> str:
    """One sentence for a parameter that a log leaves open or weak, of a bench that the channel `command` drives."""
    stem = name.rsplit("@", 1)[0].rsplit(".", 1)[-1].split("[", 1)[0]
    words = _EXPERIMENTS.get(stem, "record motion on which it has an effect, or hold it with --fix at a known value")
    return words.format(drive=_DRIVES.get(command, "set-point"))
