"""Closed-form starting values, and the points from which a fit walks."""

import numpy as np
import pytest

from sysid._adjust import free_parameter
from sysid._begin import begin
from sysid._choose import choose_model
from sysid._free import Free, places
from sysid._start import electrical_lag, regressed

from .motor_logs import TRUTH, brushed, log


def test_regression_is_near_the_truth():
    found = regressed([log(brushed(seed=1))])
    for name in ("resistance", "motor_constant"):
        assert found[name] == pytest.approx(TRUTH[name], rel=0.02)
    assert found["inertia"] == pytest.approx(TRUTH["inertia"], rel=0.15)
    assert found["coulomb_friction"] == pytest.approx(TRUTH["coulomb_friction"], rel=0.5)


def test_nothing_is_guessed_from_absent_channels():
    whole = log(brushed(seed=1))
    assert regressed([]) == {}
    for kept in (("voltage", "velocity"), ("voltage", "current")):
        part = whole.replace(channels={k: whole.channels[k] for k in kept}, masks={}, held={}, censored={})
        assert regressed([part]) == {}


def test_a_known_torque_constant_is_used():
    whole = log(brushed(seed=1))
    part = whole.replace(channels={k: whole.channels[k] for k in ("current", "velocity")})
    found = regressed([part], TRUTH["motor_constant"])
    assert found["inertia"] == pytest.approx(TRUTH["inertia"], rel=0.15)
    assert "resistance" not in found


def test_current_that_follows_at_once_has_no_lag():
    assert electrical_lag(log(brushed(seed=2))) is None


@pytest.mark.parametrize("lag", [2e-3, 5e-3, 2e-2])
def test_electrical_lag_is_seen(lag):
    found = electrical_lag(log(brushed(seed=2, inductance=lag * TRUTH["resistance"])))
    assert found == pytest.approx(lag, rel=0.25)


@pytest.mark.parametrize("rows", [1, 4, 9])
def test_a_late_voltage_is_no_lag(rows):
    columns = brushed(seed=2)
    late = {**columns, "voltage": np.append(columns["voltage"][rows:], np.full(rows, columns["voltage"][-1]))}
    assert electrical_lag(log(late)) is None


def test_starts_are_the_given_the_regressed_and_random_ones():
    model = choose_model([log(brushed(seed=1))])
    owner = range(len(model.free.names))
    given = [parameter.start for parameter in model.free.parameters]
    informed = {"resistance": 3.0}
    points = begin(model.free, owner, given, informed, 1, 2, starts=6, seed=0)
    again = begin(model.free, owner, given, informed, 1, 2, starts=6, seed=0)
    other = begin(model.free, owner, given, informed, 1, 2, starts=6, seed=1)
    np.testing.assert_array_equal(points.coordinates, again.coordinates)
    assert np.max(np.abs(np.asarray(points.coordinates - other.coordinates)[2:])) > 0.1
    k = model.free.names.index("resistance")
    assert np.exp(points.coordinates[0, k]) == pytest.approx(1.0)
    assert np.exp(points.coordinates[1, k]) == pytest.approx(3.0)
    assert len(np.unique(np.asarray(points.coordinates), axis=0)) == 6
    assert points.initial.shape == (6, 1, 2)


def test_a_stated_delay_is_the_first_start_and_the_others_scan():
    model = choose_model([log(brushed(seed=1))])
    delay = free_parameter(places(model.subject)["delay"], model.subject, start=0.07, upper=0.5)
    points = begin(Free((delay,)), [0], [0.07], {}, 1, 2, starts=6, seed=0)
    found = [float(delay.bijector().value(c)) for c in points.coordinates[:, 0]]
    assert found[0] == pytest.approx(0.07)
    assert np.all(np.diff(found[1:]) > 0)
    assert found[1] < 0.01
    assert found[-1] > 0.25
    alone = begin(Free((delay,)), [0], [0.07], {}, 1, 2, starts=1, seed=0)
    assert float(delay.bijector().value(alone.coordinates[0, 0])) == pytest.approx(0.07)
