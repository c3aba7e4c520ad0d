"""Files of words that a person or this program wrote: small, and ordinary."""

import pathlib
import stat

from ._errors import ModelError


def text_of(path: pathlib.Path, largest: int, kind: str) -> str:
    """The text of a file of at most `largest` bytes; `kind` says in messages what it should be.

    **Raises:** `ModelError` for a file that is missing, too large, not UTF-8, or a pipe or device without an end.
    """
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise ModelError(f"{path}: is a folder: name {kind} in it")
        if not stat.S_ISREG(found.st_mode):
            raise ModelError(f"{path}: is no ordinary file: name {kind}")
        if found.st_size > largest:
            raise ModelError(f"{path}: {found.st_size} bytes are too many for {kind}: at most {largest}")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file; name {kind}") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: cannot be read: it is no text in UTF-8; name {kind}") from None
