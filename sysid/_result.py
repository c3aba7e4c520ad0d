"""The result of a fit."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

import jaxmotor as jm

from ._estimate import Estimate
from ._free import Free, read
from ._identifiability import OPEN, Direction
from ._log import Log
from ._metrics import Comparison
from ._model import Model
from ._model_entry import model_to_dict
from ._profile import Profile
from ._single_logs import Spread
from ._verdict import Caution


@dataclasses.dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model and what is known of it.

    `model` at the fitted values; `estimates` of every free parameter; `directions` of the determined and open
    combinations over `direction_names`; `correlation` matrix of the estimates in coordinates; `comparisons` per log
    and channel; `cautions`; `noise` per channel [its unit]; `columns` per channel; `timing` [s]; `trace` of the walk;
    `profiles` of the parameters for which they were asked; `spreads` of the parameters in fits of single logs.
    """

    model: Model
    estimates: tuple[Estimate, ...]
    directions: tuple[Direction, ...]
    direction_names: tuple[str, ...]
    correlation: np.ndarray
    comparisons: tuple[Comparison, ...]
    cautions: tuple[Caution, ...]
    noise: dict[str, float]
    columns: dict[str, str]
    timing: dict[str, float]
    trace: tuple[tuple[str, int, float], ...]
    settings: dict[str, Any]
    profiles: tuple[Profile, ...] = ()
    spreads: tuple[Spread, ...] = ()

    @property
    def bench(self) -> jm.Bench:
        """The bench that was fitted."""
        return self.model.bench

    @property
    def params(self) -> jm.BenchParams:
        """Its params at the fitted values."""
        return self.model.params

    @property
    def status(self) -> str:
        """`ok`, `warning`, or `failed` where no prediction is finite."""
        finite = all(np.all(np.isfinite(c.predicted[c.usable])) for c in self.comparisons)
        if not finite:
            return "failed"
        return "warning" if self.cautions else "ok"

    def resume(self, logs: Log | Sequence[Log], **settings: Any) -> "Fit":
        """Fit on from these values, to the same logs or to others; `settings` as of `sysid.fit`, one start by default.

        A parameter that ended at a bound starts where it started before: at the bound it could not move.
        """
        from ._fit import fit

        stuck = {estimate.name.split("[")[0] for estimate in self.estimates if estimate.at_bound}
        moved = tuple(
            p if p.name in stuck else dataclasses.replace(p, start=float(read(self.model.subject, p.place.paths[0])))
            for p in self.model.free.parameters
        )
        model = dataclasses.replace(self.model, free=Free(moved))
        choices: dict[str, Any] = {"starts": 1, **settings}
        return fit(logs, model=model, **choices)

    def to_dict(self) -> dict[str, Any]:
        """What `fit.json` holds: plain types, ready for JSON."""
        determined = sum(d.spread <= OPEN for d in self.directions)
        scored: dict[str, dict[str, Any]] = {}
        for comparison in self.comparisons:
            scored.setdefault(comparison.log, {})[comparison.channel] = comparison.metric()
        return {
            "schema": 1,
            "status": self.status,
            "warnings": [caution.to_dict() for caution in self.cautions],
            "parameters": {e.name: e.to_dict() for e in self.estimates},
            "profiles": {profile.name: profile.to_dict() for profile in self.profiles},
            "single_logs": {spread.name: spread.to_dict() for spread in self.spreads},
            "rank": {"determined": determined, "free": len(self.estimates)},
            "metrics": scored,
            "noise": self.noise,
            "columns": self.columns,
            "timing": self.timing,
            "settings": self.settings,
            "model": model_to_dict(self.model) | {"substeps": self.settings.get("substeps", 1)},
        }
