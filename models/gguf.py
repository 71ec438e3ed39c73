"""GGUF headers: metadata and tensor table of a model file, read without loading the model.

A GGUF file is a magic word and version, two counts, the key-value pairs, the tensor table, padding
and the tensor data (llama.cpp's ``ggml/src/gguf.cpp``). This reader refuses what llama.cpp
refuses, with a sentence in place of a log line, and tells the kinds of files that are mistaken for
models from one another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from gemma_local.models.errors import BadModelFile
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.header_reader import HeaderReader, TensorInfo, Value, open_header

__all__ = [
    "GgufFile",
    "TensorInfo",
    "Value",
    "parse_header",
    "peek_architecture",
    "read_gguf",
    "read_shards",
]

DEFAULT_ALIGNMENT = 32
"""``GGUF_DEFAULT_ALIGNMENT``, in bytes."""

_SHARD_NAME = re.compile(r"^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$")


@dataclass(frozen=True, slots=True)
class GgufFile:
    """What a GGUF header says."""

    path: Path
    version: int
    metadata: Mapping[str, Value]
    tensors: Mapping[str, TensorInfo]
    """By name, in the order of the file."""
    data_offset: int
    """Where the tensor data begins, in bytes from the start of the file."""
    file_size: int
    alignment: int

    @property
    def split_count(self) -> int:
        """Into how many files the model is split; 1 if it is whole."""
        count = self.metadata.get("split.count", 1)
        return max(count, 1) if isinstance(count, int) else 1

    def shard_paths(self) -> tuple[Path, ...]:
        """The files the model is split into, this one first; just this one if it is whole.

        llama.cpp finds the others by name (``llama_get_list_splits``), so this does as well.

        Raises:
            BadModelFile: this is not the first shard, its name does not follow the pattern, or
                another shard is missing.
        """
        count = self.split_count
        if count == 1:
            return (self.path,)
        match = _SHARD_NAME.match(self.path.name)
        if match is None or int(match["count"]) != count:
            raise BadModelFile(
                f"{self.path} is one of {count} parts of a model, but its name does not end in "
                f"-00001-of-{count:05d}.gguf, so the other parts cannot be found. Give all parts "
                "the names they were downloaded with."
            )
        names = [f"{match['stem']}-{i + 1:05d}-of-{count:05d}.gguf" for i in range(count)]
        if self.metadata.get("split.no", 0) != 0 or int(match["number"]) != 1:
            raise BadModelFile(
                f"{self.path} is a later part of a model that is split into {count} files. Give "
                f"the first one, {names[0]}."
            )
        paths = tuple(self.path.with_name(name) for name in names)
        missing = [path.name for path in paths if not path.is_file()]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise BadModelFile(
                f"{self.path} is the first of {count} parts, and {missing[0]}{more} is missing "
                "beside it. Download every part into the same folder."
            )
        return paths


def read_gguf(path: str | os.PathLike[str], *, vocabulary_only: bool = False) -> GgufFile:
    """Read the header of a model file and check that the tensor data it promises is there.

    Args:
        path: a ``.gguf`` file; of a split model the first shard. The other shards must exist, but
            only this file's own length is checked.
        vocabulary_only: accept a file without tensors, which holds just a tokenizer.

    Raises:
        BadModelFile: the file is missing, of another kind, damaged or cut short; the sentence
            names the path and what to do.
    """
    file = check_whole(_read(Path(path)), vocabulary_only=vocabulary_only)
    file.shard_paths()
    return file


def check_whole(file: GgufFile, *, vocabulary_only: bool = False) -> GgufFile:
    """The file, if it holds weights or need not.

    Raises:
        BadModelFile: it holds a vocabulary alone.
    """
    if not file.tensors and file.split_count == 1 and not vocabulary_only:
        raise BadModelFile(
            f"{file.path} holds only a vocabulary and no weights, so it cannot answer anything. "
            "Download the model itself."
        )
    return file


def read_shards(first: GgufFile) -> tuple[GgufFile, ...]:
    """All files of a model: ``first`` and, if it is split, every later shard.

    Raises:
        BadModelFile: as for `read_gguf`, about the shard concerned.
    """
    return (first, *(_read(path) for path in first.shard_paths()[1:]))


def peek_architecture(path: str | os.PathLike[str]) -> str | None:
    """``general.architecture`` of a GGUF file, reading no further than that key.

    Converters write it first, so this costs one small read where `read_gguf` walks a whole
    vocabulary. None means that the header holds no such text.

    Raises:
        BadModelFile: as for `read_gguf`, as far as the header was read.
    """
    with open_header(Path(path)) as header:
        _, _, key_count = header.counts()
        for key, value in header.pairs(key_count):
            if key == "general.architecture":
                return value if isinstance(value, str) else None
    return None


def _read(path: Path) -> GgufFile:
    with open_header(path) as header:
        return parse_header(header, path)


def parse_header(header: HeaderReader, path: Path) -> GgufFile:
    """Walk over a header that stands at its first byte.

    Raises:
        BadModelFile: the file is of another kind, damaged, or shorter than its tensors need.
    """
    version, tensor_count, key_count = header.counts()
    metadata: dict[str, Value] = {}
    for key, value in header.pairs(key_count):
        if key in metadata:
            raise header.damaged(f"its header lists {key[:80]!r} twice")
        metadata[key] = value
    alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if type(alignment) is not int or alignment < 1 or alignment & (alignment - 1):
        raise header.damaged("the alignment of its data is not a power of two")
    tensors = header.tensors(tensor_count, alignment)
    data_offset = -(-header.pos // alignment) * alignment
    size = header.size
    needed = max((data_offset + t.offset + t.nbytes for t in tensors.values()), default=0)
    if needed > size:
        raise BadModelFile(
            f"{path} is cut short: {needed - size} of its {needed} bytes are missing "
            f"({human_bytes(needed - size)} of {human_bytes(needed)}). Resume the download or "
            "download it again."
        )
    return GgufFile(
        path=path,
        version=version,
        metadata=MappingProxyType(metadata),
        tensors=MappingProxyType(tensors),
        data_offset=data_offset,
        file_size=size,
        alignment=alignment,
    )
