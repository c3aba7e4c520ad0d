"""The sixteen reference logs, read and fitted with default settings, come out within the widths stated beside them."""

import json
import pathlib

import jax.numpy as jnp
import numpy as np
import pytest

import sysid

NAMES = {
    "R": "resistance",
    "R0": "resistance",
    "K": "motor_constant",
    "J": "inertia",
    "B": "viscous_damping",
    "tau_c": "coulomb_friction",
    "L": "inductance",
    "R_th": "thermal_resistance",
    "C_th": "thermal_capacitance",
    "alpha": "temperature_coefficient",
}
WITHIN_99 = 2.575829
ORDINARY = ("s01", "s02", "s03", "s04", "s05", "s06", "s07", "s08", "s09", "s10", "s12", "s13", "s14", "s15", "s16")


def _found(shared: pathlib.Path, number: str) -> tuple[dict, sysid.Fit]:
    folder = shared / "logs" / "synthetic"
    known = json.loads(next(folder.glob(f"{number}_*.json")).read_text())
    return known, sysid.fit(sysid.read_log(folder / known["file"]))


@pytest.mark.parametrize("number", ORDINARY)
def test_within_the_stated_widths(shared, number):
    known, result = _found(shared, number)
    found = {estimate.name: estimate for estimate in result.estimates}
    for symbol, percent in known["accept_pct"].items():
        estimate, truth = found[NAMES[symbol]], known["truth"][symbol]
        assert abs(estimate.value / truth - 1) < percent / 100, f"{symbol}: {estimate.value} for {truth}"
        assert estimate.flag == "identified", symbol
    assert result.status == "ok", [caution.message for caution in result.cautions]
    # A quarter of the electrical time constant is too long a step for what this log can tell.
    assert number != "s13" or result.settings["substeps"] > 1
    if number in ("s01", "s06", "s09", "s10", "s13"):
        moving = {parameter.name: parameter for parameter in result.model.free.parameters}
        for symbol, truth in known["truth"].items():
            estimate, bijector = found[NAMES[symbol]], moving[NAMES[symbol]].bijector()
            gap, width = (bijector.coordinate(jnp.asarray(v)) for v in (truth, estimate.ci95[1]))
            middle = bijector.coordinate(jnp.asarray(estimate.value))
            assert abs(gap - middle) < WITHIN_99 / 1.959964 * (width - middle), symbol
    for comparison in result.comparisons:
        gap = (comparison.predicted - comparison.measured)[comparison.usable] / comparison.sigma
        assert np.mean(gap**2) < 2, comparison.channel


def _only_two_balances_are_fixed(shared: pathlib.Path, known: dict, result: sysid.Fit) -> None:
    """The two combinations are those of R i + K w = V and K i - B w - tau_c = 0, in relative changes."""
    log = sysid.read_log(shared / "logs" / "synthetic" / known["file"])
    current, speed = (float(np.mean(log.channels[c][-200:])) for c in ("current", "velocity"))
    at = {estimate.name: estimate.value for estimate in result.estimates}
    for parameter in result.model.free.parameters:
        if next(e for e in result.estimates if e.name == parameter.name).at_bound:
            at[parameter.name] = parameter.typical
    terms = [
        {"resistance": at["resistance"] * current, "motor_constant": at["motor_constant"] * speed},
        {
            "motor_constant": at["motor_constant"] * current,
            "viscous_damping": -at["viscous_damping"] * speed,
            "coulomb_friction": -at["coulomb_friction"],
        },
    ]
    exact = np.array([[term.get(name, 0.0) for name in result.direction_names] for term in terms])
    fixed = np.array([direction.weights for direction in result.directions[:2]])
    # The cosines of the angles between the two planes.
    bases = [np.linalg.qr(rows.T)[0] for rows in (exact, fixed)]
    assert np.linalg.svd(bases[0].T @ bases[1], compute_uv=False).min() > 0.98


def test_steady_speed_fixes_two_of_five_numbers(shared):
    known, result = _found(shared, "s11")
    assert result.status == "warning"
    entry = result.to_dict()
    assert entry["rank"] == {"determined": known["identifiable"]["count"], "free": known["identifiable"]["of"]}
    assert not any(estimate.flag == "identified" for estimate in result.estimates)
    assert "2 of 5" in next(c.message for c in result.cautions if c.code == "undetermined")
    _only_two_balances_are_fixed(shared, known, result)
    for name in ("resistance", "inertia", "viscous_damping"):
        assert not entry["parameters"][name]["identifiable"]
