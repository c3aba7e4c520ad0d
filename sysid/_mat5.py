"""MAT files of version 5, read without trust: every length is checked against what is there.

After MathWorks, "MAT-File Format", level 5. Numbers and structures of numbers are read; cells, text, objects, sparse
and complex arrays are passed over.
"""

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MATRIX, _COMPRESSED = 14, 15
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_STRUCTURE, _NUMBERS, _COMPLEX = 2, range(6, 16), 0x800
_DEEPEST = 16
_LARGEST = 1 << 29
_RATIO = 200


class BrokenMatError(ValueError):
    """The bytes are no MAT file of version 5; one clause says why."""


def leaves(data: bytes) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every real numeric array in the file with its name, `structure.field` inside structures.

    **Raises:** `BrokenMatError`.
    """
    mark = data[126:128]
    if len(data) < 128 or mark not in (b"IM", b"MI"):
        raise BrokenMatError("it is no MAT file of version 5 or 7.3; save it with '-v7'")
    reader = _Reader("<" if mark == b"IM" else ">", max(_LARGEST, _RATIO * len(data)))
    for kind, content in reader.elements(memoryview(data)[128:]):
        if kind == _COMPRESSED:
            kind, content = next(reader.elements(reader.inflated(content)), (0, content))
        if kind == _MATRIX:
            yield from reader.matrix(content, "", 0)


class _Reader:
    def __init__(self, order: str, room: int) -> None:
        self.order = order
        self.room = room

    def elements(self, data: memoryview) -> Iterator[tuple[int, memoryview]]:
        """Type and content of the elements that follow one another."""
        place = 0
        while place + 8 <= len(data):
            (kind,) = struct.unpack_from(f"{self.order}I", data, place)
            if kind >> 16:  # a small element: four bytes of tag, four of content
                size, kind, begin, end = kind >> 16, kind & 0xFFFF, place + 4, place + 8
                if size > 4:
                    raise BrokenMatError(f"an element of {size} bytes stands where there is room for 4")
            else:
                (size,) = struct.unpack_from(f"{self.order}I", data, place + 4)
                begin = place + 8
                # Compressed elements alone are not filled up to a multiple of eight bytes.
                end = begin + size + (0 if kind == _COMPRESSED else -size % 8)
            if begin + size > len(data):
                raise BrokenMatError("it is cut short, or an element states a wrong length")
            yield kind, data[begin : begin + size]
            place = end

    def inflated(self, packed: memoryview) -> memoryview:
        """The content of a compressed element, as long as it stays in proportion to the file."""
        opened = zlib.decompressobj()
        try:
            content = opened.decompress(packed, self.room)
        except zlib.error:
            raise BrokenMatError("a compressed variable is damaged") from None
        if opened.unconsumed_tail:
            raise BrokenMatError("a compressed variable is out of all proportion to the file")
        if not opened.eof:
            raise BrokenMatError("a compressed variable is cut short")
        self.room -= len(content)
        return memoryview(content)

    def matrix(self, data: memoryview, name: str, depth: int) -> Iterator[tuple[str, NDArray[Any]]]:
        """The arrays of one matrix element; `name` is that of a field, which has none of its own."""
        if not data:
            return
        parts = self.elements(data)
        flags, shape, label = (next(parts, (0, memoryview(b"")))[1] for _ in range(3))
        if len(flags) < 8 or len(shape) % 4:
            raise BrokenMatError("a variable without its flags and sizes")
        (word,) = struct.unpack_from(f"{self.order}I", flags)
        sizes = struct.unpack(f"{self.order}{len(shape) // 4}i", shape)
        kind, name = word & 0xFF, name or bytes(label).decode("utf-8", "replace").rstrip("\0")
        if kind == _STRUCTURE and sizes == (1, 1):
            yield from self._structure(parts, name, depth)
        elif kind in _NUMBERS and not word & _COMPLEX:
            yield name, self._array(parts, sizes, name)

    def _structure(self, parts: Iterator[tuple[int, memoryview]], name: str, depth: int) -> Any:
        if depth == _DEEPEST:
            raise BrokenMatError("its structures are nested too deeply")
        width, words = (bytes(next(parts, (0, memoryview(b"")))[1]) for _ in range(2))
        if len(width) != 4:
            raise BrokenMatError(f"the structure '{name}' does not say how long its names are")
        (length,) = struct.unpack(f"{self.order}i", width)
        if length < 1 or len(words) % length:
            raise BrokenMatError(f"the names in the structure '{name}' are damaged")
        for begin in range(0, len(words), length):
            field = words[begin : begin + length].split(b"\0")[0].decode("utf-8", "replace")
            kind, content = next(parts, (0, memoryview(b"")))
            if kind != _MATRIX:
                raise BrokenMatError(f"the field '{field}' of the structure '{name}' is missing")
            yield from self.matrix(content, f"{name}.{field}", depth + 1)

    def _array(self, parts: Iterator[tuple[int, memoryview]], sizes: tuple[int, ...], name: str) -> NDArray[Any]:
        kind, content = next(parts, (9, memoryview(b"")))
        if kind not in _STORED:
            raise BrokenMatError(f"the variable '{name}' holds numbers of an unknown kind")
        stored = np.dtype(self.order + _STORED[kind])
        if len(content) % stored.itemsize or min(sizes, default=-1) < 0:
            raise BrokenMatError(f"the variable '{name}' is damaged")
        values = np.frombuffer(content, dtype=stored)
        if math.prod(sizes) != len(values):
            raise BrokenMatError(f"the variable '{name}' states {math.prod(sizes)} numbers and holds {len(values)}")
        return values.astype(_STORED[kind]).reshape(sizes, order="F")
