"""`fit.json`, read back."""

import json
import pathlib
from typing import Any

from ._errors import ModelError
from ._model import Model
from ._model_entry import model_from_dict


def read_fit(path: pathlib.Path) -> tuple[Model, dict[str, Any]]:
    """The fitted model and all else that a `fit.json` holds; a folder stands for the `fit.json` in it.

    **Raises:** `ModelError` for a file that `sysid fit` did not write.
    """
    file = path / "fit.json" if path.is_dir() else path
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{file}: no such file; name the fit.json that sysid fit wrote") from None
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ModelError(f"{file}: is no fit.json: {error}") from None
    if not isinstance(entry, dict) or "model" not in entry:
        raise ModelError(f"{file}: is no fit.json: it has no entry 'model'")
    if entry.get("schema") != 1:
        raise ModelError(f"{file}: schema {entry.get('schema')!r} is unknown; this program reads schema 1")
    return model_from_dict(entry["model"], str(file)), entry
