"""Checksums of files, as the hub has them, computed in one pass."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

CHUNK: Final = 4 << 20
"""Bytes read at once: few calls, and still a few looks a second at whether to stop."""

OnBytes = Callable[[int], None]
"""Hears of every piece how many bytes it has."""


class Digest(Protocol):
    """What hashlib makes."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes in."""

    def hexdigest(self) -> str:
        """The checksum so far."""


def new_digest(oid: str, size: int) -> Digest:
    """A digest whose result can be compared with ``oid``.

    64 digits are the SHA-256 of an LFS file. 40 are git's name for a blob: the SHA-1 of the word
    ``blob``, the length, a zero byte and the content.
    """
    if len(oid) == 40:
        return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    return hashlib.sha256()


def feed(digest: Digest, path: Path, on_bytes: OnBytes | None = None) -> None:
    """Take a file's content into ``digest``. Raises OSError, and whatever ``on_bytes`` does."""
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            if on_bytes is not None:
                on_bytes(len(chunk))


def sha256_of(path: Path, on_bytes: OnBytes | None = None) -> str:
    """The SHA-256 of a file, as 64 hexadecimal digits. Raises OSError."""
    digest = hashlib.sha256()
    feed(digest, path, on_bytes)
    return digest.hexdigest()
