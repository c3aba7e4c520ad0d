"""The points from which a fit walks."""

from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np

from ._bijector import Affine, Logit
from ._free import Free, FreeParameter
from ._normal_equations import Point


def _jitter(parameter: FreeParameter, generator: np.random.Generator) -> float:
    """A random move of one coordinate: a factor of about e for positive parameters, well inside for bounded ones."""
    bijector = parameter.bijector()
    width = {Logit: 1.5, Affine: 0.1}.get(type(bijector), 1.0)
    return float(generator.normal() * width * parameter.spread)


def _on_grid(parameter: FreeParameter, share: float) -> float:
    """A coordinate at a share of two decades below the upper bound, or around the start: a stepped command has hardly
    any slope in a pure delay, so starts scan it instead of walking there."""
    high = parameter.upper if np.isfinite(parameter.upper) else 10 * parameter.start
    value = high * 10 ** (-2 * (1 - share))
    return float(np.asarray(parameter.bijector().coordinate(jnp.asarray(parameter.inside(value)))))


def begin(
    free: Free,
    owner: Sequence[int],
    given: Sequence[float],
    regressed: Mapping[str, float],
    pieces: int,
    states: int,
    starts: int,
    seed: int,
) -> Point:
    """`starts` points: the given values, those with what regression found, and random ones around the latter; delays
    of all but the first stand on a grid.

    **Arguments:** `owner`: free parameter of each coordinate; `given`: value of each free parameter; `pieces`,
    `states`: numbers of segments and of initial states of each.
    """
    informed = _informed(free, given, regressed)
    # Where regression found nothing, the second start would be the first.
    random_from = 1 if informed == list(given) else 2
    rows = _rows(free, owner, given, informed, starts, seed, random_from)
    return Point(jnp.asarray(np.stack(rows)), jnp.zeros((starts, pieces, states)))


def begin_many(
    free: Free,
    owner: Sequence[int],
    given: Sequence[float],
    regressed: Sequence[Mapping[str, float]],
    starts: int,
    seed: int,
) -> np.ndarray:
    """Coordinates (motor, start, local) of motors that begin alike, each as by `begin` from what regression found of
    it."""
    informed = np.array([_informed(free, given, found) for found in regressed])
    nothing = np.all(informed == np.asarray(given), axis=1)
    points = np.empty((len(informed), starts, len(owner)))
    for motors, random_from in ((nothing, 1), (~nothing, 2)):
        if motors.any():
            rows = _rows(free, owner, given, list(informed[motors].T), starts, seed, random_from)
            for number, row in enumerate(rows):
                points[motors, number] = row.T
    return points


def _rows(
    free: Free,
    owner: Sequence[int],
    given: Sequence[float],
    informed: Sequence[float | np.ndarray],
    starts: int,
    seed: int,
    random_from: int,
) -> list[np.ndarray]:
    """Coordinates of every start, (local, ...), of one motor or of many whose `informed` values are arrays."""
    generator, rows = np.random.default_rng(seed), []
    for number in range(starts):
        share = (number - 0.5) / (starts - 1) if number > 0 else None
        values = given if number == 0 else informed
        rows.append(_row(free, owner, values, share, generator if number >= random_from else None))
    return rows


def scouts(
    free: Free,
    owner: Sequence[int],
    given: Sequence[float],
    regressed: Mapping[str, float],
    pieces: int,
    states: int,
    starts: int,
    seed: int,
) -> Point:
    """As `begin`, random ones only, and others than there."""
    generator = np.random.default_rng((seed, 1))
    informed = _informed(free, given, regressed)
    rows = [_row(free, owner, informed, (number + 0.5) / starts, generator) for number in range(starts)]
    return Point(jnp.asarray(np.stack(rows)), jnp.zeros((starts, pieces, states)))


def _informed(free: Free, given: Sequence[float], regressed: Mapping[str, float]) -> list[float]:
    return [regressed.get(p.name, v) for p, v in zip(free.parameters, given, strict=True)]


def _row(
    free: Free,
    owner: Sequence[int],
    values: Sequence[float | np.ndarray],
    share: float | None,
    generator: np.random.Generator | None,
) -> np.ndarray:
    """Coordinates of the values, moved at random where a generator is given; delays at `share` of their grid, if so."""
    coordinates = np.array(np.asarray(free.coordinates(values))[list(owner)])
    if generator is not None:
        moves = np.array([_jitter(free.parameters[k], generator) for k in owner])
        coordinates = coordinates + moves.reshape(-1, *[1] * (coordinates.ndim - 1))
    for k, index in enumerate(owner):
        if share is not None and free.parameters[index].name == "delay":
            coordinates[k] = _on_grid(free.parameters[index], share)
    return coordinates
