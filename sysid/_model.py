"""What is fitted: a bench with its numbers, what may move, and how a log drives it."""

import dataclasses
from collections.abc import Iterable, Mapping

import jax
import jax.numpy as jnp

import jaxmotor as jm
from jaxmotor._parameter import check_params

from ._errors import ModelError
from ._free import Free, Subject, places
from ._log import Log
from ._sensors import Sensors


@dataclasses.dataclass(frozen=True)
class Condition:
    """A number of a log that sets a parameter for that log: parameter `name` = `factor` x `condition`."""

    name: str
    condition: str
    factor: float = 1.0


@dataclasses.dataclass(frozen=True, eq=False)
class Model:
    """A bench, its `params` and `sensors`, what is `free`, and a `description` in words.

    `command`: the channel of a log that commands the controller. `conditions`: parameters that each log sets for
    itself. `given`: names whose value a user stated, which no regression may replace. `balanced`: the current is
    predicted by the torque balance of the measured motion, not by the drive. `outputs`: channels to compare, all that
    can be if `None`. `grid`: step [s] to which logs are brought first, their own rows if `None`.
    """

    bench: jm.Bench
    params: jm.BenchParams
    free: Free
    description: str
    command: str = "command"
    sensors: Sensors = dataclasses.field(default_factory=Sensors)
    conditions: tuple[Condition, ...] = ()
    given: frozenset[str] = frozenset()
    balanced: bool = False
    outputs: tuple[str, ...] | None = None
    grid: float | None = None

    @property
    def subject(self) -> Subject:
        """Everything a fit may move."""
        return Subject(self.params, self.sensors)

    def overrides(self, log: Log) -> dict[str, float]:
        """The values that this log sets, by dotted path in the subject.

        **Raises:** `ModelError` when the log lacks a condition.
        """
        known = places(self.subject) if self.conditions else {}
        values: dict[str, float] = {}
        for condition in self.conditions:
            if condition.condition not in log.conditions:
                has = ", ".join(sorted(log.conditions)) or "none"
                raise ModelError(
                    f"{log.name}: the model takes {condition.name} from the log's '{condition.condition}', which it"
                    f" does not have (it has: {has}); give the value with --fix {condition.name}=VALUE"
                )
            for path in known[condition.name].paths:
                values[path] = condition.factor * log.conditions[condition.condition]
        return values

    def adjusted(self, free: Iterable[str] = (), fix: Mapping[str, float] | None = None) -> "Model":
        """With more parameters free and others held [SI]; see `sysid._adjust.adjusted`."""
        from ._adjust import adjusted

        return adjusted(self, free, fix)

    def with_subject(self, subject: Subject) -> "Model":
        """The same model at other values."""
        return dataclasses.replace(self, params=subject.bench, sensors=subject.sensors)


def checked(subject: Subject, like: Subject, where: str) -> Subject:
    """The subject with leaves of the float types of `like`, if its values are such as a motor can have.

    **Raises:** `ModelError` that starts with `where` and names the parameter.
    """
    subject = jax.tree.map(lambda leaf, old: jnp.asarray(leaf, old.dtype), subject, like)
    try:
        check_params(subject)
    except ValueError as error:
        raise ModelError(f"{where}: {error}") from None
    return subject
