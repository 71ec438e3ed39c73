"""A long array of a GGUF header, kept as raw bytes until somebody asks for its elements."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

_U64 = struct.Struct("<Q")

NUMBER_FORMATS: dict[str, str] = {
    "uint8": "B",
    "int8": "b",
    "uint16": "H",
    "int16": "h",
    "uint32": "I",
    "int32": "i",
    "float32": "f",
    "bool": "?",
    "uint64": "Q",
    "int64": "q",
    "float64": "d",
}
"""GGUF element type to ``struct`` letter; strings are handled apart."""

Element = int | float | bool | str


class LazyArray:
    """``len(array)`` elements of one GGUF type in their encoded form.

    A vocabulary has 262144 strings and as many scores and types; one bytes object instead of a
    million Python objects is what makes reading a header cheap. The bytes were checked when they
    were read, so ``decode`` cannot fail.

    Args:
        element_type: the GGUF name of the type, such as ``"string"`` or ``"float32"``.
        count: number of elements.
        raw: the elements as they lie in the file. Strings are a little-endian 64-bit length
            followed by that many bytes of UTF-8; numbers are little-endian and packed.
    """

    __slots__ = ("_count", "_raw", "element_type")

    def __init__(self, element_type: str, count: int, raw: bytes) -> None:
        self.element_type = element_type
        self._count = count
        self._raw = raw

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"LazyArray({self.element_type!r}, {self._count})"

    def raw_strings(self) -> Iterator[bytes]:
        """The elements of a string array as undecoded UTF-8, one at a time.

        Raises:
            TypeError: the array does not hold strings.
        """
        if self.element_type != "string":
            raise TypeError(f"an array of {self.element_type} has no strings")
        raw, unpack, pos = self._raw, _U64.unpack_from, 0
        for _ in range(self._count):
            start = pos + 8
            pos = start + unpack(raw, pos)[0]
            yield raw[start:pos]

    def decode(self) -> tuple[Element, ...]:
        """All elements as Python values; bytes that are not UTF-8 become U+FFFD."""
        if self.element_type == "string":
            return tuple(item.decode("utf-8", "replace") for item in self.raw_strings())
        return unpack_numbers(self.element_type, self._count, self._raw)

    def digest(self) -> str:
        """SHA-256 of the encoded elements, in hex: equal digests mean equal arrays."""
        return hashlib.sha256(self._raw).hexdigest()

    def has_duplicates(self) -> bool:
        """Whether two strings of the array are equal. Takes one short-lived set of all strings.

        Raises:
            TypeError: the array does not hold strings.
        """
        return len(set(self.raw_strings())) != self._count


def unpack_numbers(element_type: str, count: int, raw: bytes) -> tuple[Element, ...]:
    """``count`` packed little-endian numbers.

    Args:
        element_type: a key of `NUMBER_FORMATS`.
        count: number of elements.
        raw: exactly ``count`` elements.
    """
    if element_type == "bool":
        # A damaged file can hold any byte here; llama.cpp takes every non-zero one as true.
        return tuple(byte != 0 for byte in raw)
    return struct.unpack(f"<{count}{NUMBER_FORMATS[element_type]}", raw)
