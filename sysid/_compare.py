"""Which friction model a set of logs calls for: ranked by what each predicts of logs that it has not seen."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._autocorrelation import autoregression
from ._choose import choose_model
from ._errors import ModelError
from ._fit import fit
from ._folds import Group, groups, held_out, usual_split
from ._friction_models import friction_model
from ._legs import legs
from ._log import Log
from ._metrics import comparisons
from ._model import Model
from ._result import Fit
from ._setup import setup, torque_constant
from ._solvers import solver_named
from ._start import regressed
from ._with_friction import with_friction

MODELS = ("M1", "M2", "M3", "M4", "M5", "M6")
_ALIKE = 0.02
"""Errors this close [1] are one: the model with fewer parameters is taken."""


@dataclasses.dataclass(frozen=True, eq=False)
class Contender:
    """One friction model: its `fit` to all logs, and its errors, each (channel: mean absolute error [its unit]).

    `train` of that fit; `cross_validated` over all logs, each predicted by the model of the other groups; `folds` by
    group; `score` [1]: `cross_validated` in units of the spread of the measured channel, mean over channels; `bic`: of
    the fit, in rows that are independent; `seconds` it took.
    """

    name: str
    words: str
    fit: Fit
    train: dict[str, float]
    cross_validated: dict[str, float]
    folds: dict[str, dict[str, float]]
    score: float
    bic: float
    seconds: float

    @property
    def open(self) -> list[str]:
        """Parameters that the logs do not fix."""
        return [e.name for e in self.fit.estimates if e.flag in ("open", "not excited")]

    @property
    def at_bound(self) -> list[str]:
        """Parameters that ended at a bound."""
        return [e.name for e in self.fit.estimates if e.at_bound]

    def to_dict(self) -> dict[str, Any]:
        """As `compare.json` holds it."""
        return {
            "words": self.words,
            "score": self.score,
            "cross_validated": self.cross_validated,
            "folds": self.folds,
            "train": self.train,
            "bic": self.bic,
            "free": len(self.fit.estimates),
            "open": self.open,
            "at_bound": self.at_bound,
            "parameters": {e.name: e.value for e in self.fit.estimates},
            "status": self.fit.status,
            "seconds": self.seconds,
        }


@dataclasses.dataclass(frozen=True, eq=False)
class Ranking:
    """Contenders from the least cross-validated error to the largest, the groups they were told apart `by`, and the
    one `picked`."""

    contenders: tuple[Contender, ...]
    by: str
    units: dict[str, str]

    @property
    def picked(self) -> Contender:
        """The one of fewest parameters among those whose cross-validated error is the least, within two percent."""
        least = self.contenders[0].score
        close = [c for c in self.contenders if c.score <= (1 + _ALIKE) * least]
        return min(close, key=lambda c: len(c.fit.estimates))

    def to_dict(self) -> dict[str, Any]:
        """What `compare.json` holds."""
        return {
            "schema": 1,
            "by": self.by,
            "picked": self.picked.name,
            "units": self.units,
            "models": {c.name: c.to_dict() for c in self.contenders},
        }


def _silent(words: str, iteration: int, cost: float) -> None:
    del words, iteration, cost


def compare(
    logs: Sequence[Log],
    models: Sequence[str] = MODELS,
    by: str | None = None,
    hold_out: Log | Sequence[Log] = (),
    *,
    model: Model | None = None,
    seed: int = 0,
    starts: int = 4,
    iterations: int = 40,
    window: float | None = None,
    progress: Callable[[str, int, float], None] = _silent,
) -> Ranking:
    """Rank friction models by leave-one-group-out cross-validation.

    **Arguments:**

    - `logs`: two or more; `hold_out`: logs that only the fits to all of `logs` predict.
    - `models`: names in `FRICTION_MODELS` (BAM's M1 to M6; LuGre).
    - `by`: what a group is: `"log"`, or a condition such as `"kp"`; `None`: the condition that sets a parameter of the
      model and differs between logs, else `"log"`.
    - `model`: the bench whose friction is replaced; without it one is chosen from the channels of the logs.
    - `seed`, `starts`, `iterations`, `window` [s], `progress`: as in `fit`.

    **Returns:** a `Ranking`. **Raises:** `ModelError`, `LogError` for what cannot be compared.
    """
    logs = list(logs)
    if not models:
        raise ModelError("no friction model to compare")
    for name in models:
        friction_model(name)
    base = model if model is not None else choose_model(logs)
    by = by or usual_split(base, logs)
    apart = groups(logs, by)
    found = []
    for name in dict.fromkeys(models):

        def told(words: str, iteration: int, cost: float, name: str = name) -> None:
            progress(f"{name}, {words}", iteration, cost)

        search = {"seed": seed, "starts": starts, "iterations": iterations, "window": window}
        found.append(_contender(name, with_friction(base, name), logs, apart, hold_out, search, told))
    units = {c.channel: c.unit for c in found[0].fit.comparisons}
    return Ranking(tuple(sorted(found, key=lambda c: c.score)), by, units)


def _contender(
    name: str,
    model: Model,
    logs: list[Log],
    apart: list[Group],
    hold_out: Log | Sequence[Log],
    search: dict[str, Any],
    progress: Callable[[str, int, float], None],
) -> Contender:
    begun = time.perf_counter()

    def all_logs(words: str, iteration: int, cost: float) -> None:
        progress(f"all logs, {words}", iteration, cost)

    whole = fit(logs, model=model, hold_out=hold_out, substeps=1, progress=all_logs, **search)
    made, mover = setup(model, logs, substeps=1, window=search["window"]), solver_named("levenberg-marquardt")
    start = regressed(list(made.logs), torque_constant(model)), search["starts"], search["seed"]
    walk = legs(made, False, search["iterations"])
    ahead: dict[str, np.ndarray] = {}
    for group in apart:
        mine = np.isin(np.asarray(made.problem.batch.log), group.members)[:, None]

        def without(words: str, iteration: int, cost: float, group: str = group.name) -> None:
            progress(f"without {group}, {words}", iteration, cost)

        predicted = held_out(made, group, walk, mover, start, without)
        ahead = {c: np.where(mine, v, ahead.get(c, np.nan)) for c, v in predicted.items()}
    laid = comparisons(list(made.logs), list(made.cut), ahead, whole.noise, "hold-out")
    members = {group.name: {made.logs[k].name for k in group.members} for group in apart}
    folds = {group: _errors([c for c in laid if c.log in names]) for group, names in members.items()}
    fitted = [c for c in whole.comparisons if c.role == "train"]
    pooled = _errors(laid)
    return Contender(
        name,
        friction_model(name).words,
        whole,
        train=_errors(fitted),
        cross_validated=pooled,
        folds=folds,
        score=_score(laid, pooled),
        bic=_bic(fitted, whole),
        seconds=time.perf_counter() - begun,
    )


def _rows(found: Sequence[Any], channel: str) -> tuple[np.ndarray, np.ndarray]:
    """Measured and predicted rows that count."""
    mine = [c for c in found if c.channel == channel]
    return (
        np.concatenate([c.measured[c.usable] for c in mine]),
        np.concatenate([c.predicted[c.usable] for c in mine]),
    )


def _errors(found: Sequence[Any]) -> dict[str, float]:
    """Mean absolute error of each channel."""
    errors = {}
    for channel in dict.fromkeys(c.channel for c in found):
        measured, predicted = _rows(found, channel)
        errors[channel] = float(np.mean(np.abs(predicted - measured))) if len(measured) else float("nan")
    return errors


def _score(found: Sequence[Any], errors: dict[str, float]) -> float:
    spreads = {channel: float(np.std(_rows(found, channel)[0])) for channel in errors}
    shares = [error / max(spreads[channel], 1e-300) for channel, error in errors.items() if np.isfinite(error)]
    return float(np.mean(shares)) if shares else float("inf")


def _bic(found: Sequence[Any], result: Fit) -> float:
    """n ln(mean square) + k ln n, with n the rows that are independent: residuals of real logs remember."""
    total, count = 0.0, 0.0
    for channel in dict.fromkeys(c.channel for c in found):
        runs = [(c.predicted - c.measured)[c.usable] / result.noise[channel] for c in found if c.channel == channel]
        rows, power = sum(map(len, runs)), float(np.mean(np.concatenate(runs) ** 2))
        coefficients, variance = autoregression(runs)
        inflation = max(1.0, variance / max(float(coefficients.sum()) ** 2, 1e-12) / power)
        total += rows / inflation * np.log(power * result.noise[channel] ** 2)
        count += rows / inflation
    return float(total + len(result.estimates) * np.log(max(count, 2.0)))
