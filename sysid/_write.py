"""Files that are either whole or not there."""

import contextlib
import os
import pathlib
import secrets
import signal
from collections.abc import Iterator, Mapping


class OutputError(ValueError):
    """A result cannot be written; the one-line message says where and what to do."""


def write_whole(path: pathlib.Path, content: bytes | str) -> None:
    """Replace `path` by `content` in one step: a reader, or a crash, sees the old file or the new one.

    **Raises:** `OutputError` when the folder cannot be written; nothing is left behind then.
    """
    write_together(path.parent, {path.name: content})


def write_together(folder: pathlib.Path, contents: Mapping[str, bytes | str]) -> None:
    """Replace several files of a folder as one: what fails or is stopped before the end leaves the old ones.

    All contents are on the disk before the first is renamed; the renaming is not interrupted by signals that can be
    held back, and two programs that write into one folder do it one after the other.

    **Raises:** `OutputError` when the folder cannot be written; nothing is left behind then.
    """
    staged: list[tuple[pathlib.Path, pathlib.Path]] = []
    path = folder
    try:
        for name, content in contents.items():
            path = folder / name
            staged.append((path.with_name(f".{name}.{secrets.token_hex(4)}.part"), path))
            with staged[-1][0].open("xb") as file:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
        with _alone(folder), _uninterrupted():
            for temporary, path in staged:
                temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}; choose another --out") from None
    finally:
        for temporary, _ in staged:
            with contextlib.suppress(OSError):
                temporary.unlink()


@contextlib.contextmanager
def _alone(folder: pathlib.Path) -> Iterator[None]:
    """While no other program writes its results into the folder; at once where there are no such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems lock no folders
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Signals that ask a program to end wait until the block has."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
