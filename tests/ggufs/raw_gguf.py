"""GGUF files written piece by piece: larger than memory, with a vocabulary copied as bytes.

gguf-py's reader makes a Python object of every token and every merge, which takes a minute for
Gemma's 262144 and 514906. Here the bytes of a key go from one file to another as they are.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType, GGUFWriter

from tests.ggufs.architecture import Tensor

ALIGNMENT = 32
# Bytes of magic, version, number of tensors, number of keys.
HEADER = struct.Struct("<4sIQQ")
_SIZES = {
    GGUFValueType.UINT8: 1,
    GGUFValueType.INT8: 1,
    GGUFValueType.BOOL: 1,
    GGUFValueType.UINT16: 2,
    GGUFValueType.INT16: 2,
    GGUFValueType.UINT32: 4,
    GGUFValueType.INT32: 4,
    GGUFValueType.FLOAT32: 4,
    GGUFValueType.UINT64: 8,
    GGUFValueType.INT64: 8,
    GGUFValueType.FLOAT64: 8,
}


@dataclass(frozen=True)
class RawVocabulary:
    """The tokenizer block of a file as bytes, and the ids of its tokens."""

    keys: tuple[bytes, ...]
    ids: dict[str, int]


@dataclass(frozen=True)
class Part:
    """A tensor of a file, its type, and a source of its bytes in chunks."""

    tensor: Tensor
    kind: GGMLQuantizationType
    chunks: Callable[[], Iterable[bytes]]

    @property
    def size(self) -> int:
        """Bytes in the file."""
        block, block_bytes = GGML_QUANT_SIZES[self.kind]
        count = 1
        for dim in self.tensor.shape:
            count *= dim
        return count // block * block_bytes


def read_vocabulary(path: Path, leave_out: tuple[str, ...] = ()) -> RawVocabulary:
    """Every ``tokenizer.`` key of a GGUF file but those in ``leave_out``."""
    keys: list[bytes] = []
    ids: dict[str, int] = {}
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        magic, version, _, count = HEADER.unpack_from(data)
        if magic != b"GGUF" or version != 3:
            raise ValueError(f"{path} is not a GGUF file of version 3")
        place = HEADER.size
        for _ in range(count):
            start = place
            name, place = _string(data, place)
            kind, place = GGUFValueType(struct.unpack_from("<I", data, place)[0]), place + 4
            value = place
            place = _end_of(data, kind, place)
            if name == b"tokenizer.ggml.tokens":
                ids = {text.decode(): index for index, text in enumerate(_strings(data, value))}
            if name.startswith(b"tokenizer.") and name.decode() not in leave_out:
                keys.append(data[start:place])
    if not ids:
        raise ValueError(f"{path} has no vocabulary")
    return RawVocabulary(tuple(keys), ids)


def write_raw(path: Path, writer: GGUFWriter, raw: tuple[bytes, ...], parts: list[Part]) -> None:
    """Write ``writer``'s keys, the ``raw`` ones and the tensors; the file appears when whole."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            file.write(raw_header(writer, raw, parts))
            for part in parts:
                written = sum(file.write(chunk) for chunk in part.chunks())
                if written != part.size:
                    raise ValueError(f"{part.tensor.name}: {written} bytes, not {part.size}")
                file.write(bytes(_padded(written) - written))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def raw_header(writer: GGUFWriter, raw: tuple[bytes, ...], parts: list[Part]) -> bytes:
    """All that stands before the tensors' data: keys and tensor table, padded."""
    count, keys = _keys_of(writer)
    pieces = [HEADER.pack(b"GGUF", 3, len(parts), count + len(raw)), keys, *raw]
    offset = 0
    for part in parts:
        pieces.append(_info(part, offset))
        offset += _padded(part.size)
    header = b"".join(pieces)
    return header + bytes(-len(header) % ALIGNMENT)


def raw_length(header: bytes, parts: list[Part]) -> int:
    """Bytes of the whole file with such a header."""
    return len(header) + sum(_padded(part.size) for part in parts)


def _keys_of(writer: GGUFWriter) -> tuple[int, bytes]:
    """Number and bytes of the keys added to a writer that was opened on no file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "keys"
        writer.write_header_to_file(path)
        writer.write_kv_data_to_file()
        writer.close()
        data = path.read_bytes()
    return HEADER.unpack_from(data)[3], data[HEADER.size :]


def _info(part: Part, offset: int) -> bytes:
    name, dims = part.tensor.name.encode(), part.tensor.shape[::-1]
    return b"".join(
        [
            struct.pack("<Q", len(name)),
            name,
            struct.pack(f"<I{len(dims)}Q", len(dims), *dims),
            struct.pack("<IQ", part.kind, offset),
        ]
    )


def _padded(size: int) -> int:
    return size + -size % ALIGNMENT


def _string(data: mmap.mmap, place: int) -> tuple[bytes, int]:
    """A length-prefixed string and the place behind it."""
    start = place + 8
    end = start + int.from_bytes(data[place:start], "little")
    return data[start:end], end


def _strings(data: mmap.mmap, place: int) -> Iterator[bytes]:
    """The strings of an array value that begins at ``place``."""
    _, count = struct.unpack_from("<IQ", data, place)
    place += 12
    for _ in range(count):
        text, place = _string(data, place)
        yield text


def _end_of(data: mmap.mmap, kind: GGUFValueType, place: int) -> int:
    """The place behind a value."""
    if kind == GGUFValueType.STRING:
        return _string(data, place)[1]
    if kind != GGUFValueType.ARRAY:
        return place + _SIZES[kind]
    item, count = struct.unpack_from("<IQ", data, place)
    place += 12
    if item != GGUFValueType.STRING:
        return int(place + count * _SIZES[GGUFValueType(item)])
    for _ in range(count):
        place += 8 + int.from_bytes(data[place : place + 8], "little")
    return place
