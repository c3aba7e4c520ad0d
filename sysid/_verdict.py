"""What a fit has to say against itself."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from ._estimate import Estimate
from ._identifiability import OPEN, Direction, in_words

_MISFIT = 2.0
"""Mean square residual in units of the sensor's noise from which the model is said to lack something."""

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
