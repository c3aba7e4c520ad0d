"""Actuators in robot files: RaiSim's `<actuator>` elements in URDF."""

import os
import pathlib

from ._description import RobotDescription
from ._urdf_read import read_robot
from ._urdf_search import search_folders
from ._xml_document import XmlDocument


def describe(path: str | os.PathLike[str]) -> RobotDescription:
    """What the file says about its joints and actuators, as plain numbers.

    **Raises:** `ValueError` naming the file, the row and the reason.
    """
    file = pathlib.Path(path)
    return _described(XmlDocument(file.read_bytes(), str(path)), search_folders(file.absolute().parent))


def describes(text: str, search_dir: str | os.PathLike[str] | None = None) -> RobotDescription:
    """As `describe`, for the text of a robot file; `search_dir` takes the place of the file's own folder."""
    folders = () if search_dir is None else search_folders(pathlib.Path(search_dir).absolute())
    return _described(XmlDocument(text, "<string>"), folders)


def _described(document: XmlDocument, folders: tuple[pathlib.Path, ...]) -> RobotDescription:
    robot = read_robot(document, folders)
    robot.check()
    return robot
