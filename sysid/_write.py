"""Files that are either whole or not there."""

import contextlib
import os
import pathlib
import secrets


class OutputError(ValueError):
    """A result cannot be written; the one-line message says where and what to do."""


def write_whole(path: pathlib.Path, content: bytes | str) -> None:
    """Replace `path` by `content` in one step: a reader, or a crash, sees the old file or the new one.

    The content goes to a temporary file in the same folder, is forced to the disk and then renamed.

    **Raises:** `OutputError` when the folder cannot be written; nothing is left behind then.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}; choose another --out") from None


def refuse_unwritable(folder: pathlib.Path) -> None:
    """Say now, not after a long fit, that the folder could not take the result. Nothing is created.

    **Raises:** `OutputError`.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"--out {folder}: is a file: name a folder")
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not nearest.is_dir():
        raise OutputError(f"--out {folder}: {nearest} is a file, so no folder can be made in it")
    # The permission bits do not tell of read-only mounts or of quotas, so a file is really made.
    probe = nearest / f".{secrets.token_hex(6)}.part"
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise OutputError(
            f"--out {folder}: cannot be written: {error.strerror or error}; choose another folder"
        ) from None


def make_folder(folder: pathlib.Path) -> None:
    """The folder, with its parents.

    **Raises:** `OutputError`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"--out {folder}: cannot be made: {error.strerror or error}; choose another folder") from None
