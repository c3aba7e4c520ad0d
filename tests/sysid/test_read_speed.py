"""Long logs are read in bounded time and memory."""

import pathlib
import resource
import time

import numpy as np
import polars as pl
import pytest

from sysid._read import read_log


@pytest.mark.slow
def test_ten_million_rows(tmp_path: pathlib.Path) -> None:
    rows = 10_000_000
    rng = np.random.default_rng(0)
    stamps = np.arange(rows) * 1e-3
    voltage = np.repeat(rng.choice([-12.0, 0.0, 6.0, 12.0], rows // 1000), 1000)
    current = voltage / 1.2 + rng.normal(0.0, 0.01, rows)
    velocity = rng.normal(0.0, 30.0, rows)
    path = tmp_path / "long.csv"
    pl.DataFrame({"t": stamps, "v": voltage, "i": current, "w": velocity}).write_csv(path, float_precision=4)
    del stamps, voltage, current, velocity
    start = time.process_time()
    log = read_log(path)
    # Processor time, which a busy machine does not stretch as it does the time on the wall.
    assert time.process_time() - start < 20.0
    assert len(log) == rows
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4_000_000  # kB
