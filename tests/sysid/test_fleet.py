"""A fleet fitted side by side gets what each motor gets by itself, on one device and on eight."""

import numpy as np
import pytest

import sysid
from sysid._begin import begin, begin_many
from sysid._errors import LogError
from sysid._fleet import fit_fleet
from sysid._fleet_starts import first_starts
from sysid._start import regressed

from . import motor_logs
from .forced_devices import printed_by

MOTORS, ROWS = 24, 200


def made(number):
    """Motor `number` of a fleet: its own resistance, inertia and length of log."""
    generator = np.random.default_rng(number)
    changes = {"resistance": 1.3 * generator.uniform(0.8, 1.2), "inertia": 4e-5 * generator.uniform(0.8, 1.2)}
    columns = motor_logs.brushed(seed=number, rows=ROWS + 30 * (number % 3), **changes)
    return motor_logs.log(columns, name=f"motor {number}"), changes


def test_fleet_equals_single_fits():
    logs = [made(k)[0] for k in range(MOTORS)]
    model = sysid.choose_model(logs[:1])
    fleet = fit_fleet(logs, model=model, starts=2, block=16)
    assert fleet.motors == tuple(log.name for log in logs)
    assert set(fleet.statuses) == {"ok"}
    for number in (5, 22):
        single = sysid.fit(logs[number], model=model, starts=2, substeps=1)
        values = np.array([estimate.value for estimate in single.estimates])
        np.testing.assert_allclose(fleet.values[number], values, rtol=1e-6)
        again = fleet.motor(number)
        assert again.status == single.status
        for ours, theirs in zip(again.estimates, single.estimates, strict=True):
            assert ours.flag == theirs.flag
            assert ours.std_error == pytest.approx(theirs.std_error, rel=1e-4)
    for name in ("resistance", "inertia"):
        truth = np.array([made(k)[1][name] for k in range(MOTORS)])
        np.testing.assert_allclose(fleet.values[:, fleet.names.index(name)], truth, rtol=0.05)


def test_at_a_kink_of_the_cost_a_fleet_ends_no_higher():
    """Where the shaft comes to rest one row sooner or later the cost has a kink, and more than one lowest point."""
    log, _ = made(1)
    model = sysid.choose_model([log])
    fleet = fit_fleet([log], model=model, starts=2)
    single = sysid.fit(log, model=model, starts=2, substeps=1)
    assert fleet.costs[0] <= single.trace[-1][2] * (1 + 1e-9)
    for value, theirs in zip(fleet.values[0], single.estimates, strict=True):
        assert abs(value - theirs.value) < 0.1 * theirs.std_error


def test_a_motor_whose_first_start_leads_astray_gets_the_others(monkeypatch):
    logs = [made(k)[0] for k in range(3)]
    model = sysid.choose_model(logs[:1])
    wanted = fit_fleet(logs, model=model, starts=3)

    def astray(*given):
        lanes = first_starts(*given)
        lanes.local[1] += [9.0, -9.0, 9.0, -9.0, 9.0]
        return lanes

    monkeypatch.setattr(sysid._fleet, "first_starts", astray)
    assert fit_fleet(logs, model=model, starts=1).statuses == ("ok", "warning", "ok")
    fleet = fit_fleet(logs, model=model, starts=3)
    assert set(fleet.statuses) == {"ok"}
    np.testing.assert_allclose(fleet.values, wanted.values, rtol=1e-6)


def test_motors_without_a_finite_cost_have_failed(monkeypatch):
    logs = [made(k)[0] for k in range(3)]
    model = sysid.choose_model(logs[:1])

    def lost(*given, which=(0, 1, 2)):
        lanes = first_starts(*given)
        lanes.local[list(which)] = np.nan
        return lanes

    monkeypatch.setattr(sysid._fleet, "first_starts", lost)
    none = fit_fleet(logs, model=model, starts=1)
    assert set(none.statuses) == {"failed"}
    assert np.isnan(none.values).all()
    assert np.isnan(none.costs).all()
    # One start that is lost takes no motor with it, and other starts serve where there are any.
    monkeypatch.setattr(sysid._fleet, "first_starts", lambda *given: lost(*given, which=(1,)))
    assert fit_fleet(logs, model=model, starts=1).statuses == ("ok", "failed", "ok")
    assert set(fit_fleet(logs, model=model, starts=3).statuses) == {"ok"}


def test_many_motors_start_where_each_would():
    logs = [made(0)[0], made(1)[0], motor_logs.log(motor_logs.brushed(rows=ROWS), ("voltage", "velocity"), name="bare")]
    free = sysid.choose_model(logs[:1]).free
    given, told = [p.start for p in free.parameters], [regressed([log]) for log in logs]
    assert not told[2]
    owner = tuple(range(len(given)))
    many = begin_many(free, owner, given, told, 4, 3)
    for points, found in zip(many, told, strict=True):
        np.testing.assert_array_equal(points, begin(free, owner, given, found, 1, 2, 4, 3).coordinates)


def test_a_model_that_cannot_follow_is_a_warning():
    columns = motor_logs.brushed(rows=ROWS)
    columns["velocity"] = columns["velocity"] + 8.0 * np.sin(np.arange(ROWS) / 7.0)
    logs = [made(2)[0], motor_logs.log(columns, name="shaken")]
    fleet = fit_fleet(logs, model=sysid.choose_model(logs[:1]), starts=3)
    assert fleet.statuses == ("ok", "warning")
    assert fleet.misfits["velocity"][1] > 100.0
    assert fleet.motor(1).status != "ok"


def test_logs_of_other_channels_are_refused():
    columns = motor_logs.brushed(rows=ROWS)
    logs = [motor_logs.log(columns, name="one"), motor_logs.log(columns, ("voltage", "velocity"), name="two")]
    with pytest.raises(LogError, match="two has the channels velocity"):
        fit_fleet(logs, model=sysid.choose_model(logs[:1]))


DEVICES = """
import json, sys
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import sysid
from jax.sharding import Mesh
from sysid._fleet import fit_fleet
sys.path.insert(0, sys.argv[1])
import motor_logs
logs = [motor_logs.log(motor_logs.brushed(seed=k, rows=120), name=str(k)) for k in range(10)]
model = sysid.choose_model(logs[:1])
found = {}
for count in (8, 1):
    mesh = Mesh(np.array(jax.devices()[:count]), ("motor",))
    found[count] = fit_fleet(logs, model=model, starts=1, mesh=mesh).values.tolist()
print(json.dumps([len(jax.devices()), found[8], found[1]]))
"""


@pytest.mark.slow
def test_eight_devices_give_what_one_gives():
    devices, split, together = printed_by(DEVICES)
    assert devices == 8
    np.testing.assert_allclose(split, together, rtol=1e-6)


WIDE_FOR_A_WHILE = """
import json, sys
import jax
import numpy as np
import sysid
sys.path.insert(0, sys.argv[1])
import motor_logs
log = motor_logs.log(motor_logs.brushed(rows=200), name="one")
with jax.enable_x64(True):
    fleet = sysid.fit_fleet([log] * 40, model=sysid.choose_model([log]), starts=2, block=1)
    single = sysid.fit(log, starts=2)
values = [estimate.value for estimate in single.estimates]
print(json.dumps([bool(jax.config.jax_enable_x64), fleet.values.tolist(), values]))
"""


def test_float64_for_a_while_reaches_every_thread():
    """A context manager makes floats wide in its own thread alone; blocks of motors and starts have threads more."""
    outside, many, single = printed_by(WIDE_FOR_A_WHILE)
    assert not outside
    # Every block runs the same program on the same numbers.
    np.testing.assert_array_equal(many, [many[0]] * 40)
    np.testing.assert_allclose(many[0], single, rtol=1e-6)
