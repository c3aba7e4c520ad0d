"""Weighted least squares of many logs side by side, each with unknowns of its own, by NumPy, which compiles nothing.

Unknowns of a log are its coordinates, which all its segments share, and the initial states of single segments, which
are eliminated segment by segment (Schur complement), as in `NormalEquations`.
"""

import dataclasses

import numpy as np

from ._problem import INITIAL_REACH

LARGEST_MOVE = 2.0
"""Bound on the step of each coordinate (logarithms or logits, so a factor of seven)."""


@dataclasses.dataclass(frozen=True, eq=False)
class SideBySide:
    """Around one point: of every segment the `curvature` (segment, local + m, local + m) and `gradient` (segment,
    local + m) of its misfit, its `initial` states (segment, m), and the number `log` of its log, in their order; of
    every log the residuals of the priors, `believed`, and their `slopes` (log, local); `moves` (log, local) is 0 where
    a coordinate is held [1]."""

    curvature: np.ndarray
    gradient: np.ndarray
    initial: np.ndarray
    log: np.ndarray
    believed: np.ndarray
    slopes: np.ndarray
    moves: np.ndarray

    def step(self, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Moves of coordinates (log, local) and of initial states (segment, m), with so much `damping` (log,)."""
        size = self.moves.shape[1]
        moves = np.concatenate([self.moves[self.log], np.ones_like(self.initial)], axis=1)
        curvature = self.curvature * moves[:, :, None] * moves[:, None, :]
        gradient = self.gradient * moves
        own = curvature[:, size:, size:] + np.eye(self.initial.shape[1]) / INITIAL_REACH**2
        own_gradient = gradient[:, size:] + self.initial / INITIAL_REACH**2
        slopes, mixed = self.slopes * self.moves, curvature[:, :size, size:]
        right = np.concatenate([np.swapaxes(mixed, 1, 2), own_gradient[..., None]], axis=2)
        solved = _solved(_damped(own, damping[self.log]), right)
        shared = by_log(self.log, curvature[:, :size, :size]) + _diagonal(slopes**2)
        reduced = _damped(shared, damping) - by_log(self.log, mixed @ solved[..., :-1])
        slope = by_log(self.log, gradient[:, :size] - (mixed @ solved[..., -1:])[..., 0]) + slopes * self.believed
        local = np.clip(-_solved(reduced, slope[..., None])[..., 0], -LARGEST_MOVE, LARGEST_MOVE)
        return local, -solved[..., -1] - (solved[..., :-1] @ local[self.log][..., None])[..., 0]

    def promise(self, local: np.ndarray, initial: np.ndarray) -> np.ndarray:
        """By how much a step lowers the cost of every log (log,) as far as that is quadratic."""
        move = np.concatenate([local[self.log], initial], axis=1)
        slope = np.sum(self.gradient * move, axis=1) + np.sum(self.initial * initial, axis=1) / INITIAL_REACH**2
        bend = np.einsum("sa,sab,sb->s", move, self.curvature, move) + np.sum(initial**2, axis=1) / INITIAL_REACH**2
        prior = self.slopes * local
        return -by_log(self.log, slope + bend / 2) - np.sum(prior * (self.believed + prior / 2), axis=1)


def by_log(log: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums over the segments of every log; segments are in the order of their logs and every log has one."""
    return np.add.reduceat(values, np.flatnonzero(np.diff(log, prepend=-1)), axis=0)


def _diagonal(values: np.ndarray) -> np.ndarray:
    return values[..., None] * np.eye(values.shape[-1])


def _damped(matrix: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """The matrices with a share of their diagonal added to it; an unknown without effect stays where it is."""
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    return matrix + _diagonal(damping[:, None] * diagonal + np.finfo(float).tiny ** 0.5)


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """In units of the diagonal, where a plain solve takes any scale of unknowns; zero where nothing is finite."""
    size = 1 / np.sqrt(np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), np.finfo(float).tiny))[..., None]
    scaled = matrix * size * np.swapaxes(size, -1, -2) + np.eye(matrix.shape[-1]) * 1e-13
    sound = np.all(np.isfinite(scaled), axis=(-2, -1)) & np.all(np.isfinite(size * right), axis=(-2, -1))
    scaled = np.where(sound[..., None, None], scaled, np.eye(matrix.shape[-1]))
    return size * np.linalg.solve(scaled, np.where(sound[..., None, None], size * right, 0.0))
