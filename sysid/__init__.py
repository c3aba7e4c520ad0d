"""Fit motor parameters to bench logs. Names are imported when they are first used, so that help comes at once."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._check import check as check
    from ._choose import choose_model as choose_model
    from ._compare import Ranking as Ranking, compare as compare
    from ._errors import LogError as LogError, ModelError as ModelError
    from ._finding import Finding as Finding, Findings as Findings
    from ._fit import fit as fit
    from ._fleet import FleetFit as FleetFit, fit_fleet as fit_fleet
    from ._free import Free as Free, FreeParameter as FreeParameter, free as free
    from ._levenberg_marquardt import levenberg_marquardt as levenberg_marquardt
    from ._log import Log as Log
    from ._model import Model as Model
    from ._model_entry import model_from_dict as model_from_dict, model_to_dict as model_to_dict
    from ._model_file import read_model as read_model
    from ._read import read_log as read_log
    from ._report import report_html as report_html
    from ._result import Fit as Fit
    from ._simulation import simulated as simulated

_HOMES = {
    "_check": ("check",),
    "_choose": ("choose_model",),
    "_compare": ("Ranking", "compare"),
    "_errors": ("LogError", "ModelError"),
    "_finding": ("Finding", "Findings"),
    "_fit": ("fit",),
    "_fleet": ("FleetFit", "fit_fleet"),
    "_free": ("Free", "FreeParameter", "free"),
    "_levenberg_marquardt": ("levenberg_marquardt",),
    "_log": ("Log",),
    "_model": ("Model",),
    "_model_entry": ("model_from_dict", "model_to_dict"),
    "_model_file": ("read_model",),
    "_read": ("read_log",),
    "_report": ("report_html",),
    "_result": ("Fit",),
    "_simulation": ("simulated",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'sysid' has no attribute {name!r}")
    return getattr(importlib.import_module(f"sysid.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
