"""Fit motor parameters to bench logs."""

from ._check import check as check
from ._choose import choose_model as choose_model
from ._errors import LogError as LogError, ModelError as ModelError
from ._fit import fit as fit
from ._free import Free as Free, FreeParameter as FreeParameter, free as free
from ._levenberg_marquardt import levenberg_marquardt as levenberg_marquardt
from ._log import Log as Log
from ._model import Model as Model
from ._read import read_log as read_log
from ._result import Fit as Fit
