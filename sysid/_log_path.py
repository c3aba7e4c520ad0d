"""Whether a path leads to a log at all, known before anything heavy is imported."""

import collections
import pathlib
import shlex
import stat

from ._errors import LogError

_ENDINGS = (".csv", ".txt", ".tsv", ".dat", ".log", ".json", ".mat", ".parquet", ".pq", ".mcap")
_NAMED = 3


def refuse_no_log(path: pathlib.Path) -> None:
    """Says what is wrong with the path of a log, if anything is.

    **Raises:** `LogError` when nothing is there, or no ordinary file; for a folder it says what to type for the files
    in it.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise LogError(f"{path}: is a folder: name {_logs_in(path)}")
    except FileNotFoundError:
        raise LogError(f"{path}: no such file") from None
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        # A pipe would be waited for, and a device may never end.
        raise LogError(f"{path}: is no ordinary file: write the log to a file first")


def _logs_in(folder: pathlib.Path) -> str:
    """The files of a folder that look like logs, as a shell takes them."""
    found = collections.defaultdict(list)
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() in _ENDINGS and file.is_file():
            found[file.suffix].append(file)
    if not found:
        return "a log file in it"
    kinds = sorted(found, key=lambda ending: -len(found[ending]))
    words = [
        f"{shlex.quote(str(folder))}/*{kind} ({len(found[kind])} files)"
        if len(found[kind]) > 1
        else shlex.quote(str(found[kind][0]))
        for kind in kinds[:_NAMED]
    ]
    return f"log files in it, such as {' or '.join(words)}"
