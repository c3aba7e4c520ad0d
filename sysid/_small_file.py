"""Files of words that a person or this program wrote: small, and ordinary."""

import pathlib
import stat

from ._errors import ModelError


def size_of(path: pathlib.Path, kind: str) -> int:
    """The size [bytes] of an ordinary file; `kind` says in messages what it should be.

    **Raises:** `ModelError` for a file that is missing, a folder, or a pipe or device without an end.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file; name {kind}") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(found.st_mode):
        raise ModelError(f"{path}: is a folder: name {kind} in it")
    if not stat.S_ISREG(found.st_mode):
        raise ModelError(f"{path}: is no ordinary file: name {kind}")
    return found.st_size


def text_of(path: pathlib.Path, largest: int, kind: str) -> str:
    """The text of a file of at most `largest` bytes; `kind` says in messages what it should be.

    **Raises:** `ModelError` for a file that is missing, too large, not UTF-8, or a pipe or device without an end.
    """
    size = size_of(path, kind)
    if size > largest:
        raise ModelError(f"{path}: {size} bytes are too many for {kind}: at most {largest}")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: cannot be read: it is no text in UTF-8; name {kind}") from None
