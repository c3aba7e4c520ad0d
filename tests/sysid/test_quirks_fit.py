"""The quirks of bench logs on a motor with other numbers, read from files and fitted with nothing said."""

import pathlib
from collections.abc import Callable

import numpy as np
import pytest

import sysid

from .motor_logs import brushed, levels

pytestmark = pytest.mark.slow

TRUTH = {
    "resistance": 2.1,
    "motor_constant": 0.061,
    "inertia": 9e-5,
    "coulomb_friction": 0.009,
    "viscous_damping": 4e-5,
}
WIDTHS = {
    "resistance": 0.01,
    "motor_constant": 0.01,
    "inertia": 0.02,
    "coulomb_friction": 0.05,
    "viscous_damping": 0.10,
}
STEP = 2e-3
Table = dict[str, np.ndarray]


def measured(rows: int = 1000, step: float = STEP, seed: int = 21) -> Table:
    """Columns of the motor without a quirk."""
    return brushed(seed=seed, rows=rows, step=step, voltage=levels(rows, seed, largest=18.0, hold=40), **TRUTH)


def text(columns: Table, comma: bool = False) -> str:
    """A table with its header; cells that are not a number are empty."""
    mark = ";" if comma else ","
    lines = [mark.join(columns)]
    for row in zip(*columns.values(), strict=True):
        cells = ["" if np.isnan(cell) else f"{cell:.7g}" for cell in row]
        lines.append(mark.join(cell.replace(".", ",") if comma else cell for cell in cells))
    return "\n".join(lines) + "\n"


def plain(columns: Table) -> Table:
    return {"t": columns["time"], "v": columns["voltage"], "i": columns["current"], "w": columns["velocity"]}


def _milliseconds() -> str:
    columns = plain(measured())
    return text({"time_ms": np.round(1e3 * columns.pop("t")) + 91_337, **columns})


def _uneven() -> str:
    """Rows that come early and late by two fifths of a step, and the motor's state at those times."""
    generator = np.random.default_rng(1)
    rows = np.unique(np.clip(np.arange(0, 8000, 8) + generator.integers(-3, 4, 1000), 0, 7999))
    # A voltage that changes between two rows would be unknown: it changes at rows.
    held = np.searchsorted(rows, np.arange(8000), side="right") - 1
    volts = levels(len(rows), 22, largest=18.0, hold=40)[np.clip(held, 0, None)]
    volts[: rows[0]] = volts[rows[0]]
    exact = brushed(seed=22, rows=8000, step=STEP / 8, voltage=volts, **TRUTH)
    return text(plain({name: values[rows] for name, values in exact.items()}))


def _repeated() -> str:
    columns = plain(measured())
    rows = np.sort(np.concatenate([np.arange(1000), np.arange(20, 980, 15), np.arange(20, 980, 150)]))
    return text({name: values[rows] for name, values in columns.items()})


def _wrapped() -> str:
    columns = measured()
    angle = (columns["position"] + 1.0) % (2 * np.pi) - np.pi
    angle += 5e-4 * np.random.default_rng(2).standard_normal(1000)
    return text({"t": columns["time"], "v": columns["voltage"], "i": columns["current"], "angle [rad]": angle})


def _missing() -> str:
    columns = plain(measured())
    generator = np.random.default_rng(3)
    for name, share in (("i", 0.08), ("w", 0.08)):
        columns[name] = np.where(generator.random(1000) < share, np.nan, columns[name])
    return text(columns)


def _rpm() -> str:
    columns = plain(measured())
    return text({**{k: v for k, v in columns.items() if k != "w"}, "speed_rpm": columns["w"] * 30 / np.pi})


def _header_units() -> str:
    columns = plain(measured())
    return text(
        {
            "time [us]": 1e6 * columns["t"],
            "voltage [mV]": 1e3 * columns["v"],
            "current [mA]": 1e3 * columns["i"],
            "speed [deg/s]": np.rad2deg(columns["w"]),
        }
    )


def _drift() -> str:
    """Two halves whose steps differ by a fifth."""
    volts = levels(1200, 23, largest=18.0, hold=40)
    fine = brushed(seed=23, rows=6600, step=STEP / 5, voltage=np.repeat(volts, [5] * 600 + [6] * 600), **TRUTH)
    rows = np.concatenate([[0], np.cumsum([5] * 600 + [6] * 599)])
    return text(plain({name: values[rows] for name, values in fine.items()}))


def _dropped() -> str:
    columns = plain(measured(rows=1200))
    gone = (np.arange(1200) % 240 > 190) & (np.arange(1200) % 240 < 225)
    return text({name: values[~gone] for name, values in columns.items()})


def _commas() -> str:
    return "\ufeff" + text(plain(measured()), comma=True).replace("\n", "\r\n")


def _clipped() -> str:
    columns = plain(measured())
    assert np.mean(np.abs(columns["i"]) > 3.0) > 0.1
    return text({**columns, "i": np.clip(columns["i"], -3.0, 3.0)})


def _flipped() -> str:
    columns = plain(measured())
    return text({**columns, "i": -columns["i"]})


def _held() -> str:
    columns = plain(measured(rows=1600))
    return text({**columns, "w": columns["w"][np.arange(1600) // 4 * 4]})


QUIRKS: dict[str, tuple[Callable[[], str], str]] = {
    "milliseconds": (_milliseconds, ""),
    "uneven": (_uneven, ""),
    "repeated": (_repeated, "duplicate_rows"),
    "wrapped": (_wrapped, "wrapped_angle"),
    "missing": (_missing, "missing"),
    "rpm": (_rpm, ""),
    "header units": (_header_units, ""),
    "drift": (_drift, ""),
    "dropped": (_dropped, "gap"),
    "commas": (_commas, ""),
    "clipped": (_clipped, "clipped"),
    "flipped": (_flipped, "current_sign"),
    "held": (_held, "held_samples"),
}


@pytest.mark.parametrize("quirk", QUIRKS)
def test_the_motor_is_found_through_its_logger(tmp_path: pathlib.Path, quirk: str) -> None:
    made, code = QUIRKS[quirk]
    path = tmp_path / "bench.csv"
    path.write_bytes(made().encode())
    log = sysid.read_log(path)
    codes = {finding.code for finding in sysid.check(log)}
    assert code in codes | {""}, codes
    result = sysid.fit(log)
    found = {estimate.name: estimate for estimate in result.estimates}
    assert set(found) == set(TRUTH)
    for name, width in WIDTHS.items():
        width = {"clipped": 1.2, "held": 1.5}.get(quirk, 1.0) * width
        assert found[name].value == pytest.approx(TRUTH[name], rel=width), name
        assert found[name].flag == "identified", name
    assert result.status == "ok", [caution.message for caution in result.cautions]
