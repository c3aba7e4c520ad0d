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
_PAIRS = 3
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
    """Pairs of which the logs tell one combination and hardly more, where that leaves one of the two badly known.

    **Arguments:** `correlation` of the errors over `names`; one that ended at a bound as if it stood off it.
    """
    flags = {estimate.name: estimate.flag for estimate in estimates}
    upper = np.triu(np.abs(correlation), 1)
    found = []
    for row, column in np.argwhere(upper > _ENTWINED):
        pair = (names[int(row)], names[int(column)])
        if any(flags[name] != "identified" for name in pair):
            found.append((float(upper[row, column]), pair))
    if not found:
        return []
    found.sort(reverse=True)
    words = ", ".join(f"{a} with {b} (correlation {size:.2f})" for size, (a, b) in found[:_PAIRS])
    concerned = tuple(dict.fromkeys(name for _, pair in found[:_PAIRS] for name in pair))
    message = (
        f"confounded: {words}; the logs tell a combination of the two and neither alone, so know one from elsewhere"
    )
    return [Caution("confounded", message, concerned)]


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
