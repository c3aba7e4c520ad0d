"""The truth behind a simulated log, where it lies beside it."""

import json
import pathlib
from collections.abc import Iterable

from ._free import TIES


def known_truth(logs: Iterable[pathlib.Path]) -> dict[str, float]:
    """Values [SI] by parameter name that a `truth.json` beside the logs states for all of them; empty without one.

    The file holds `{"logs": {FILE: {NAME: {"value": ..., "unit": ...}}}}`. It informs the reader, never the fit.
    """
    shared: dict[str, float] | None = None
    for log in logs:
        try:
            entry = json.loads((log.parent / "truth.json").read_text(encoding="utf-8"))["logs"][log.name]
            values = {str(name): float(item["value"]) for name, item in entry.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
        for tie, parts in TIES.items():
            if all(part in values for part in parts) and len({values[part] for part in parts}) == 1:
                values[tie] = values[parts[0]]
        shared = values if shared is None else {n: v for n, v in shared.items() if values.get(n) == v}
    return shared or {}
