"""Speed, derivatives, memory and compilation, each as a ratio within one run."""

import numpy as np
import pytest
from derivatives import compiling, derivatives, memory
from fleet import ALIKE, measured
from forward import forward
from measure import free_cores
from step_against_scan import alone

SLACK = 1.15
"""A ratio may fall short by this factor, which is the noise of a busy machine."""

_TRIES = 3

AIMS = {"gradient, shared": 4.5, "gradient": 6.0, "tangent": 2.3}
"""At most how many forward runs each derivative may cost, on two cores."""

ON_ONE_CORE = {"gradient, shared": 5.5, "gradient": 8.0, "tangent": 2.7}
"""The same where another process takes a core: derivatives split more loops than forward runs do."""

_TWO_CORES = 1.8


def best(measure, ratios):
    """A row in which every ratio holds, else the last of three: whatever else the machine does only makes ratios worse
    by chance, while a program that is too slow is too slow each time.

    **Arguments:** `measure()` makes a row; `ratios(row)`: per promise, how much better than promised it is [1].
    """
    row = measure()
    for _ in range(_TRIES - 1):
        if min(ratios(row)) >= 1 / SLACK:
            break
        row = measure()
    return row


@pytest.fixture(scope="module")
def full(quick):
    pytest.importorskip("mujoco")
    return best(
        lambda: forward("full", 4096, 100 if quick else 1000, np.float32, 9),
        lambda row: (row["ratios"]["times hand_written"] / 0.95, row["ratios"]["times mujoco"] / 80),
    )


@pytest.fixture(scope="module")
def slopes(quick):
    def measure():
        before = free_cores()
        row = derivatives("full", 4096, 50 if quick else 500, np.float32, 7)
        return row | {"free_cores": min(before, free_cores())}

    return best(measure, lambda row: [aim / row["ratios"][what] for what, aim in AIMS.items()])


def test_as_fast_as_a_hand_written_scan(full):
    assert full["difference"] < 1e-3
    assert full["ratios"]["times hand_written"] > 0.95 / SLACK


def test_faster_than_mujoco(full):
    assert full["ratios"]["times mujoco"] > 80 / SLACK


def test_faster_than_numpy(quick):
    row = best(
        lambda: forward("stateless", 4096, 100 if quick else 1000, np.float32, 9),
        lambda row: [row["ratios"]["times numpy"]],
    )
    assert row["difference"] < 1e-3
    assert row["ratios"]["times numpy"] > 1 / SLACK


@pytest.mark.parametrize(("motor", "aim"), [("plain", 0.95), ("full", 0.7)])
def test_one_motor_against_a_hand_written_scan(motor, aim, quick):
    row = best(lambda: alone(motor, 20_000 if quick else 100_000, 15), lambda row: [row["speed_of_hand_written"] / aim])
    assert row["largest_relative_difference"] < 1e-3
    assert row["speed_of_hand_written"] > aim / SLACK


@pytest.mark.parametrize("what", AIMS)
def test_derivatives(slopes, what):
    aims = AIMS if slopes["free_cores"] > _TWO_CORES else ON_ONE_CORE
    assert slopes["ratios"][what] < aims[what] * SLACK


def test_gradient_in_parts(quick):
    row = best(
        lambda: memory(*((2000, 256, 45) if quick else (20_000, 256, 141)), repeats=1),
        lambda row: (0.2 / row["ratios"]["memory"], 4 / row["ratios"]["time"]),
    )
    assert row["ratios"]["memory"] < SLACK / 5
    assert row["ratios"]["time"] < 4 * SLACK


def test_compile_time():
    row = best(
        compiling,
        lambda row: (
            1.5 / max(row["ratios"].values()),
            3 / row["compile_s"]["rollout, 20000 rows"],
            8 / row["compile_s"]["gradient, 20000 rows"],
        ),
    )
    assert max(row["ratios"].values()) < 1.5 * SLACK
    assert row["compile_s"]["rollout, 20000 rows"] < 3 * SLACK
    assert row["compile_s"]["gradient, 20000 rows"] < 8 * SLACK


def test_a_fleet_is_faster_than_its_motors(quick):
    motors, rows = (64, 500) if quick else (1000, 2000)
    row = best(lambda: measured(motors, rows, 3 if quick else 20), lambda row: [row["ratio_to_single"] / 1.3])
    assert row["ratio_to_single"] > 1.3 / SLACK
    assert row["median_difference"] < ALIKE
