"""Motors on their walks, side by side: what `fit` does with one, done with many.

Every motor walks from one start. Where its residuals end as the noise of the sensors no other start can do better;
only the others walk from the rest of their starts too. In every round those that have not come to rest are packed
into full blocks.
"""

import dataclasses

import numpy as np

from ._channel_scales import LEAST_BEND, NOISE_LIKE
from ._fleet_look import Look
from ._rest import LONGEST_UNSEEN
from ._setup import BEND
from ._side_by_side import SideBySide

_DAMPING, _NEAR_DAMPING = 1e-2, 1e-4
"""Of the first step of a leg, and of one that begins near the optimum."""

_EASED, _RAISED, _LEAST_RAISED = 0.1, 10.0, 1e-2
_LAST_DAMPING = 1e8

_WINDOWED = (12, 0.03)
"""Iterations of a leg of windows, and the share of the cost that a step there must promise to be made."""

_ON_THE_WAY = 1e-4
_LONGEST_ON_THE_WAY = 1.0
_PATIENCE, _KINK = 2, 1e-5
"""Promises that may be broken before a lane rests whose next step promises no more than this share of the cost."""

_SETTLED = 1e-9
"""Share of the cost that a step must promise: the next one, which is taken unseen, moves nothing by more than a
thousandth of its error."""


@dataclasses.dataclass(frozen=True, eq=False)
class Lanes:
    """Walkers: the `motor` of each (lane,), its coordinates `local` (lane, local) and `initial` states (lane, piece, m)
    in units of their width; whether it `rested` before its iterations ran out."""

    motor: np.ndarray
    local: np.ndarray
    initial: np.ndarray
    rested: np.ndarray

    def taken(self, lanes: np.ndarray) -> "Lanes":
        """Some of them."""
        return Lanes(self.motor[lanes], self.local[lanes], self.initial[lanes], self.rested[lanes])

    def put(self, lanes: np.ndarray, others: "Lanes") -> "Lanes":
        """These with some replaced."""
        found = self.taken(np.arange(len(self.motor)))
        found.local[lanes], found.initial[lanes], found.rested[lanes] = others.local, others.initial, others.rested
        return found


@dataclasses.dataclass(frozen=True, eq=False)
class Ends:
    """Where walks ended: `lanes`, their `cost` (lane,) where residuals count in `spread` (lane, channel) times the
    sensor's noise, and their mean square in that noise, `misfit` (lane, channel)."""

    lanes: Lanes
    cost: np.ndarray
    spread: np.ndarray
    misfit: np.ndarray


def bends(spread: np.ndarray) -> np.ndarray:
    """From how many sigmas on residuals count linearly, where sigma is so many times the sensor's noise."""
    return np.maximum(LEAST_BEND, BEND / spread)


def walked(look: Look, lanes: Lanes, budget: int) -> tuple[Lanes, np.ndarray]:
    """Over short and longer windows to whole pieces, where those that are as good as the noise are at once; and their
    spread there, (lane, channel) in sensor noise."""
    whole, spread = np.zeros(len(lanes.motor), int), np.full((len(lanes.motor), look.data.noise.shape[1]), np.inf)
    for rows in look.data.windows:
        every = rows[lanes.motor]
        which = np.flatnonzero((every > 0) & (spread.max(axis=1) > NOISE_LIKE))
        lanes = _leg(look, lanes, which, every, *_WINDOWED)
        spread = _spread(look, lanes, which, whole, spread)
    which = np.flatnonzero(np.isinf(spread.max(axis=1)))
    spread = _spread(look, lanes, which, whole, spread)
    which = np.flatnonzero(spread.max(axis=1) > NOISE_LIKE)
    lanes = _leg(look, lanes, which, whole, budget, _ON_THE_WAY, spread)
    return lanes, _spread(look, lanes, which, whole, spread)


def settled(look: Look, lanes: Lanes, spread: np.ndarray, budget: int) -> Ends:
    """The last leg over whole pieces from where residuals have this `spread`, in the units that `fit` ends in."""
    rough = spread.max(axis=1) > NOISE_LIKE
    scale = np.where(rough[:, None] & np.isfinite(spread), spread, 1.0)
    steps = _Steps(look, lanes, np.zeros(len(rough), int), scale, bends(scale), ~rough)
    steps.walk(budget, _SETTLED)
    usable = np.maximum(look.data.usable.sum(axis=(1, 3)), 1)[lanes.motor]
    return Ends(steps.ended(LONGEST_UNSEEN), steps.cost, scale, steps.squares * scale**2 / usable)


def costs(look: Look, lanes: Lanes, spread: np.ndarray) -> np.ndarray:
    """What every lane costs in units of `spread` (lane, channel)."""
    whole, near = np.zeros(len(lanes.motor), int), np.zeros(len(lanes.motor), bool)
    return look.sums(lanes.motor, whole, spread, bends(spread), near, lanes.local, lanes.initial)[0]


def _spread(look: Look, lanes: Lanes, which: np.ndarray, every: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The spread of some lanes; of the others, what was known `before`."""
    spread = before.copy()
    if len(which):
        some = lanes.taken(which)
        spread[which] = look.spread(some.motor, every[which], some.local, some.initial)
    return spread


def _leg(
    look: Look,
    lanes: Lanes,
    which: np.ndarray,
    every: np.ndarray,
    budget: int,
    gain: float,
    spread: np.ndarray | None = None,
) -> Lanes:
    """Some lanes moved towards where they cost least in units of their `spread` (lane, channel), which is looked up
    where it is not known, until no step promises a share `gain` of the cost."""
    if not len(which):
        return lanes
    here, every = lanes.taken(which), every[which]
    known = look.spread(here.motor, every, here.local, here.initial) if spread is None else spread[which]
    scale = np.where(np.isfinite(known), known, 1.0)
    steps = _Steps(look, here, every, scale, np.full_like(scale, BEND), np.zeros(len(which), bool))
    steps.walk(budget, gain)
    return lanes.put(which, steps.ended(_LONGEST_ON_THE_WAY))


class _Steps:
    """Levenberg-Marquardt for lanes side by side, each with its own damping; one look a step, which tells whether the
    step was good and where the next one leads."""

    def __init__(
        self, look: Look, lanes: Lanes, every: np.ndarray, scale: np.ndarray, bend: np.ndarray, near: np.ndarray
    ) -> None:
        self.look, self.motor, self.of_lane = look, lanes.motor, (every, scale, bend, near)
        self.local, self.initial = lanes.local.copy(), lanes.initial.copy()
        self.cost, sums = self._looked(np.arange(len(every)), self.local, self.initial)
        self.squares = sums.squares.sum(axis=1)
        self.gradient, self.curvature = np.array(sums.gradient), np.array(sums.curvature)
        self.damping = np.where(near, _NEAR_DAMPING, _DAMPING)
        self.by, self.own = np.zeros_like(self.local), np.zeros_like(self.initial)
        self.promise = np.full(len(every), np.inf)
        self.active = np.isfinite(self.cost)
        self.broken, self.refused = np.zeros(len(every), int), np.zeros(len(every), bool)
        self._aim(np.flatnonzero(self.active))

    def walk(self, budget: int, gain: float) -> None:
        """So many steps, or until none promises a share `gain` of the cost."""
        for _ in range(budget):
            self.active &= self.promise > gain * np.abs(self.cost)
            if not self.active.any():
                break
            self._step(np.flatnonzero(self.active))

    def _step(self, which: np.ndarray) -> None:
        local, initial = self.local[which] + self.by[which], self.initial[which] + self.own[which]
        cost, sums = self._looked(which, local, initial)
        better = cost < self.cost[which]
        self.broken[which] += ~(self.cost[which] - cost > self.promise[which] / 2)
        moved = which[better]
        self.local[moved], self.initial[moved], self.cost[moved] = local[better], initial[better], cost[better]
        self.squares[moved] = sums.squares[better].sum(axis=1)
        self.gradient[moved], self.curvature[moved] = sums.gradient[better], sums.curvature[better]
        self.refused[which] = ~better
        raised = np.maximum(self.damping[which] * _RAISED, _LEAST_RAISED)
        self.damping[which] = np.where(better, self.damping[which] * _EASED, raised)
        self._aim(which)
        # At a kink of the cost steps promise what they cannot keep.
        stuck = (self.broken > _PATIENCE) & (self.promise <= _KINK * np.abs(self.cost))
        self.active &= ~stuck & (self.damping < _LAST_DAMPING)

    def ended(self, longest: float) -> Lanes:
        """Where they are; those at rest one step further where no coordinate moves by more than `longest` in it, which
        is too short to need another look."""
        rested = np.isfinite(self.cost) & ~self.active
        onward = rested & ~self.refused & (np.max(np.abs(self.by), axis=1) <= longest)
        local = np.where(onward[:, None], self.local + self.by, self.local)
        initial = np.where(onward[:, None, None], self.initial + self.own, self.initial)
        return Lanes(self.motor, local, initial, rested)

    def _looked(self, which: np.ndarray, local: np.ndarray, initial: np.ndarray):
        every, scale, bend, near = (x[which] for x in self.of_lane)
        return self.look.sums(self.motor[which], every, scale, bend, near, local, initial)

    def _aim(self, which: np.ndarray) -> None:
        """The next step of some lanes, and by how much the quadratic model promises to lower their cost with it."""
        if not len(which):
            return
        local, initial = self.local[which], self.initial[which]
        lanes, pieces, states = initial.shape
        believed, slopes = self.look.data.believed(local)
        unknowns = self.gradient.shape[-1]
        equations = SideBySide(
            curvature=self.curvature[which].reshape(lanes * pieces, unknowns, unknowns),
            gradient=self.gradient[which].reshape(lanes * pieces, unknowns),
            initial=initial.reshape(lanes * pieces, states),
            log=np.repeat(np.arange(lanes), pieces),
            believed=believed,
            slopes=slopes,
            moves=np.ones_like(local),
        )
        by, own = equations.step(self.damping[which])
        self.by[which], self.own[which] = by, own.reshape(initial.shape)
        self.promise[which] = equations.promise(by, own)
