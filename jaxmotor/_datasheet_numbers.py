"""The numbers of a datasheet against each other: what follows, what disagrees, what cannot be."""

import dataclasses
import math
import warnings

RPM = 2 * math.pi / 60
"""rad/s per rpm."""

AGREE = 0.05
"""Relative difference that rounding and tolerances of datasheets explain."""


class DatasheetWarning(UserWarning):
    """Numbers of one datasheet disagree; the message says by what ratio."""


@dataclasses.dataclass
class Reading:
    """One quantity as several rows of a datasheet give it: (where it is from, SI value), the most direct first."""

    name: str
    unit: str
    values: list[tuple[str, float]] = dataclasses.field(default_factory=list)

    def add(self, source: str, *factors: float | None) -> "Reading":
        """One more way to get the quantity: the product of `factors`; left out where one of them is not known."""
        if all(factor is not None for factor in factors):
            self.values.append((source, math.prod(factor for factor in factors if factor is not None)))
        return self

    def settled(self, required: bool = True) -> float | None:
        """The most direct value; a warning for every other that differs from it by more than `AGREE`.

        **Raises:** `ValueError` where nothing gives it, or where two differ by more than a factor of two.
        """
        if not self.values:
            if required:
                raise ValueError(f"the datasheet does not determine the {self.name}")
            return None
        source, value = self.values[0]
        for other, number in self.values[1:]:
            compare(f"{self.name} from {other}", number, f"from {source}", value, self.unit)
        return value


def compare(name: str, value: float, reference_name: str, reference: float, unit: str) -> None:
    """Warn where the two differ by more than `AGREE`, refuse more than a factor of two: that is a wrong unit or row."""
    ratio = value / reference
    if not 0.5 <= ratio <= 2:
        raise ValueError(
            f"{name} is {value:.6g} {unit} but {reference_name} {reference:.6g} {unit}: a ratio of {ratio:.3f} "
            "contradicts itself; check the units"
        )
    if abs(ratio - 1) > AGREE:
        warnings.warn(
            f"{name} is {value:.6g} {unit} but {reference_name} {reference:.6g} {unit}: ratio {ratio:.3f}",
            DatasheetWarning,
            stacklevel=4,
        )


def same(name: str, value: float | None, other_name: str, other: float | None) -> None:
    """Refuse one quantity that is stated twice, in two ways that must agree by definition."""
    if value is not None and other is not None and abs(value / other - 1) > AGREE:
        raise ValueError(f"{name} and {other_name} state one quantity and differ by a ratio of {value / other:.3f}")


def scaled(value: float | None, factor: float) -> float | None:
    """`value` in another unit, `None` where the datasheet does not give it."""
    return None if value is None else float(value) * factor


def quotient(numerator: float | None, denominator: float | None) -> float | None:
    """The quotient, `None` where either is not given."""
    return None if numerator is None or denominator is None else numerator / denominator


def no_load_friction(
    no_load_torque: float | None, share: float | None, coulomb: float | None, viscous: float | None, speed: float | None
) -> tuple[float, float]:
    """Coulomb [N m] and viscous [N m s/rad] friction that Kt i0 = tau_c + B w0 leaves (MuJoCo DC motor note,
    "Mechanical losses"): one equation for two unknowns, so the split or one of the two must be given."""
    if no_load_torque is None:
        return coulomb or 0.0, viscous or 0.0
    given = [x for x in (share, coulomb, viscous) if x is not None]
    if speed is None:
        raise ValueError("no_load_current_mA needs no_load_speed_rpm, the speed at which it was measured")
    if not given:
        raise ValueError(
            "no_load_current_mA fixes Coulomb and viscous friction only together: give coulomb_share (0 to 1), "
            "coulomb_friction_mNm or viscous_friction_mNm_per_krpm"
        )
    if share is not None:
        if len(given) > 1 or not 0 <= share <= 1:
            raise ValueError("coulomb_share must lie in 0 to 1 and stand alone beside no_load_current_mA")
        return share * no_load_torque, (1 - share) * no_load_torque / speed
    if coulomb is not None and viscous is not None:
        total = coulomb + viscous * speed
        compare("friction at no-load speed", total, "from no_load_current_mA it is", no_load_torque, "N m")
        return coulomb, viscous
    rest = no_load_torque - (coulomb if coulomb is not None else (viscous or 0.0) * speed)
    if rest < 0:
        raise ValueError(
            f"the friction given is {-rest:.6g} N m more than no_load_current_mA leaves ({no_load_torque:.6g} N m)"
        )
    return (coulomb, rest / speed) if coulomb is not None else (rest, viscous or 0.0)
