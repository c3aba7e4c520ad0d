"""Profile likelihood: one parameter held at one value after the other, all others fitted anew at each.

Error bars take the misfit for a parabola. On a bent ridge it is none, and where the logs leave a parameter open on one
side there is no parabola at all: the profile follows the valley and says where it ends.

With residuals that remember, twice the rise of the cost is distributed as a chi-square of one degree of freedom times
the ratio of the true variance of the estimate, H^-1 M H^-1, to that of white residuals, H^-1 (J. T. Kent, Biometrika
69, 1982): the rise is counted in units of that ratio.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import jax.numpy as jnp
import numpy as np

from ._errors import ModelError
from ._estimate import Estimate
from ._known import Known
from ._normal_equations import Point
from ._problem import Problem
from ._rounding import interval, short
from ._setup import Setup
from ._solvers import solver_named
from ._valley import THRESHOLD, Floor, Valley
from ._verdict import Caution

_NOTABLE = 0.1
"""Relative change [1] from which another parameter is said to make up for the profiled one."""

_LOWER = 0.25
"""Share of the threshold by which the estimate may lie above the lowest place found."""

_BENT = 0.5
"""Share of the half-width by which an end may lie elsewhere than the error bars say."""


@dataclasses.dataclass(frozen=True, eq=False)
class Profile:
    """How the misfit rises as one parameter is held away from its estimate and all others are fitted anew.

    `values` [`unit`] ascending, with the `rise` [1] at each, in which `THRESHOLD` ends the 95 % interval (infinite
    where no prediction is finite); `ci95` [`unit`], an end `None` where the rise stays below the threshold as far as
    `values` go; `estimate` [`unit`]; `inflation` [1] of the rise by residuals that remember; `others`: the other
    parameters at each value.
    """

    name: str
    unit: str
    estimate: float
    values: np.ndarray
    rise: np.ndarray
    ci95: tuple[float | None, float | None]
    inflation: float
    others: dict[str, np.ndarray]

    @property
    def partner(self) -> str | None:
        """The parameter that makes up most for this one as it moves along the interval; `None` where none does."""
        inside = self.rise <= THRESHOLD
        moved = {name: float(np.ptp(v[inside]) / np.max(np.abs(v[inside]))) for name, v in self.others.items()}
        most = max(moved, key=lambda name: moved[name], default=None)
        return most if most is not None and moved[most] > _NOTABLE else None

    @property
    def at_estimate(self) -> float:
        """The rise at the estimate [1]: zero unless a lower place was found."""
        return float(self.rise[np.argmin(np.abs(self.values - self.estimate))])

    def to_dict(self) -> dict:
        """As `fit.json` holds it."""
        return {
            "unit": self.unit,
            "ci95": list(self.ci95),
            "threshold": THRESHOLD,
            "inflation": self.inflation,
            "values": self.values.tolist(),
            "rise": [float(r) if np.isfinite(r) else None for r in self.rise],
            "others": {name: values.tolist() for name, values in self.others.items()},
        }


def profiled_coordinates(made: Setup, names: Iterable[str]) -> list[int]:
    """The coordinates of these parameters; the name of a parameter of each log stands for those of all logs.

    **Raises:** `ModelError` for a name that is not free.
    """
    found: dict[int, None] = {}
    for name in names:
        ours = [k for k, known_name in enumerate(made.names) if name in (known_name, known_name.split("[")[0])]
        if not ours:
            raise ModelError(f"--profile {name}: not a free parameter of this fit; free are {', '.join(made.names)}")
        found |= dict.fromkeys(ours)
    return list(found)


def profiles(
    made: Setup,
    problem: Problem,
    point: Point,
    here: Known,
    coordinates: Sequence[int],
    lanes: int,
    progress: Callable[[str, int, float], None],
) -> list[Profile]:
    """The profiles of these coordinates around `point`, the end of a fit, and what is known `here`.

    **Arguments:** `problem` with the last scales and resets; `lanes`: how many values are looked at side by side (as
    many as the fit had starts: then its program serves, and nothing is compiled).
    """
    solver = solver_named("levenberg-marquardt")
    problem = problem.stepped(int(problem.substeps), reverse=False)
    found = []
    for k in coordinates:
        floor = Valley(made, problem, point, here, k, lanes, solver, progress).explored()
        found.append(_profile(made, problem, float(point.coordinates[k]), k, floor))
    return found


def _profile(made: Setup, problem: Problem, estimate: float, k: int, floor: Floor) -> Profile:
    """The floor of a valley along coordinate `k` in physical values."""

    def values(n: int, coordinates: Sequence[float] | np.ndarray) -> np.ndarray:
        return np.asarray(problem.unknowns.bijectors[problem.owner[n]].value(jnp.asarray(coordinates)))

    low, high = (None if end is None else float(values(k, [end])[0]) for end in floor.ends)
    return Profile(
        made.names[k],
        made.model.free.parameters[problem.owner[k]].place.unit,
        float(values(k, [estimate])[0]),
        values(k, floor.coordinates[:, k]),
        floor.rise,
        (low, high),
        floor.inflation,
        {name: values(n, floor.coordinates[:, n]) for n, name in enumerate(made.names) if n != k},
    )


def in_words(profile: Profile) -> str:
    """One line: between which ends, or that there is none, and which parameter makes up for it."""
    low, high = profile.ci95
    first, last = short(float(profile.values[0])), short(float(profile.values[-1]))
    if low is None and high is None:
        found = f"open on both sides: from {first} to {last} {profile.unit} the logs are met as well"
    elif low is None:
        found = f"at most {short(high, 4)} {profile.unit}, no lower end: down to {first} the logs are met as well"
    elif high is None:
        found = f"at least {short(low, 4)} {profile.unit}, no upper end: up to {last} the logs are met as well"
    else:
        found = f"{interval((low, high), (high - low) / 4)} {profile.unit} (95 %)"
    if profile.partner is None:
        return f"{profile.name}: {found}"
    moved = profile.others[profile.partner][profile.rise <= THRESHOLD]
    return f"{profile.name}: {found}; {profile.partner} makes up for it, from {short(moved[0])} to {short(moved[-1])}"


def profile_cautions(profiles: Sequence[Profile], estimates: Sequence[Estimate]) -> list[Caution]:
    """What the profiles say against the table of parameters."""
    found, told = [], {estimate.name: estimate for estimate in estimates}
    for profile in profiles:
        lowest = float(profile.values[np.argmin(profile.rise)])
        low, high = profile.ci95
        if low is None or high is None:
            found.append(Caution("profile_open", in_words(profile), (profile.name,)))
            continue
        if profile.at_estimate > _LOWER * THRESHOLD:
            words = f"{profile.name} at {lowest:.4g} meets the logs better than the estimate does; try more --starts"
            found.append(Caution("profile_lower", words, (profile.name,)))
        stated = told[profile.name].ci95
        if stated is None:
            continue
        apart = max(abs(low - stated[0]), abs(high - stated[1]))
        if apart > _BENT * (stated[1] - stated[0]) / 2:
            words = (
                f"{in_words(profile)}; the error bars, {stated[0]:.4g} to {stated[1]:.4g}, miss that the valley is bent"
            )
            found.append(Caution("profile_bent", words, (profile.name,)))
    return found
