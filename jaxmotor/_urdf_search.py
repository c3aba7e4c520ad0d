"""Where a linked actuator file may lie, and nowhere else.

The order is that of RaiSim's sensor and actuator files ("Actuators", "Defining actuators in a URDF"). A robot file may
come from a stranger, so a link names a file inside those folders: no absolute path, no `..`, and no symbolic link that
leads out of them.
"""

import pathlib


def search_folders(folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    """The folders that are searched for a robot file lying in `folder`, in order."""
    return (folder, folder / "actuator", folder / "actuators", folder / "..", folder / ".." / "actuators")


def find_file(file: str, folders: tuple[pathlib.Path, ...]) -> pathlib.Path:
    """The first such file. **Raises:** `ValueError` saying why there is none."""
    _refuse_escape(file)
    for folder in folders:
        candidate = folder / file
        if candidate.is_file():
            resolved = candidate.resolve()
            if not any(resolved.is_relative_to(allowed.resolve()) for allowed in folders):
                raise ValueError(f"the actuator file {file!r} is a link that leads out of the search folders")
            return candidate
    searched = ", ".join(str(folder) for folder in folders) or "no folder: give search_dir"
    raise ValueError(f"the actuator file {file!r} is missing; searched: {searched}")


def _refuse_escape(file: str) -> None:
    for path in (pathlib.PurePosixPath(file), pathlib.PureWindowsPath(file)):
        if path.anchor or ".." in path.parts:
            raise ValueError(
                f"the actuator file {file!r} must lie inside the search folders: no absolute path, no '..'"
            )
