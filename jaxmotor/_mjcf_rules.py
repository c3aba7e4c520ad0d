"""MuJoCo's rules for the attributes of a `dcmotor`: which combinations mean what, and which mean nothing.

From the DC motor note, "Stateless DC Motor" to "PID Controller", as MuJoCo's compiler applies them: sub-attributes that
are left out are zero, and zero means off or not given.
"""

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from ._mjcf_numbers import DcMotorError

TOKENS = ("pos", "vel", "ff", "voltage")
WORDS = ("voltage", "position", "velocity")


def numbers(attribute: str, value: Any, names: Sequence[str], negative: Iterable[str] = ()) -> tuple[float, ...]:
    """The sub-attributes `names` of an attribute, zero where left out; only those in `negative` may be below zero."""
    given = [] if value is None else value.split() if isinstance(value, str) else value
    try:
        given = [float(x) for x in (given if isinstance(given, Iterable) else [given])]
    except (TypeError, ValueError) as error:
        expected = f"give up to {len(names)} numbers: {', '.join(names)}"
        raise DcMotorError(attribute, f"it is {value!r}: {expected}") from error
    if len(given) > len(names):
        raise DcMotorError(attribute, f"{len(given)} numbers, but it holds {len(names)}: {', '.join(names)}")
    for name, x in zip(names, given, strict=False):
        if not math.isfinite(x):
            raise DcMotorError(f"{attribute}:{name}", f"it is {x}: give a finite number, or 0 for off")
        if x < 0 and name not in negative:
            raise DcMotorError(f"{attribute}:{name}", f"it is {x:g}: it must not be negative; 0 means off or not given")
    return (*given, *[0.0] * (len(names) - len(given)))


def without_effect(attribute: str, reason: str) -> None:
    """Say that something was given which MuJoCo does not use."""
    warnings.warn(f"dcmotor {attribute} has no effect: {reason}", stacklevel=4)


def constants(resistance: float, motorconst: Any, nominal: Any, drag: float) -> tuple[float, float]:
    """R [ohm] and K [N m/A] from resistance, motorconst (Kt, Ke), nominal (v_n, tau_0, w_0) and viscous damping B.

    K is the geometric mean of Kt and Ke, or the one that is given; Ke follows from the nominal voltage and no-load
    speed where it is not given: w_0 = v_n K / (K^2 + R B), solved for K. R follows from the stall torque.
    """
    kt, ke = numbers("motorconst", motorconst, ("Kt", "Ke"))
    voltage, stall, speed = numbers("nominal", nominal, ("voltage", "stall_torque", "no_load_speed"))
    if ke == 0 and voltage > 0 and speed > 0:
        ke = _from_no_load_speed(resistance, voltage, stall, speed, drag)
    constant = math.sqrt(kt * ke) if kt > 0 and ke > 0 else max(kt, ke)
    if not constant > 0:
        raise DcMotorError(
            "motorconst", "the motor constant is missing: give Kt or Ke, or nominal voltage and no_load_speed"
        )
    if kt > 0 and ke > 0 and abs(kt / ke - 1) > 0.02:
        warnings.warn(
            f"dcmotor motorconst: Kt / Ke = {kt / ke:.4g}; MuJoCo has one motor constant and takes the geometric mean "
            f"{constant:.6g}, which is neither of them",
            stacklevel=3,
        )
    if resistance == 0 and stall > 0 and voltage > 0:
        resistance = constant * voltage / stall
    if not resistance > 0:
        raise DcMotorError("resistance", "it is missing: give it, or nominal voltage and stall_torque")
    return resistance, constant


def _from_no_load_speed(resistance: float, voltage: float, stall: float, speed: float, drag: float) -> float:
    simple = voltage / speed
    if resistance > 0:
        root = voltage**2 - 4 * resistance * drag * speed**2
        constant = (voltage + math.sqrt(root)) / (2 * speed) if root >= 0 else simple
    else:
        constant = simple - voltage * drag / stall if stall > 0 else simple
    return constant if constant > 0 else simple


def time_constant(inductance: Any, resistance: float) -> float:
    """t_e [s] from inductance (L, timeconst); L wins: t_e = L / R."""
    henry, seconds = numbers("inductance", inductance, ("L", "timeconst"))
    return henry / resistance if henry > 0 else seconds


def limits(saturation: Any, constant: float, lagging: bool) -> tuple[float, float]:
    """Peak torque [N m], tau_max or else K i_max, and current rate [A/s], from saturation."""
    torque, current, rate = numbers("saturation", saturation, ("torque", "current", "current_rate"))
    if rate > 0 and not lagging:
        without_effect("saturation:current_rate", "the winding has no inductance; give inductance")
    return torque if torque > 0 else constant * current, rate


def thermal_node(thermal: Any, newest: bool) -> tuple[float, float, float, float, float]:
    """R_T, C, alpha, T0, Ta from thermal (resistance, capacitance, timeconst, tempcoef, reftemp, ambient).

    Two of the first three give the third. Of three, MuJoCo 3.12 and later drop the capacitance, earlier ones the time
    constant.
    """
    names = ("resistance", "capacitance", "timeconst", "tempcoef", "reftemp", "ambient")
    resistance, capacitance, seconds, coefficient, reference, ambient = numbers("thermal", thermal, names, names[3:])
    if resistance == capacitance == seconds == 0:
        if coefficient:
            without_effect("thermal:tempcoef", "nothing heats; give thermal resistance and capacitance too")
        return 0.0, 0.0, 0.0, 0.0, 0.0
    if seconds > 0 and resistance > 0 and (capacitance == 0 or newest):
        capacitance = seconds / resistance
    elif seconds > 0 and resistance == 0 and capacitance > 0:
        resistance = seconds / capacitance
    missing = [name for name, x in zip(names, (resistance, capacitance), strict=False) if x == 0]
    if missing:
        raise DcMotorError(f"thermal:{missing[0]}", "it is missing: give two of resistance, capacitance, timeconst")
    return resistance, capacitance, coefficient, reference, ambient


def bristle(lugre: Any) -> tuple[float, float, float, float, float]:
    """sigma0, sigma1, tau_c, tau_s, w_s from lugre; what MuJoCo takes in silence and no bristle has is refused."""
    names = ("stiffness", "damping", "coulomb", "static", "stribeck")
    values = numbers("lugre", lugre, names)
    stiffness, damping, coulomb, static, stribeck = values
    if stiffness == 0:
        if any(values):
            without_effect("lugre", "stiffness is 0; give it")
        return 0.0, 0.0, 0.0, 0.0, 0.0
    for name, x in zip(names[2:], values[2:], strict=True):
        if x == 0:
            raise DcMotorError(f"lugre:{name}", "it is 0 or left out: a bristle needs it above zero")
    if static < coulomb:
        raise DcMotorError(
            "lugre:static", f"it is {static:g}, below coulomb {coulomb:g}: friction is strongest at rest, raise it"
        )
    return stiffness, damping, coulomb, static, stribeck


def control(
    inputs: tuple[str, ...], voltage_space: bool, controller: Any
) -> tuple[float, float, float, float, float, float]:
    """k_p, k_i, k_d, slewmax, Imax, Vmax from controller, for these inputs."""
    names = ("kp", "ki", "kd", "slewmax", "Imax", "Vmax")
    values = numbers("controller", controller, names, ("kp", "kd"))
    kp, ki, kd, slew, integral_bound, voltage = values
    closed_loop = bool(set(inputs) & ({"position", "velocity"} if voltage_space else {"pos", "vel", "ff"}))
    if not voltage_space:
        for name, x in {"kp": kp, "ki": ki, "kd": kd, "slewmax": slew}.items():
            if x and not closed_loop:
                raise DcMotorError(f"controller:{name}", "it needs one of the inputs pos, vel, ff; add it to input")
        if ki and "pos" not in inputs:
            raise DcMotorError("controller:ki", "it needs the input pos, whose error it integrates; add it to input")
        if voltage and not closed_loop:
            without_effect("controller:Vmax", "it bounds what a controller computes; bound a voltage by ctrlrange")
    elif (kp or kd) and not closed_loop:
        without_effect("controller:kp, kd", 'input="voltage" uses no gains')
    elif kd and inputs == ("velocity",):
        without_effect("controller:kd", 'input="velocity" has no derivative gain')
    if integral_bound and not ki:
        without_effect("controller:Imax", "ki is 0")
    return kp, ki, kd, slew, integral_bound, voltage


def inputs_of(text: str, voltage_space: bool) -> tuple[str, ...]:
    """The inputs named by `input`: one word of MuJoCo 3.7 to 3.11, or tokens of later ones; "none" is no input."""
    words = tuple(text.split())
    if voltage_space:
        if len(words) != 1 or words[0] not in WORDS:
            raise DcMotorError("input", f"it is {text!r}: before MuJoCo 3.12 it is one of {', '.join(WORDS)}")
        return words
    if words == ("none",):
        return ()
    if not words or any(word not in TOKENS for word in words):
        hint = "; position and velocity became pos and vel in MuJoCo 3.12" if set(words) & set(WORDS[1:]) else ""
        raise DcMotorError("input", f'it is {text!r}: give some of {", ".join(TOKENS)}, or "none"{hint}')
    if words != tuple(token for token in TOKENS if token in words):
        raise DcMotorError("input", f"it is {text!r}: the order is {', '.join(TOKENS)}, each at most once")
    return words


def command_range(ctrlrange: Any) -> tuple[float, float] | None:
    """The range of every input, or `None`."""
    if ctrlrange is None:
        return None
    names = ("lowest", "highest")
    low, high = numbers("ctrlrange", ctrlrange, names, names)
    if not low < high:
        raise DcMotorError("ctrlrange", f"it is {low:g} to {high:g}: give the lower bound first")
    return low, high
