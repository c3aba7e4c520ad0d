"""MAT files, of version 5 and of version 7.3 (which is HDF5)."""

import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from sysid._errors import LogError
from sysid._options import Options
from sysid._table import Column, Table, split_brackets

_HDF5 = b"\x89HDF\r\n\x1a\n"


def read_mat(path: pathlib.Path, options: Options) -> Table:
    """Every variable that is a vector of the length most vectors have, and every number, which is a condition.

    Fields of structures are named `structure.field`; a Simulink-like structure of `time` and `signals.values` is read
    by its field names. A table object holds no plain numbers: save its columns as variables.

    **Raises:** `LogError` when the file is broken or holds no vectors.
    """
    del options
    with path.open("rb") as file:
        start = file.read(1024)
    leaves = list(_leaves_of_hdf5(path) if _HDF5 in start[:8] or _HDF5 in start[512:520] else _leaves_of_v5(path))
    vectors = [(name, array) for name, array in leaves if array.size > 1]
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
    conditions = {name: float(array[0]) for name, array in leaves if array.size == 1 and np.isfinite(array[0])}
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
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path, struct_as_record=True, squeeze_me=False, chars_as_strings=True)
    except (MatReadError, ValueError, TypeError, NotImplementedError, OSError) as error:
        raise LogError(f"{path.name}: not readable as a MAT file: {str(error).splitlines()[0]}") from None
    for name, value in content.items():
        if not name.startswith("__"):
            yield from _leaves_of_struct(name, value)


def _leaves_of_struct(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, np.ndarray):
        return
    if value.dtype.names is not None and value.size == 1:
        for field in value.dtype.names:
            yield from _leaves_of_struct(f"{name}.{field}", value.flat[0][field])
    elif value.dtype.names is None:
        yield from _split(name, value)


def _leaves_of_hdf5(path: pathlib.Path) -> Iterator[tuple[str, Any]]:
    try:
        import h5py
    except ImportError:
        raise LogError(
            f"{path.name}: a MAT file of version 7.3 needs h5py: pip install h5py, or save it with '-v7'"
        ) from None
    try:
        with h5py.File(path, "r") as file:
            found: list[tuple[str, Any]] = []

            def visit(name: str, item: Any) -> None:
                kind = item.attrs.get("MATLAB_class", b"")
                if isinstance(item, h5py.Dataset) and not name.startswith("#") and kind not in (b"char", b"cell"):
                    # HDF5 stores MATLAB's arrays transposed.
                    found.extend(_split(name.replace("/", "."), np.asarray(item[()]).T))

            file.visititems(visit)
    except OSError as error:
        raise LogError(f"{path.name}: not readable as a MAT file: {str(error).splitlines()[0]}") from None
    yield from found
