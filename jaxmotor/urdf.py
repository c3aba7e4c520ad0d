"""Actuators in robot files: RaiSim's `<actuator>` elements in URDF.

group, params = urdf.load("robot.urdf")
"""

import os
import pathlib

from ._description import RobotDescription
from ._group import ActuatorGroup, GroupParams
from ._group_build import build_group
from ._urdf_read import read_robot
from ._urdf_search import search_folders
from ._urdf_write import dumps as dumps
from ._xml_document import XmlDocument


def load(path: str | os.PathLike[str]) -> tuple[ActuatorGroup, GroupParams]:
    """The actuators of a robot file as a group and its params.

    Joints are the revolute, continuous and prismatic ones in the order of the file, actuators in the order of their
    elements. Linked actuator files are searched in the file's folder, in `actuator` and `actuators` there, in the
    folder above, and in `actuators` there. A joint's `<dynamics rotor_inertia>` is what all motors reflect onto it.

    **Raises:** `ValueError` naming the file, the row and the reason.
    """
    return build_group(describe(path))


def loads(text: str, search_dir: str | os.PathLike[str] | None = None) -> tuple[ActuatorGroup, GroupParams]:
    """As `load`, for the text of a robot file; `search_dir` takes the place of the file's own folder."""
    return build_group(describes(text, search_dir))


def describe(path: str | os.PathLike[str]) -> RobotDescription:
    """What the file says about its joints and actuators, as plain numbers.

    **Raises:** as `load`.
    """
    file = pathlib.Path(path)
    if file.exists() and not file.is_file():
        raise ValueError(f"{path}: is no ordinary file: name a robot file")
    return _described(XmlDocument(file.read_bytes(), str(path)), search_folders(file.absolute().parent))


def describes(text: str, search_dir: str | os.PathLike[str] | None = None) -> RobotDescription:
    """As `describe`, for the text of a robot file."""
    folders = () if search_dir is None else search_folders(pathlib.Path(search_dir).absolute())
    return _described(XmlDocument(text, "<string>"), folders)


def _described(document: XmlDocument, folders: tuple[pathlib.Path, ...]) -> RobotDescription:
    robot = read_robot(document, folders)
    robot.check()
    return robot
