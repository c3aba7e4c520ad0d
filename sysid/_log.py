"""A bench log: time, channels in SI units, and what is known of every measurement."""

import dataclasses
import os
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sysid._errors import LogError
from sysid._finding import Finding
from sysid._units import CHANNEL_UNITS

#: Channels that drive the motor: held from one row to the next. All others are measurements at an instant.
INPUT_CHANNELS = ("voltage", "duty", "command", "torque_enabled")

_FEWEST_ROWS = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Log:
    """One run on the bench.

    Every array has the shape `(rows,)`. All numbers are finite: where nothing was measured the mask is False and the
    channel holds a placeholder (the last value before). NaN passed in is taken as missing.

    **Attributes:**

    - `name`: for reports.
    - `time`: [s], increasing, from 0.
    - `channels`: voltage, bus_voltage [V]; duty, torque_enabled [-]; command [`units["command"]`]; position [rad];
      velocity [rad/s]; current, supply_current [A]; torque [N·m]; temperature, housing_temperature [°C].
    - `masks`: per channel, whether the row is a usable measurement.
    - `held`: per channel, whether the row repeats an older sample; the mask is then False.
    - `censored`: per channel, +1 where the sensor sat at its upper end (the truth is at least the value), -1 at its
      lower end, 0 elsewhere; the mask is False at both ends.
    - `units`: the SI unit of each channel.
    - `columns`: per channel, the source column with its unit.
    - `conditions`: numbers that hold for the whole log, such as the mass [kg] and length [m] of the load.
    - `breaks`: rows before which it is unknown what drove the motor since the row before. Windows end there.
    - `source`: the file the log was read from.
    - `findings`: what the reader noticed and did.
    """

    name: str
    time: NDArray[np.float64]
    channels: dict[str, NDArray[np.float64]]
    masks: dict[str, NDArray[np.bool_]] = dataclasses.field(default_factory=dict)
    held: dict[str, NDArray[np.bool_]] = dataclasses.field(default_factory=dict)
    censored: dict[str, NDArray[np.int8]] = dataclasses.field(default_factory=dict)
    units: dict[str, str] = dataclasses.field(default_factory=dict)
    columns: dict[str, str] = dataclasses.field(default_factory=dict)
    conditions: dict[str, float] = dataclasses.field(default_factory=dict)
    breaks: NDArray[np.intp] = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    source: str = ""
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        rows = len(self.time)
        if rows < _FEWEST_ROWS:
            raise LogError(f"{self.name}: a log needs at least {_FEWEST_ROWS} rows, not {rows}")
        if not np.all(np.isfinite(self.time)) or not np.all(self.time[1:] > self.time[:-1]):
            raise LogError(f"{self.name}: the time must be finite and increase from row to row")
        channels, masks = {}, {}
        for channel, values in self.channels.items():
            if channel not in CHANNEL_UNITS:
                raise LogError(
                    f"{self.name}: unknown channel '{channel}'; the channels are: {', '.join(CHANNEL_UNITS)}"
                )
            if values.shape != (rows,):
                raise LogError(f"{self.name}: {channel} has the shape {values.shape}, the time ({rows},)")
            mask = self.masks.get(channel)
            channels[channel], masks[channel] = placed(values, mask)
        self._set("channels", channels)
        self._set("masks", masks)
        self._set("held", {name: self.held.get(name, np.zeros(rows, dtype=np.bool_)) for name in channels})
        self._set("censored", {name: self.censored.get(name, np.zeros(rows, dtype=np.int8)) for name in channels})
        self._set("units", {name: self.units.get(name, CHANNEL_UNITS[name]) for name in channels})
        self._set("columns", {name: self.columns.get(name, name) for name in channels})

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"Log({self.name!r}, {len(self)} rows, {self.duration:.6g} s, {', '.join(self.channels)})"

    @property
    def duration(self) -> float:
        """From the first row to the last [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def dt(self) -> float:
        """The median step [s]."""
        return float(np.median(np.diff(self.time)))

    @property
    def steps(self) -> NDArray[np.float64]:
        """From each row to the next [s], shape `(rows,)`; the last row is given the step before it."""
        steps = np.diff(self.time)
        return np.append(steps, steps[-1])

    @property
    def resets(self) -> NDArray[np.bool_]:
        """Whether a row is the first after a break, shape `(rows,)`; True for the first row."""
        resets = np.zeros(len(self), dtype=np.bool_)
        resets[0] = True
        resets[self.breaks] = True
        return resets

    def select(self, rows: NDArray[np.bool_] | NDArray[np.integer] | slice) -> "Log":
        """The log of some of its rows, in the order of time; where rows are left out it has a break.

        **Arguments:**

        - `rows`: a slice, row numbers or a mask over the rows.

        **Raises:** `LogError` when fewer than two rows remain.
        """
        kept = np.unique(np.arange(len(self))[rows])
        if len(kept) < _FEWEST_ROWS:
            raise LogError(f"{self.name}: {len(kept)} rows selected, a log needs at least {_FEWEST_ROWS}")
        # A new row starts a piece when any old break lies after the new row before it.
        passed = np.searchsorted(self.breaks, kept, side="right")
        breaks = np.flatnonzero((np.diff(kept) > 1) | (np.diff(passed) > 0)) + 1

        def cut(arrays: dict[str, Any]) -> dict[str, Any]:
            return {name: array[kept] for name, array in arrays.items()}

        return dataclasses.replace(
            self,
            time=self.time[kept] - self.time[kept[0]],
            channels=cut(self.channels),
            masks=cut(self.masks),
            held=cut(self.held),
            censored=cut(self.censored),
            breaks=breaks.astype(np.intp),
        )

    def resample(self, dt: float) -> "Log":
        """The log on an even grid; see `sysid._resample`.

        **Arguments:**

        - `dt`: step of the grid [s].
        """
        from sysid._resample import resampled

        return resampled(self, dt)

    def replace(self, **changes: object) -> "Log":
        """A copy with some attributes changed."""
        return dataclasses.replace(self, **changes)  # pyright: ignore[reportArgumentType]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the log as CSV in SI units, which `read_log` reads back.

        Unusable measurements are left empty; the conditions stand in comment lines before the header.

        **Raises:** `LogError` when the file cannot be written.
        """
        import polars as pl

        table = {"time [s]": pl.Series(self.time)}
        for channel, values in self.channels.items():
            unit = self.units[channel].replace("°C", "degC").replace("·", "*")
            header = f"{channel} [{unit or '1'}]"
            table[header] = pl.select(pl.when(pl.Series(self.masks[channel])).then(pl.Series(values))).to_series()
        target = pathlib.Path(path)
        try:
            with target.open("wb") as file:
                for name, value in self.conditions.items():
                    file.write(f"# {name} = {value!r}\n".encode())
                pl.DataFrame(table).write_csv(file)
        except OSError as error:
            raise LogError(f"{target}: cannot be written: {error.strerror}") from None


def placed(
    values: NDArray[np.float64], mask: NDArray[np.bool_] | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values with a finite placeholder where there is none, and the mask without these rows.

    The placeholder is the last finite value before, the first one after for leading rows, 0 without any.
    """
    finite = np.isfinite(values)
    mask = finite if mask is None else mask & finite
    if finite.all():
        return values, mask
    if not finite.any():
        return np.zeros_like(values), mask
    last = np.maximum.accumulate(np.where(finite, np.arange(len(values)), -1))
    return values[np.where(last >= 0, last, int(np.argmax(finite)))], mask
