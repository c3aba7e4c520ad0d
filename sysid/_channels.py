"""The channels of a log while they are made: converted to SI units, with what is missing and what was found."""

import numpy as np
from numpy.typing import NDArray

from sysid._angle import register_period, unwrap, wraps
from sysid._columns import Choice
from sysid._finding import Finding, Severity
from sysid._log import INPUT_CHANNELS, placed
from sysid._options import Options
from sysid._time import Stamps
from sysid._units import CHANNEL_UNITS, is_count, target_unit, to_si

_ENCODER = ("position", "velocity")
_IMPLAUSIBLE = {
    "voltage": 1000.0,
    "bus_voltage": 1000.0,
    "current": 1000.0,
    "velocity": 20000.0,
    "torque": 1e5,
    "duty": 1.5,
    "temperature": 250.0,
    "housing_temperature": 250.0,
}


_WHOLE = 20.0
# A number whose square is still finite; beyond it stands no measurement.
_ENDLESS = 1e100


class Channels:
    """Channels of one log, all arrays of the shape `(rows,)`, and the findings about them."""

    def __init__(self, stamps: Stamps, options: Options) -> None:
        self.stamps = stamps
        self.options = options
        self.values: dict[str, NDArray[np.float64]] = {}
        self.masks: dict[str, NDArray[np.bool_]] = {}
        self.held: dict[str, NDArray[np.bool_]] = {}
        self.censored: dict[str, NDArray[np.int8]] = {}
        self.units: dict[str, str] = {}
        self.findings: list[Finding] = []

    def tell(self, code: str, message: str, action: str, option: str, severity: Severity = "warning") -> None:
        """Adds a finding about the whole log; the action closes the message."""
        self.findings.append(Finding.of_log(code, message, action=action, option=option, severity=severity))

    def tell_rows(
        self,
        code: str,
        message: str,
        where: NDArray[np.bool_],
        action: str,
        option: str = "",
        severity: Severity = "warning",
    ) -> None:
        """Adds a finding about some rows of the log, by their numbers in the source."""
        rows = self.stamps.rows[where] + 1
        self.findings.append(Finding.at_rows(code, message, rows, action=action, option=option, severity=severity))

    def keeps(self, code: str) -> bool:
        """Whether the user wants nothing done about this finding."""
        return code in self.options.keep

    def both(self, one: str, other: str) -> NDArray[np.bool_] | None:
        """Where two channels are usable; None when one is absent."""
        if one not in self.values or other not in self.values:
            return None
        return self.masks[one] & self.masks[other]

    def add(self, choice: Choice) -> None:
        """Converts one column to its channel; cells without a number are masked."""
        channel = choice.channel
        raw = choice.column.values[self.stamps.rows]
        size = np.abs(raw)
        mask, endless = size < _ENDLESS, size >= _ENDLESS
        if endless.any():
            message = f"{channel} is infinite in {int(endless.sum())} rows"
            self.tell_rows("not_finite", message, endless, "taken as missing")
            raw = np.where(mask, raw, np.nan)
        if channel == "position":
            raw = self._continuous(choice, raw, mask)
        values = to_si(raw, choice.unit, channel, self.options.counts_per_turn)
        if self.options.gear is not None and channel in _ENCODER:
            values = values / self.options.gear
            self.tell(
                "gear", f"{channel} is the motor's", f"divided by the ratio {self.options.gear:g}", "--gear", "info"
            )
        if channel in self.options.flip:
            values = -values
            self.tell("flipped", f"{channel} is read with the opposite sign", "flipped", f"--flip {channel}", "info")
        self.units[channel] = target_unit(channel, choice.unit) or CHANNEL_UNITS[channel]
        self.values[channel], self.masks[channel] = placed(values, mask)
        self._tell_missing(channel)
        self._tell_implausible(choice)

    def _continuous(self, choice: Choice, raw: NDArray[np.float64], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The position without its wraps, still in the unit of the source."""
        if is_count(choice.unit):
            turn = self.options.counts_per_turn
        else:
            turn = 2.0 * np.pi / float(to_si(np.ones(1), choice.unit, "position")[0])
        if turn is None or self.keeps("wrapped_angle"):
            return raw
        period = register_period(raw[mask], turn)
        if period is None:
            return raw
        rows = np.flatnonzero(mask)
        jumps = np.zeros(len(raw), dtype=np.bool_)
        jumps[rows[1:]] = np.abs(np.diff(raw[mask])) > 0.5 * period
        message = f"position wraps {int(jumps.sum())} times at {period:g} {choice.unit}"
        self.tell_rows("wrapped_angle", message, jumps, "made continuous", "--keep wrapped_angle", "info")
        return unwrap(raw, period, time=self.stamps.time, usable=mask)

    def _tell_missing(self, channel: str) -> None:
        lost = ~self.masks[channel]
        if not lost.any():
            return
        message = f"{channel} is missing in {int(lost.sum())} rows ({lost.mean():.1%})"
        if channel not in INPUT_CHANNELS:
            self.tell_rows("missing", message, lost, "left out of the fit", severity="info")
        elif channel in self.options.hold:
            self.masks[channel] = np.ones_like(lost)
            self.tell_rows("missing_input", message, lost, "the last value is held", f"--hold {channel}")
        else:
            self.tell_rows("missing_input", message, lost, "windows end there", f"--hold {channel}")

    def _tell_implausible(self, choice: Choice) -> None:
        channel = choice.channel
        values = self.values[channel]  # placeholders are measured values too
        largest = float(max(values.max(), -values.min()))
        message = ""
        if largest > _IMPLAUSIBLE.get(channel, np.inf):
            reached = f"{largest:.5g} {CHANNEL_UNITS[channel]}".rstrip()
            message = f"{channel} reaches {reached}; is '{choice.label}' in another unit?"
        elif channel == "position" and not choice.stated and largest > _WHOLE and choice.column.whole:
            message = (
                f"position is whole numbers up to {largest:.5g}, read as rad; is '{choice.column.name}' in counts?"
            )
        elif channel == "position" and not choice.stated and np.ptp(values) > 300.0 and wraps(values, 360.0):
            message = f"position wraps at 360, read as rad; is '{choice.column.name}' in degrees?"
        if message:
            top = next((top for top in (100, 255, 1000, 1023, 4095, 65535) if largest <= top), None)
            unit = f"1/{top}" if channel == "duty" and choice.column.whole and top is not None else "unit"
            option = f"--columns '{channel}={choice.column.name}[{unit}]'"
            self.tell("implausible_unit", message, "none", option)
