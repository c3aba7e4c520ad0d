"""A `dcmotor` as MuJoCo holds it once its attributes are resolved: plain numbers, where zero means off."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class DcMotorNumbers:
    """The entries of `mjModel` (MuJoCo DC motor note, "Low-Level Semantics"), with the note's symbols.

    `resistance` R [ohm], `motor_constant` K [N m/A]; `peak_torque` [N m], `current_rate` [A/s];
    `electrical_time_constant` t_e [s]; `thermal` R_T, C, alpha, T0, Ta; `cogging` A, N_p, phi; `lugre` sigma0, sigma1,
    tau_c, tau_s, w_s; `damping` B1, B2, B3; `armature` [kg m^2]; `gear` N; `controller` k_p, k_i, k_d, s, I_max, v_max.

    `inputs` are tokens of MuJoCo 3.12 and later, or the one word of 3.7 to 3.11 if `voltage_space`;
    `ctrlrange` is `None` where there is none.
    """

    resistance: float
    motor_constant: float
    peak_torque: float
    current_rate: float
    electrical_time_constant: float
    thermal: tuple[float, float, float, float, float]
    cogging: tuple[float, float, float]
    lugre: tuple[float, float, float, float, float]
    damping: tuple[float, float, float]
    armature: float
    gear: float
    inputs: tuple[str, ...]
    voltage_space: bool
    controller: tuple[float, float, float, float, float, float]
    ctrlrange: tuple[float, float] | None


class DcMotorError(ValueError):
    """A `dcmotor` that cannot be: which attribute, what is wrong with it, what to do."""

    def __init__(self, attribute: str, reason: str):
        super().__init__(f"dcmotor {attribute}: {reason}")
        self.attribute = attribute
