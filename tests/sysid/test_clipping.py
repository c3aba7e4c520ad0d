"""Clipped sensors are found; steady states and quantised channels are not mistaken for them."""

import pathlib

import numpy as np
import pytest

from sysid._clipping import beyond, clipped_rows
from sysid._read import read_log
from sysid._resolution import is_coarse, resolution


def current(rows: int = 900, noise: float = 0.02, seed: int = 0) -> np.ndarray:
    """Decaying inrush of both signs, as a motor draws it."""
    rng = np.random.default_rng(seed)
    phase = np.arange(rows) % 90
    sign = np.where(np.arange(rows) // 90 % 2 == 0, 1.0, -1.0)
    return np.round(sign * (8.0 * np.exp(-phase / 15.0) + 0.4) + rng.normal(0.0, noise, rows), 4)


@pytest.mark.parametrize(("low", "high"), [(-2.5, 2.5), (-100.0, 3.0), (-1.7, 100.0)])
def test_flat_tops_are_found(low: float, high: float) -> None:
    truth = current()
    marks = clipped_rows(np.clip(truth, low, high))
    np.testing.assert_array_equal(marks, np.where(truth >= high, 1, np.where(truth <= low, -1, 0)))


@pytest.mark.parametrize(
    "values",
    [
        current(),
        current(noise=0.0),
        np.round(100.0 * (1.0 - np.exp(-np.arange(600) / 30.0)), 4),
        np.round(np.sin(np.arange(800) / 40.0), 3),
        np.full(300, 2.5),
        np.repeat([0.0, 5.0, -5.0, 5.0], 100),
        np.round(current() / 0.5) * 0.5,
        np.arange(5.0),
    ],
)
def test_what_is_not_clipped(values: np.ndarray) -> None:
    assert not clipped_rows(values).any()


def test_stated_limit() -> None:
    values = np.array([-3.0, -2.99, 0.0, 2.98, 2.9951, 3.0, 3.2])
    np.testing.assert_array_equal(beyond(values, 3.0, 0.01), [-1, 0, 0, 0, 1, 1, 1])


def test_resolution() -> None:
    assert resolution(np.array([0.1, 0.3, 0.2, 0.1])) == pytest.approx(0.1)
    assert resolution(np.full(5, 2.0)) == 0.0
    assert is_coarse(np.round(np.cumsum(np.full(200, 0.3))))
    assert not is_coarse(current())


def write(folder: pathlib.Path, values: np.ndarray) -> pathlib.Path:
    path = folder / "inrush.csv"
    sign = np.where(np.arange(len(values)) // 90 % 2 == 0, 1.0, -1.0)
    rows = (f"{k * 0.001:.4f},{9.0 * sign[k]},{value}\n" for k, value in enumerate(values))
    path.write_text("t,u,i\n" + "".join(rows))
    return path


def test_masks_and_options(tmp_path: pathlib.Path) -> None:
    truth = current()
    path = write(tmp_path, np.clip(truth, -2.0, 2.0))
    log = read_log(path)
    marks = log.censored["current"]
    np.testing.assert_array_equal(marks, np.where(truth >= 2.0, 1, np.where(truth <= -2.0, -1, 0)))
    np.testing.assert_array_equal(log.masks["current"], marks == 0)
    told = next(item for item in log.findings if item.code == "clipped")
    assert f"{np.mean(marks != 0):.1%}" in told.message
    assert told.count == np.count_nonzero(marks)
    kept = read_log(path, keep=("clipped",))
    assert kept.masks["current"].all()
    assert not kept.censored["current"].any()
    limited = read_log(write(tmp_path, truth), limits={"current": 5.0})
    np.testing.assert_array_equal(limited.censored["current"] != 0, np.abs(truth) >= 5.0 - 5e-5)


def test_shared_clipped_current(shared: pathlib.Path) -> None:
    log = read_log(shared / "logs" / "synthetic" / "s12_saturated_current.csv")
    clipped = log.censored["current"] != 0
    assert clipped.mean() == pytest.approx(0.345)
    np.testing.assert_array_equal(np.abs(log.channels["current"][clipped]), 2.5)
    assert not log.censored["velocity"].any()
    regressors = np.stack([log.channels["current"], log.channels["velocity"]], axis=1)
    resistance, constant = np.linalg.lstsq(regressors[~clipped], log.channels["voltage"][~clipped])[0]
    assert resistance == pytest.approx(1.25, rel=0.01)
    assert constant == pytest.approx(0.044, rel=0.01)
