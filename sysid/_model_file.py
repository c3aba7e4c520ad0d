"""Models as a user writes them: a TOML file of stages and parameters."""

import os
import pathlib
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from ._draft import Draft, assemble
from ._errors import ModelError
from ._free import TIES, Subject, places
from ._log import INPUT_CHANNELS
from ._model import Condition, Model
from ._quantity import in_unit
from ._sensors import Sensors
from ._small_file import text_of
from ._stages import build, nearest, needed
from ._units import CHANNEL_UNITS

# Dotted keys cost the parser the square of their length.
_LARGEST = 1 << 15
_KEYS = ("command", "description", "grid", "outputs", "parameters", "stages")
_WORDS = ("fixed", "start", "lower", "upper", "prior", "per_log", "spread", "condition", "factor")
_COMMANDS = {"VoltageDrive": "voltage", "DutyDrive": "duty", "TorqueDrive": "torque"}


def read_model(path: str | os.PathLike[str]) -> Model:
    """The model that a TOML file describes.

        command = "voltage"                     # channel of the log that commands the controller
        outputs = ["position"]                  # channels to compare; all that the model predicts if left out
        grid = "5 ms"                           # step to which logs are brought first; their own rows if left out
        [stages]
        controller = "VoltageDrive"
        winding = "Inductive"
        dry_friction = "CoulombFriction"
        [parameters]
        resistance = { start = "1.2 ohm", lower = "0.1 ohm", upper = "10 ohm" }     # free
        motor_constant = { prior = ["45 mN m/A", "2 mN m/A"] }                      # mean, standard deviation
        inductance = { fixed = "0.6 mH" }
        inertia = {}                                                                # free, started by regression

    A parameter that is not named is fixed where its stage has a default, else free. `per_log = true` gives each log
    its own value; `condition = "kp"`, `factor = 0.003` takes it from a number that the log states.

    **Raises:** `ModelError`, one line that names the file, the key and the allowed words.
    """
    file = pathlib.Path(path)
    text = text_of(file, _LARGEST, "a model file (TOML)")
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # of TOML, and of numbers of thousands of digits
        raise ModelError(f"{file}: this is not TOML: {error}") from None
    except RecursionError:
        raise ModelError(f"{file}: this is no model: it is nested too deeply") from None
    return model_of(content, str(file))


def model_of(content: Mapping[str, Any], where: str) -> Model:
    """The model of a parsed file.

    **Raises:** `ModelError` that starts with `where`.
    """
    _only(content, _KEYS, where, "key")
    stages = _table(content, "stages", where)
    for slot, word in stages.items():
        if not isinstance(word, str):
            raise ModelError(f"{where}: stages.{slot} must be a word in quotes, not {word!r}")
    command = content.get("command", _COMMANDS.get(stages.get("controller", "VoltageDrive"), "command"))
    if command not in CHANNEL_UNITS:
        allowed = ", ".join((*(name for name in INPUT_CHANNELS if name != "torque_enabled"), "torque"))
        raise ModelError(f"{where}: unknown command '{command}'; a channel that commands is one of: {allowed}")
    settings = {
        name: _Settings(value, f"{where}: parameters.{name}")
        for name, value in _table(content, "parameters", where).items()
    }
    units = _units(stages, where)
    _only(settings, sorted(units), where, "parameter")
    values = {name: item.value(units[name]) for name, item in settings.items()}
    optional = {need.name for need in needed(stages) if need.optional} | set(Sensors.__dataclass_fields__)
    return assemble(
        Draft(
            stages,
            _free(settings, units, optional),
            command,
            str(content.get("description", f"model of {pathlib.Path(where).name}")),
            {name: value for name, value in values.items() if value is not None},
            tuple(Condition(name, *item.condition()) for name, item in settings.items() if item.conditioned),
            frozenset(name for name, value in values.items() if value is not None),
            outputs=_outputs(content, where),
            grid=_grid(content, where),
        ),
        where,
    )


def _outputs(content: Mapping[str, Any], where: str) -> tuple[str, ...] | None:
    if "outputs" not in content:
        return None
    outputs = content["outputs"]
    if not isinstance(outputs, list) or not outputs:
        raise ModelError(f'{where}: outputs must be a list of channels: ["position"]')
    _only(map(str, outputs), CHANNEL_UNITS, where, "channel")
    return tuple(map(str, outputs))


def _grid(content: Mapping[str, Any], where: str) -> float | None:
    if "grid" not in content:
        return None
    step = in_unit(content["grid"], "s", f"{where}: grid")
    if not 0 < step < float("inf"):
        raise ModelError(f"{where}: grid must be a time above zero")
    return step


class _Settings:
    """What a file says of one parameter."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ModelError(f'{where} must be a table: {{ fixed = "VALUE UNIT" }}, {{ start = "VALUE UNIT" }} or {{}}')
        _only(value, _WORDS, where, "word")
        self.words, self.where = value, where
        if "fixed" in value and len(value) > 1:
            other = next(word for word in value if word != "fixed")
            raise ModelError(f"{where}: a fixed parameter has no '{other}'")
        if "factor" in value and not self.conditioned:
            raise ModelError(f"{where}: 'factor' multiplies a condition: name it with condition = \"...\"")

    @property
    def conditioned(self) -> bool:
        return "condition" in self.words

    @property
    def held(self) -> bool:
        return "fixed" in self.words or self.conditioned

    def value(self, unit: str) -> float | None:
        for word in ("fixed", "start"):
            if word in self.words:
                return in_unit(self.words[word], unit, f"{self.where}.{word}")
        return 1.0 if self.conditioned else None

    def condition(self) -> tuple[str, float]:
        return str(self.words["condition"]), in_unit(self.words.get("factor", 1.0), "1", f"{self.where}.factor")

    def free(self, unit: str) -> dict[str, Any]:
        found: dict[str, Any] = {
            word: in_unit(self.words[word], unit, f"{self.where}.{word}")
            for word in ("lower", "upper")
            if word in self.words
        }
        if found.get("lower", -float("inf")) >= found.get("upper", float("inf")):
            raise ModelError(f"{self.where}: the lower bound is not below the upper one")
        if "prior" in self.words:
            pair = self.words["prior"]
            if not isinstance(pair, list) or len(pair) != 2:
                raise ModelError(f'{self.where}.prior must be ["MEAN UNIT", "STANDARD DEVIATION UNIT"]')
            mean, width = (in_unit(item, unit, f"{self.where}.prior") for item in pair)
            if width <= 0:
                raise ModelError(f"{self.where}.prior: the standard deviation must be above zero")
            found["prior"] = (mean, width)
        if "per_log" in self.words:
            if not isinstance(self.words["per_log"], bool):
                raise ModelError(f"{self.where}.per_log must be true or false")
            found["per_log"] = self.words["per_log"]
        if "spread" in self.words:
            found["spread"] = in_unit(self.words["spread"], "1", f"{self.where}.spread")
        return found


def _free(settings: Mapping[str, _Settings], units: Mapping[str, str], optional: set[str]) -> dict[str, dict[str, Any]]:
    free = {name: item.free(units[name]) for name, item in settings.items() if not item.held}
    covered = set(settings)
    for tie, parts in TIES.items():
        named = covered & set(parts)
        if tie in covered and named:
            raise ModelError(f"{settings[tie].where}: {tie} sets {' and '.join(parts)}: name either it or them")
        if tie in covered:
            covered |= set(parts)
        elif not named and set(parts) <= set(units):
            free[tie] = {}
            covered |= set(parts)
    free |= {name: {} for name in units if name not in covered | optional | set(TIES)}
    # In the order of the stages, a tie in the place of its first part.
    order = {name: place for place, name in enumerate(units)}
    order |= {tie: order[parts[0]] for tie, parts in TIES.items() if parts[0] in order}
    return dict(sorted(free.items(), key=lambda item: order[item[0]]))


def _units(stages: Mapping[str, str], where: str) -> dict[str, str]:
    """Every parameter that the stages and the sensors have, with its unit."""
    placeholders = {need.name: 1.0 for need in needed(stages, where)}
    _, params = build(stages, placeholders, where)
    return {name: place.unit for name, place in places(Subject(params, Sensors())).items()}


def _table(content: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    table = content.get(key, {})
    if not isinstance(table, dict):
        raise ModelError(f"{where}: {key} must be a table: [{key}]")
    return table


def _only(content: Iterable[str], allowed: Iterable[str], where: str, kind: str) -> None:
    allowed = list(allowed)
    for word in content:
        if word not in allowed:
            words = ", ".join(allowed)
            raise ModelError(
                f"{where}: unknown {kind} '{word}'{nearest(word, allowed)}; the allowed {kind}s are: {words}"
            )
