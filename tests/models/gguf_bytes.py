"""A tiny GGUF writer for tests: metadata and tensors to bytes, with room for deliberate damage.

Written from the format's description and kept apart from the code under test, so that a mistake
shared by both is unlikely.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# id, struct letter
_TYPES = {
    "u8": (0, "B"), "i8": (1, "b"), "u16": (2, "H"), "i16": (3, "h"), "u32": (4, "I"),
    "i32": (5, "i"), "f32": (6, "f"), "bool": (7, "?"), "u64": (10, "Q"), "i64": (11, "q"),
    "f64": (12, "d"),
}  # fmt: skip
_STRING, _ARRAY = 8, 9
F32, F16, Q4_0, Q8_K, I32, BF16 = 0, 1, 2, 15, 26, 30
_BLOCKS = {F32: (1, 4), F16: (1, 2), Q4_0: (32, 18), Q8_K: (256, 292), I32: (1, 4), BF16: (1, 2)}


@dataclass(frozen=True)
class Typed:
    """A number of a given GGUF type, or a list of them."""

    kind: str
    value: object


@dataclass
class Tensor:
    """One tensor; its data is zeros unless given."""

    shape: Sequence[int]
    type_id: int = F32
    data: bytes | None = None
    offset: int | None = None
    """Instead of the right one."""

    def nbytes(self) -> int:
        block, size = _BLOCKS[self.type_id]
        count = 1
        for length in self.shape:
            count *= length
        return count // block * size


@dataclass
class Gguf:
    """The parts of a file, to be changed by a test before `to_bytes` is called."""

    metadata: dict[str, object] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def to_bytes(
        self, *, version: int = 3, endian: str = "<", keys: int | None = None,
        tensor_count: int | None = None, alignment: int = 32,
    ) -> bytes:  # fmt: skip
        """The file; ``keys`` and ``tensor_count`` replace the true counts."""
        counts = (
            len(self.tensors) if tensor_count is None else tensor_count,
            len(self.metadata) if keys is None else keys,
        )
        out = b"GGUF" + struct.pack(f"{endian}IQQ", version, *counts) + pairs(self.metadata, endian)
        data = b""
        for name, tensor in self.tensors.items():
            offset = len(data) if tensor.offset is None else tensor.offset
            out += _string(name.encode(), endian) + struct.pack(f"{endian}I", len(tensor.shape))
            out += struct.pack(f"{endian}{len(tensor.shape)}Q", *tensor.shape)
            out += struct.pack(f"{endian}IQ", tensor.type_id, offset)
            body = tensor.data if tensor.data is not None else bytes(tensor.nbytes())
            data += body + bytes(-len(body) % alignment)
        return out + bytes(-len(out) % alignment) + data


def pairs(metadata: Mapping[str, object], endian: str = "<") -> bytes:
    """The key-value section."""
    out = b""
    for key, value in metadata.items():
        out += _string(key.encode(), endian) + _value(value, endian)
    return out


def _string(raw: bytes, endian: str) -> bytes:
    return struct.pack(f"{endian}Q", len(raw)) + raw


def _value(value: object, endian: str) -> bytes:
    if isinstance(value, str):
        return struct.pack(f"{endian}I", _STRING) + _string(value.encode(), endian)
    if isinstance(value, list):
        value = Typed(_kind(value[0]) if value else "u32", value)
    if not isinstance(value, Typed):
        value = Typed(_kind(value), value)
    if isinstance(value.value, list):
        items = value.value
        if value.kind == "str":
            raw = [item if isinstance(item, bytes) else str(item).encode() for item in items]
            body = b"".join(_string(item, endian) for item in raw)
            return struct.pack(f"{endian}IIQ", _ARRAY, _STRING, len(items)) + body
        number, letter = _TYPES[value.kind]
        head = struct.pack(f"{endian}IIQ", _ARRAY, number, len(items))
        return head + struct.pack(f"{endian}{len(items)}{letter}", *items)
    number, letter = _TYPES[value.kind]
    return struct.pack(f"{endian}I{letter}", number, value.value)


def _kind(value: object) -> str:
    if isinstance(value, (str, bytes)):
        return "str"
    if isinstance(value, bool):
        return "bool"
    return "f32" if isinstance(value, float) else "u32"
