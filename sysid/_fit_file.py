"""`fit.json`, read back."""

import json
import pathlib
from typing import Any

from ._errors import ModelError
from ._model import Model
from ._model_entry import model_from_dict
from ._small_file import text_of

#: The form of `fit.json` that this program writes and reads.
SCHEMA = 1
_LARGEST = 1 << 27


def read_fit(path: pathlib.Path) -> tuple[Model, dict[str, Any]]:
    """The fitted model and all else that a `fit.json` holds; a folder stands for the `fit.json` in it.

    **Raises:** `ModelError` for a file that `sysid fit` did not write.
    """
    file = path / "fit.json" if path.is_dir() else path
    text = text_of(file, _LARGEST, "the fit.json that sysid fit wrote")
    try:
        entry = json.loads(text)
    except ValueError as error:
        raise ModelError(f"{file}: is no fit.json: {error}") from None
    except RecursionError:
        raise ModelError(f"{file}: is no fit.json: it is nested too deeply") from None
    if not isinstance(entry, dict) or "model" not in entry:
        raise ModelError(f"{file}: is no fit.json: it has no entry 'model'")
    schema = entry.get("schema")
    if schema != SCHEMA:
        newer = isinstance(schema, int) and schema > SCHEMA
        todo = "install a newer jaxmotor" if newer else "fit once more with sysid fit"
        raise ModelError(f"{file}: schema {str(schema)[:20]} is unknown; this program reads schema {SCHEMA}: {todo}")
    return model_from_dict(entry["model"], str(file)), entry
