"""How often the intervals of many fits hold the truth."""

from collections.abc import Mapping

import sysid


def shares_held(fleet: sysid.FleetFit, truth: Mapping[str, float]) -> dict[str, float]:
    """Share of the motors whose 95 % interval holds the truth, per parameter, of those that call it identified.

    Nearly all must call it so: an interval is no better for being withheld.
    """
    held, called = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
    for number in range(len(fleet.motors)):
        for estimate in fleet.motor(number).estimates:
            if estimate.flag == "identified":
                called[estimate.name] += 1
                held[estimate.name] += estimate.ci95[0] <= truth[estimate.name] <= estimate.ci95[1]
    assert min(called.values()) >= 0.95 * len(fleet.motors), called
    return {name: held[name] / called[name] for name in truth}
