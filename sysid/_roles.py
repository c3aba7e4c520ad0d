"""Which channels of the logs drive a bench, and which are compared with it."""

from collections.abc import Sequence

from ._errors import LogError
from ._log import Log
from ._windows import Roles

_COMPARED = ("current", "position", "supply_current", "temperature", "velocity", "voltage")
"""In the order in which JAX keeps a dictionary, so that channel k means the same inside and outside a program."""


def roles(logs: Sequence[Log], command: str, outputs: Sequence[str] | None, predicted: Sequence[str]) -> Roles:
    """The roles of a fit: `outputs` as asked, or every channel that some log measures and the bench predicts.

    **Raises:** `LogError` for a log without the command, an output no log has or the bench does not predict, or when
    nothing is left to compare.
    """
    for log in logs:
        if command not in log.channels:
            raise LogError(
                f"{log.name}: no channel {command}, which drives this model (it has {', '.join(log.channels)}); name"
                f" its column with --columns {command}=COLUMN"
            )
    seen = {name for log in logs for name in log.channels if log.masks[name].any()}
    if outputs is not None:
        for name in outputs:
            if name not in seen or name not in predicted:
                raise LogError(
                    f"output {name}: no log measures it or the model does not predict it; choose among "
                    f"{', '.join(sorted(seen & set(predicted) - {command})) or 'none'}"
                )
        return Roles(command, tuple(sorted(outputs)))
    chosen = tuple(name for name in _COMPARED if name in seen and name in predicted and name != command)
    if not chosen:
        raise LogError(f"{logs[0].name}: nothing to compare: it measures {', '.join(sorted(seen))}")
    return Roles(command, chosen)
