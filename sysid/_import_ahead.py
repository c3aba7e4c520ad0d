"""Modules imported beside the compiler, which leaves Python alone while it works."""

import importlib
import threading
from collections.abc import Sequence


def import_ahead(modules: Sequence[str]) -> None:
    """Begin to import `modules`, which are wanted later; who imports one of them meanwhile waits for it."""

    def load() -> None:
        for name in modules:
            importlib.import_module(name)

    threading.Thread(target=load, name="import ahead").start()
