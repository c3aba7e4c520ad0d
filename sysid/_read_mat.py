"""MAT files, of version 5 and of version 7.3 (which is HDF5)."""

import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from sysid._errors import LogError
from sysid._mat5 import BrokenMatError, leaves
from sysid._options import Options
from sysid._table import Column, Table, split_brackets

_HDF5 = b"\x89HDF\r\n\x1a\n"
_LARGEST = 1 << 29
_RATIO = 200


def read_mat(path: pathlib.Path, options: Options) -> Table:
    """Every variable that is a vector of the length most vectors have, and every number, which is a condition.

    Fields of structures are named `structure.field`; a Simulink-like structure of `time` and `signals.values` is read
    by its field names. A table object holds no plain numbers: save its columns as variables.

    **Raises:** `LogError` when the file is broken or holds no vectors.
    """
    del options
    with path.open("rb") as file:
        start = file.read(1024)
    found = list(_leaves_of_hdf5(path) if _HDF5 in start[:8] or _HDF5 in start[512:520] else _leaves_of_v5(path))
    vectors = [(name, array) for name, array in found if array.size > 1]
    if not vectors:
        raise LogError(f"{path.name}: holds no vectors of numbers; save the columns of the log as variables")
    lengths = [len(array) for _, array in vectors]
    rows = max(set(lengths), key=lambda length: (lengths.count(length), length))
    columns = []
    for name, array in vectors:
        if len(array) == rows:
            header, unit = split_brackets(name)
            whole = bool(np.all(array == np.round(array)))
            columns.append(Column(header, array, unit, whole=whole))
    conditions = {name: float(array[0]) for name, array in found if array.size == 1 and np.isfinite(array[0])}
    return Table(path.name, tuple(columns), conditions)


def _numbers(array: Any) -> Any:
    """A real numeric array as columns of float64, shape `(rows, columns)`; None for anything else."""
    if array.dtype.kind not in "fiub" or array.ndim > 2 or array.size == 0:
        return None
    table = np.atleast_2d(np.asarray(array, dtype=np.float64))
    return table.T if table.shape[0] == 1 else table


def _split(name: str, array: Any) -> Iterator[tuple[str, Any]]:
    table = _numbers(array)
    if table is None:
        return
    for index in range(table.shape[1]):
        label = name if table.shape[1] == 1 else f"{name}_{index + 1}"
        yield label, np.ascontiguousarray(table[:, index])


def _leaves_of_v5(path: pathlib.Path) -> Iterator[tuple[str, Any]]:
    try:
        for name, array in leaves(path.read_bytes()):
            if name and not name.startswith("__"):
                yield from _split(name, array)
    except BrokenMatError as error:
        raise LogError(f"{path.name}: not readable as a MAT file: {error}") from None


def _leaves_of_hdf5(path: pathlib.Path) -> Iterator[tuple[str, Any]]:
    try:
        import h5py
    except ImportError:
        raise LogError(
            f"{path.name}: a MAT file of version 7.3 needs h5py: pip install 'jaxmotor[mat]', or save it with '-v7'"
        ) from None
    found: list[tuple[str, Any]] = []
    room = max(_LARGEST, _RATIO * path.stat().st_size)

    def visit(name: str, item: Any) -> None:
        kind = item.attrs.get("MATLAB_class", b"")
        if not isinstance(item, h5py.Dataset) or name.startswith("#") or kind in (b"char", b"cell"):
            return
        if item.external or item.is_virtual:
            raise LogError(f"{path.name}: '{name}' lies in another file: save the log in one file")
        nonlocal room
        room -= item.size * item.dtype.itemsize
        if room < 0:
            raise LogError(f"{path.name}: '{name}' states a size out of all proportion to the file")
        # HDF5 stores MATLAB's arrays transposed.
        found.extend(_split(name.replace("/", "."), np.asarray(item[()]).T))

    try:
        with h5py.File(path, "r") as file:
            file.visititems(visit)
    except LogError:
        raise
    except Exception as error:  # h5py passes on whatever the bytes make of themselves
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise LogError(f"{path.name}: not readable as a MAT file: {reason}") from None
    yield from found
