"""What a log fixes and what it leaves open: directions in the space of relative parameter changes."""

import dataclasses

import numpy as np

OPEN = 0.5
"""A combination is open when its relative standard deviation exceeds this [1]."""


@dataclasses.dataclass(frozen=True)
class Direction:
    """One combination of parameters: `weights` over the names (unit length, relative changes), its relative standard
    deviation `spread` [1], and its scaled `singular_value`."""

    weights: np.ndarray
    spread: float
    singular_value: float


def directions(information: np.ndarray, covariance: np.ndarray, sizes: np.ndarray) -> list[Direction]:
    """Combinations from best to worst determined.

    **Arguments:** `information`, `covariance` (n, n) of the coordinates; `sizes` (n,): relative change of a parameter
    per unit of its coordinate.
    """
    if len(sizes) == 0:
        return []
    scaled = information / np.outer(sizes, sizes)
    relative = covariance * np.outer(sizes, sizes)
    values, vectors = np.linalg.eigh(scaled)
    order = np.argsort(values)[::-1]
    return [
        Direction(
            vectors[:, k],
            float(np.sqrt(max(vectors[:, k] @ relative @ vectors[:, k], 0.0))),
            float(np.sqrt(max(values[k], 0.0))),
        )
        for k in order
    ]


def in_words(direction: Direction, names: list[str]) -> str:
    """The combination as a product of powers, such as `motor_constant^-2 resistance`."""
    strong = np.abs(direction.weights) > 0.2 * np.max(np.abs(direction.weights))
    lead = direction.weights[np.argmax(np.abs(direction.weights))]
    parts = []
    for name, weight in zip(np.array(names)[strong], direction.weights[strong], strict=True):
        power = round(float(weight / lead), 1)
        parts.append(str(name) if power == 1 else f"{name}^{power:g}")
    return " ".join(parts)
