"""The header of a GGUF file of which only the beginning has arrived."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TypeAlias

from gemma_local.models.errors import BadModelFile, GemmaLocalError
from gemma_local.models.gguf import GgufFile, check_whole, parse_header
from gemma_local.models.header_reader import MAX_HEADER_BYTES, HeaderReader

Beginning: TypeAlias = bytes | bytearray | memoryview | Path
"""The first bytes of a file, or a path to a file that holds them."""

_MIB = 1 << 20


class HeaderIncomplete(GemmaLocalError):
    """The header goes on beyond the bytes at hand. ``needed``: bring so many, from the first on.

    The length of a header is only known at its end, so this is a guess, twice what was there; with
    16 MiB to begin with, the first answer suffices for every Gemma 4.
    """

    def __init__(self, name: str, have: int, needed: int) -> None:
        super().__init__(
            f"the header of {name} is longer than the {have} bytes at hand; fetch the first "
            f"{needed} bytes of the file"
        )
        self.needed = needed


def read_beginning(data: Beginning, size: int, name: str) -> GgufFile:
    """Read a header from the first bytes of a file.

    Args:
        data: the bytes; more than the header's do no harm.
        size: length of the whole file in bytes.
        name: the file's name.

    Raises:
        HeaderIncomplete: more bytes are needed.
        BadModelFile: as for `gguf.read_gguf`; also for a part of a split model, whose other parts
            are not at hand.
    """
    raw = data.read_bytes() if isinstance(data, Path) else bytes(data)
    path = Path(name)
    file = check_whole(parse_header(_PartialReader(path, raw, size), path))
    if file.split_count > 1:
        raise BadModelFile(
            f"{name} is one of {file.split_count} parts of a model, so its header tells only a "
            "part. Choose a file that is not split, or download every part."
        )
    return file


class _PartialReader(HeaderReader):
    def __init__(self, path: Path, raw: bytes, size: int) -> None:
        if not size:
            raise BadModelFile(f"{path} is empty. Choose another file.")
        super().__init__(path, io.BytesIO(raw), size)
        self._have = len(raw)

    def _need(self, end: int) -> bytearray:
        # Beyond the file's own end, or what no header is, the reader's sentence is the right one.
        if self._have < end <= min(self.size, MAX_HEADER_BYTES):
            wanted = max(end, 2 * self._have)
            wanted = min(-(-wanted // _MIB) * _MIB, self.size)
            raise HeaderIncomplete(self._path.name, self._have, wanted)
        return super()._need(end)
