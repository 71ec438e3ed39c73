"""The walk over a GGUF header: from bytes to keys, values and tensor entries.

Layout after llama.cpp's ``ggml/src/gguf.cpp`` (``gguf_init_from_reader``), versions 2 and 3,
little-endian. Every count is held against the file's size before anything is read or built, so a
hostile header costs neither memory nor time.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gemma_local.models.errors import BadModelFile
from gemma_local.models.foreign_file import PEEK_BYTES, describe_foreign_file
from gemma_local.models.ggml_types import GGML_TYPES
from gemma_local.models.lazy_array import NUMBER_FORMATS, Element, LazyArray, unpack_numbers

Value = int | float | bool | str | tuple[Element, ...] | LazyArray
"""One metadata value. Arrays of up to `EAGER_ELEMENTS` elements are tuples, longer ones lazy."""

EAGER_ELEMENTS = 4096
MAX_HEADER_BYTES = 256 << 20
"""No header is near this: Gemma 4's, with its 262144-entry vocabulary, is 16 MB."""
MAX_STRINGS = 1 << 24
"""Strings in all arrays of a header together; each costs one step of a Python loop."""
MAX_KEYS = 1 << 16
MAX_NAME_BYTES = 64
"""``GGML_MAX_NAME``; llama.cpp takes only shorter tensor names."""
MAX_DIMENSIONS = 4

_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")
_NUMBER_IDS: dict[int, str] = {
    0: "uint8",
    1: "int8",
    2: "uint16",
    3: "int16",
    4: "uint32",
    5: "int32",
    6: "float32",
    7: "bool",
    10: "uint64",
    11: "int64",
    12: "float64",
}
_STRING_ID, _ARRAY_ID = 8, 9


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One entry of the tensor table."""

    name: str
    shape: tuple[int, ...]
    """ggml's ``ne``: the first number is the length of a contiguous row."""
    type_id: int
    type_name: str
    offset: int
    """Bytes from the file's `GgufFile.data_offset`."""
    nbytes: int

    @property
    def elements(self) -> int:
        """Number of weights."""
        total = 1
        for length in self.shape:
            total *= length
        return total


@contextmanager
def open_header(path: Path) -> Iterator[HeaderReader]:
    """Open a regular file and stand at its first byte.

    Raises:
        BadModelFile: there is no such file, it is not a regular file, it is empty, or this user
            may not read it.
    """
    try:
        # Before opening: opening a named pipe would wait for ever.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise BadModelFile(f"{path} is a folder. Give the .gguf file inside it.")
        if not stat.S_ISREG(mode):
            raise BadModelFile(f"{path} is a device or a pipe. Give a .gguf file on disk.")
        file = path.open("rb")
    except PermissionError as error:
        raise BadModelFile(
            f"{path} may not be read by this user. Change its permissions, or copy it to a folder "
            "of your own."
        ) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadModelFile(
            f"{path} does not exist. Check the path, or download the model first."
        ) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadModelFile(
            f"{path} cannot be opened: {reason}. Check the path and the disk."
        ) from error
    with file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise BadModelFile(f"{path} is empty. Download it again.")
        yield HeaderReader(path, file, size)


class HeaderReader:
    """The header's bytes, read as far as the walk over them has come.

    The methods are called in the order of the file: `counts`, `pairs`, `tensors`. All of them
    raise `BadModelFile` where the bytes make no sense or end.
    """

    def __init__(self, path: Path, file: BinaryIO, size: int) -> None:
        self.pos = 0
        """Bytes walked over so far."""
        self.size = size
        """The file's length in bytes."""
        self._path, self._file = path, file
        self._data = bytearray()
        self._strings_left = MAX_STRINGS

    def damaged(self, what: str) -> BadModelFile:
        """The error for a header that contradicts itself."""
        return BadModelFile(f"{self._path} is damaged: {what}. Download it again.")

    def _need(self, end: int) -> bytearray:
        """The buffer, holding at least the file's first ``end`` bytes."""
        data = self._data
        if end <= len(data):
            return data
        if end > self.size:
            raise BadModelFile(
                f"{self._path} is cut short or damaged: its header goes on beyond its "
                f"{self.size} bytes. Resume the download or download it again."
            )
        if end > MAX_HEADER_BYTES:
            raise self.damaged("its header claims to be longer than any model's")
        # Doubling keeps the number of reads small without reading weights of a small header.
        goal = min(max(end, 2 * len(data), 1 << 16), self.size)
        try:
            data += self._file.read(goal - len(data))
        except OSError as error:
            raise BadModelFile(
                f"{self._path} cannot be read: {error.strerror}. Check the disk it lies on."
            ) from error
        if len(data) < end:
            raise BadModelFile(f"{self._path} became shorter while it was read. Try again.")
        return data

    def counts(self) -> tuple[int, int, int]:
        """Version, number of tensors, number of keys; the position is then at the first key."""
        head = bytes(self._need(min(PEEK_BYTES, self.size)))
        if not head.startswith(b"GGUF") and not b"GGUF".startswith(head):
            raise BadModelFile(describe_foreign_file(self._path, head, self.size))
        self.pos = 4
        version = self._u32()
        if version == 1:
            raise BadModelFile(
                f"{self._path} is in GGUF version 1, which llama.cpp no longer reads. Download a "
                "newer conversion of the model."
            )
        if version and version & 0xFFFF == 0:
            raise BadModelFile(
                f"{self._path} was made for big-endian machines and this one is little-endian. "
                "Download the ordinary .gguf file of the model."
            )
        if version > 3:
            raise BadModelFile(
                f"{self._path} is in GGUF version {version}, newer than this program knows (3). "
                "Update the program, or download a conversion in version 3."
            )
        if version == 0:
            raise self.damaged("its format version is 0")
        tensor_count, key_count = self._u64(), self._u64()
        # The shortest key takes 14 bytes, the shortest table entry 33.
        if key_count > min(MAX_KEYS, self.size // 14) or tensor_count > self.size // 33:
            raise self.damaged(
                f"its header claims {key_count} keys and {tensor_count} tensors, more than fit"
            )
        return version, tensor_count, key_count

    def pairs(self, count: int) -> Iterator[tuple[str, Value]]:
        """``count`` keys with their values; stopping early leaves the rest unread."""
        for _ in range(count):
            key = self._string()
            if not key:
                raise self.damaged("its header has a key without a name")
            yield key, self._value(self._u32())

    def tensors(self, count: int, alignment: int) -> dict[str, TensorInfo]:
        """``count`` entries of the tensor table, whose data must follow each other unbroken."""
        found: dict[str, TensorInfo] = {}
        expected = 0
        for _ in range(count):
            tensor = self._tensor()
            if tensor.name in found:
                raise self.damaged(f"its header lists the tensor {tensor.name!r} twice")
            if tensor.offset != expected:
                raise self.damaged(f"the tensor {tensor.name!r} is not where it should be")
            found[tensor.name] = tensor
            expected += -(-tensor.nbytes // alignment) * alignment
        return found

    def _tensor(self) -> TensorInfo:
        name = self._string()
        if len(name.encode("utf-8", "replace")) >= MAX_NAME_BYTES:
            raise self.damaged(f"the name of the tensor {name[:40]!r}... is too long")
        dimensions = self._u32()
        if dimensions > MAX_DIMENSIONS:
            raise self.damaged(f"the tensor {name!r} has {dimensions} dimensions")
        shape = tuple(self._u64() for _ in range(dimensions)) or (1,)
        type_id = self._u32()
        kind = GGML_TYPES.get(type_id)
        if kind is None:
            raise BadModelFile(
                f"{self._path} stores the tensor {name!r} in number format {type_id}, which this "
                "program does not know. Download another quantisation of the model."
            )
        elements = 1
        for length in shape:
            elements *= length
        if not 0 < elements < 1 << 63 or shape[0] % kind.block:
            raise self.damaged(f"the tensor {name!r} has the impossible shape {list(shape)}")
        nbytes = elements // kind.block * kind.size
        return TensorInfo(name, shape, type_id, kind.name, self._u64(), nbytes)

    def _value(self, type_id: int) -> Value:
        if type_id == _STRING_ID:
            return self._string()
        if type_id == _ARRAY_ID:
            return self._array()
        number = _NUMBER_IDS.get(type_id)
        if number is None:
            raise self.damaged(f"its header holds a value of the unknown type {type_id}")
        return unpack_numbers(number, 1, self._take(struct.calcsize(NUMBER_FORMATS[number])))[0]

    def _array(self) -> Value:
        type_id, count = self._u32(), self._u64()
        if type_id == _STRING_ID:
            start = self.pos
            self._skip_strings(count)
            array = LazyArray("string", count, bytes(self._data[start : self.pos]))
            return array.decode() if count <= EAGER_ELEMENTS else array
        number = _NUMBER_IDS.get(type_id)
        if number is None:
            raise self.damaged(f"its header holds an array of the unknown type {type_id}")
        raw = self._take(count * struct.calcsize(NUMBER_FORMATS[number]))
        if count <= EAGER_ELEMENTS:
            return unpack_numbers(number, count, raw)
        return LazyArray(number, count, raw)

    def _skip_strings(self, count: int) -> None:
        if count > self._strings_left or count * 8 > self.size - self.pos:
            raise self.damaged(f"its header claims a list of {count} texts, more than fit")
        self._strings_left -= count
        pos, data, unpack = self.pos, self._data, _U64.unpack_from
        while count:
            try:
                # The only loop over a whole vocabulary: no calls but one, no checks; running off
                # the buffer's end raises, and the step is then repeated with more of the file.
                while count:
                    pos += 8 + unpack(data, pos)[0]
                    count -= 1
            except (struct.error, OverflowError):
                self._need(pos + 8)
        self._need(pos)
        self.pos = pos

    def _take(self, count: int) -> bytes:
        start = self.pos
        data = self._need(start + count)
        self.pos = start + count
        return bytes(data[start : self.pos])

    def _u32(self) -> int:
        value: int = _U32.unpack(self._take(4))[0]
        return value

    def _u64(self) -> int:
        value: int = _U64.unpack(self._take(8))[0]
        return value

    def _string(self) -> str:
        return self._take(self._u64()).decode("utf-8", "replace")
