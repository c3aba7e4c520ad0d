"""What a fit has to say against itself."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from ._estimate import Estimate
from ._identifiability import OPEN, Direction, in_words
from ._metrics import Comparison

_MISFIT = 2.0
"""Mean square residual in units of the sensor's noise from which the model is said to lack something."""

_WORSE = 2.0
"""Ratio of mean squares from which a held-out log is predicted worse than a fitted one."""

_ENTWINED = 0.97
_NAMED = 2
_CORRELATED = 0.5
_INFLATED = 4.0
"""Errors twice those of white residuals: memory that lag one may be too short to show."""


@dataclasses.dataclass(frozen=True)
class Caution:
    """One warning of a fit: a `code` for machines, a `message` of one line, the `parameters` it concerns."""

    code: str
    message: str
    parameters: tuple[str, ...] = ()

    def to_dict(self) -> dict:
        return {"code": self.code, "message": self.message, "parameters": list(self.parameters)}


def _listed(estimates: Sequence[Estimate], flag: str) -> list[str]:
    return [e.name for e in estimates if e.flag == flag]


def cautions(
    estimates: Sequence[Estimate],
    directions: Sequence[Direction],
    names: Sequence[str],
    sensor_misfit: Mapping[str, float],
    correlation: Mapping[str, float],
    inflation: Mapping[str, float],
    shifts: Mapping[str, float],
    disagreeing: Mapping[str, float],
) -> list[Caution]:
    """Everything that keeps a result from being taken at its word.

    **Arguments:** `names` of the parameters in `directions`; `sensor_misfit`: mean square residual in units of the
    sensors' noise; `correlation` lag-one; `inflation` of the variance of the mean residual; `shifts`: moves under a
    halved step in standard errors; `disagreeing`: parameters in which equally good starts differ, as a ratio.
    """
    found: list[Caution] = []
    unseen = _listed(estimates, "not excited")
    if unseen:
        found.append(
            Caution(
                "not_excited",
                f"the logs do not depend on {', '.join(unseen)}: fix it or record motion that does",
                tuple(unseen),
            )
        )
    open_directions = [d for d in directions if d.spread > OPEN]
    if open_directions:
        kept = [d for d in directions if d.spread <= OPEN]
        loose = _listed(estimates, "open")
        # Few combinations can be named; a list of many is for the report, which draws them.
        words = "; ".join(in_words(d, list(names)) for d in kept[:_NAMED]) or "nothing"
        words += "; ..." if len(kept) > _NAMED else ""
        found.append(
            Caution(
                "undetermined",
                f"the logs fix {len(kept)} of {len(directions)} combinations ({words}); open: "
                f"{', '.join(loose) or in_words(open_directions[-1], list(names))}",
                tuple(loose),
            )
        )
    weak = _listed(estimates, "weak")
    if weak:
        found.append(Caution("weak", f"only roughly known (10 to 50 %): {', '.join(weak)}", tuple(weak)))
    bound = _listed(estimates, "at bound")
    if bound:
        found.append(
            Caution("at_bound", f"ended at a bound, so no error can be stated: {', '.join(bound)}", tuple(bound))
        )
    large = {c: m for c, m in sensor_misfit.items() if m > _MISFIT}
    if large:
        words = ", ".join(f"{c} {np.sqrt(m):.3g}" for c, m in large.items())
        found.append(
            Caution(
                "misfit",
                f"residuals above the sensor noise, as a ratio: {words}; the model lacks something the log shows",
            )
        )
    remembering = {c: r for c, r in correlation.items() if abs(r) > _CORRELATED or inflation[c] > _INFLATED}
    if remembering:
        words = ", ".join(f"{c} {r:.2f}" for c, r in remembering.items())
        found.append(
            Caution(
                "correlated_residuals",
                f"residuals are not white (lag-one correlation {words}); errors are widened for it",
            )
        )
    coarse = [name for name, shift in shifts.items() if shift > 1]
    if coarse:
        found.append(
            Caution(
                "step",
                f"halving the step would move {', '.join(coarse)} by more than the standard error; use --substeps",
                tuple(coarse),
            )
        )
    if disagreeing:
        words = ", ".join(f"{n} x{r:.2g}" for n, r in disagreeing.items())
        found.append(Caution("starts_disagree", f"starts that fit equally well end apart: {words}", tuple(disagreeing)))
    return found


def confounded(estimates: Sequence[Estimate], names: Sequence[str], correlation: np.ndarray) -> list[Caution]:
    """Parameters of which the logs tell a combination and hardly more, where that leaves one of them badly known.

    **Arguments:** `correlation` of the errors over `names`; one that ended at a bound as if it stood off it.
    """
    flags = {estimate.name: estimate.flag for estimate in estimates}
    size = np.abs(correlation)
    pairs = []
    for row, column in np.argwhere(np.triu(size, 1) > _ENTWINED):
        pair = {flags[names[int(row)]], flags[names[int(column)]]}
        # Two that both stand at bounds are told of as such; their entanglement is one at values that they do not have.
        if pair != {"identified"} and pair != {"at bound"}:
            pairs.append((int(row), int(column)))
    found = []
    for group in _groups(pairs):
        inner = [float(size[pair]) for pair in pairs if set(pair) <= group]
        found.append((max(inner), [names[k] for k in sorted(group)], inner))
    if not found:
        return []
    found.sort(reverse=True)
    words = "; ".join(f"{_enumerated(group)} ({_correlations(inner)})" for _, group, inner in found)
    message = f"the logs confound {words}: they tell combinations and none of them alone, so know one from elsewhere"
    return [Caution("confounded", message, tuple(name for _, group, _ in found for name in group))]


def _groups(pairs: Sequence[tuple[int, int]]) -> list[set[int]]:
    """What hangs together by pairs."""
    groups: list[set[int]] = []
    for pair in pairs:
        joined = set(pair).union(*(group for group in groups if group & set(pair)))
        groups = [group for group in groups if not group & joined] + [joined]
    return groups


def _enumerated(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _correlations(sizes: Sequence[float]) -> str:
    low, high = f"{min(sizes):.2f}", f"{max(sizes):.2f}"
    return f"correlation {low}" if low == high else f"correlations {low} to {high}"


def held_out_cautions(comparisons: Sequence[Comparison], noise: Mapping[str, float]) -> list[Caution]:
    """Channels of logs that were not fitted, if they are predicted far outside the noise and worse than fitted ones.

    **Arguments:** `noise` of each channel's sensor [its unit].
    """
    off: dict[str, float] = {}
    for channel, sigma in noise.items():
        trained, held = (
            [
                c.mean_square() / sigma**2
                for c in comparisons
                if c.channel == channel and c.role == role and c.usable.any()
            ]
            for role in ("train", "hold-out")
        )
        worst = max(held, default=0.0)
        if worst > _MISFIT and worst > _WORSE * max(trained, default=0.0):
            off[channel] = float(np.sqrt(worst))
    if not off:
        return []
    words = ", ".join(f"{channel} {ratio:.3g}" for channel, ratio in off.items())
    message = f"held-out logs are predicted worse than fitted ones; residuals over the sensor noise: {words}"
    return [Caution("held_out", message)]
