"""Caches of conversations on disk, so that a new process need not read them again.

One file a session, in a folder of their own. Nothing in a file is believed before its checksums
are right: a wrong state would not fail, it would answer wrongly. Layout, little-endian::

    magic 8 bytes, the last one the format's version; bytes of the header u32
    header: JSON with key, session, exact, tokens, and for each part position, first, bytes
    tokens: i32 each, in the machine's byte order as the parts are
    digest of everything above, 16 bytes
    parts: the state of all layers, then checkpoints of the sliding window, oldest first
    digest of the parts, 16 bytes

Digests are BLAKE2b. This module needs neither llama.cpp nor numpy, so that whoever deletes a
session can delete its state.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import struct
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from gemma_local.models.errors import GemmaLocalError

Buffer: TypeAlias = "bytes | bytearray | memoryview[Any]"

_MAGIC: Final = b"gemmakv\x01"
_HEAD: Final = struct.Struct("<8sI")
_DIGEST: Final = 16
_CHUNK: Final = 16 << 20
_BINARY: Final = getattr(os, "O_BINARY", 0)
_FILE: Final = re.compile(r"[0-9a-f]{32}\.state")
_ABANDONED_SECONDS: Final = 600.0
"""An unfinished file that nobody wrote to for so long belongs to a process that died."""
_SPARE_BYTES: Final = 1 << 30
"""Left free on the disk, or 5 % of one so small that this is less."""


class StatesUnusable(GemmaLocalError):
    """The folder for states cannot be written to."""


@dataclass(frozen=True, slots=True)
class Part:
    """A state in a file: of tokens 0 to ``position``, the sliding window from ``first`` on."""

    position: int
    first: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SavedState:
    """A file whose header is sound. ``exact``: as many of the tokens were read in exact mode."""

    path: Path
    size: int
    changed: int
    key: str
    session: str
    exact: int
    tokens: array[int]
    parts: tuple[Part, ...]
    payload: int
    """Where in the file the parts begin."""


def remove(folder: Path, session: str) -> None:
    """Delete a session's state. There need not be one."""
    with contextlib.suppress(FileNotFoundError):
        _path(folder, session).unlink()


def usage(folder: Path) -> tuple[int, int]:
    """Number of files with states in a folder, and their bytes, unfinished ones included."""
    sizes = [size for _path, size, _changed in _files(folder)]
    return len(sizes), sum(sizes) + sum(size for _path, size, _changed in _unfinished(folder))


def file_identity(path: Path) -> str:
    """What tells a model file from another one and from itself after a change.

    Size, time of change and a digest of the first MiB, which holds the metadata that matter.
    """
    stat = path.stat()
    with path.open("rb") as file:
        digest = hashlib.blake2b(file.read(1 << 20), digest_size=_DIGEST).hexdigest()
    return f"{stat.st_size} {stat.st_mtime_ns} {digest}"


class SavedStates:
    """The states in a folder that fit one model and one way to run it."""

    def __init__(self, folder: Path, limit: int, key: str) -> None:
        """``limit``: bytes that all files of the folder may take together. ``key``: only states
        that were saved under the same one are of use."""
        self.folder = folder
        self.limit = limit
        self._key = key
        self._known: dict[tuple[Path, int, int], SavedState | None] = {}

    def entries(self) -> list[SavedState]:
        """States that are of use here. Damaged files are removed on the way."""
        self._known = {
            file: self._known[file] if file in self._known else _read_header(*file)
            for file in _files(self.folder)
        }
        return [state for state in self._known.values() if state and state.key == self._key]

    def load(self, state: SavedState) -> list[bytearray] | None:
        """The parts of a state, None when it is gone or damaged; damaged ones are removed.

        What could not be loaded once is not among the entries again.
        """
        self._known[state.path, state.size, state.changed] = None
        try:
            with state.path.open("rb") as file:
                if os.fstat(file.fileno()).st_size != state.size:
                    return None
                file.seek(state.payload)
                digest = _hash()
                parts = [bytearray(part.bytes) for part in state.parts]
                is_sound = all(_fill(file, part, digest) for part in parts)
                if is_sound and file.read() == digest.digest():
                    # The time of change is when it was last of use: the oldest one goes first.
                    with contextlib.suppress(OSError):
                        os.utime(state.path)
                    self._known[state.path, state.size, state.changed] = state
                    return parts
        except (OSError, MemoryError):
            return None
        self.discard(state)
        return None

    def discard(self, state: SavedState) -> None:
        """Remove a file that turned out to be of no use."""
        with contextlib.suppress(OSError):
            state.path.unlink()

    def has_room_for(self, size: int) -> bool:
        """Whether a file with parts of so many bytes may be written at all."""
        return size <= self.limit

    def save(
        self,
        session: str,
        tokens: array[int],
        exact: int,
        parts: Sequence[tuple[Part, Buffer]],
    ) -> int:
        """Write a session's state in the place of its last one; returns the file's bytes.

        0 when it is larger than all files may be, or the disk too full: nothing is written then.
        Raises StatesUnusable when the folder cannot be written to.
        """
        header = self._header(session, tokens, exact, [part for part, _data in parts])
        size = len(header) + sum(part.bytes for part, _data in parts) + _DIGEST
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = _path(self.folder, session)
            if size > self.limit or not self._make_room(size, path):
                return 0
            _write(path, header, [data for _part, data in parts])
        except OSError as error:
            raise StatesUnusable(
                f"what was read cannot be kept in {self.folder}: {error.strerror or error}; make "
                "room there or let it be written to"
            ) from None
        return size

    def _header(self, session: str, tokens: array[int], exact: int, parts: Iterable[Part]) -> bytes:
        fields = {
            "key": self._key,
            "session": session,
            "exact": exact,
            "tokens": len(tokens),
            "parts": [[part.position, part.first, part.bytes] for part in parts],
        }
        text = json.dumps(fields).encode("ascii")
        head = _HEAD.pack(_MAGIC, len(text)) + text + tokens.tobytes()
        return head + _hash(head).digest()

    def _make_room(self, size: int, replaced: Path) -> bool:
        """Remove the states that were of no use for longest until one of ``size`` bytes fits."""
        for path, _size, changed in _unfinished(self.folder):
            if time.time() - changed / 1e9 > _ABANDONED_SECONDS:
                path.unlink(missing_ok=True)
        disk = shutil.disk_usage(self.folder)
        files = sorted(_files(self.folder), key=lambda file: file[2])
        taken = sum(size for _path, size, _changed in (*files, *_unfinished(self.folder)))
        # The one that is replaced stays until the new one is complete, but does not count.
        taken -= sum(size for path, size, _changed in files if path == replaced)
        spare = min(_SPARE_BYTES, disk.total // 20)
        others = [(path, old) for path, old, _changed in files if path != replaced]
        all_of_them = sum(old for _path, old in others)

        def fits(freed: int) -> bool:
            is_allowed = taken - freed + size <= self.limit
            return is_allowed and disk.free + freed - size >= spare

        if not fits(all_of_them):
            # Then none of them goes for nothing.
            return False
        freed = 0
        for path, old in others:
            if fits(freed):
                break
            path.unlink(missing_ok=True)
            freed += old
        return True


def _path(folder: Path, session: str) -> Path:
    # A label may be anything, and a file's name may not.
    digest = hashlib.blake2b(session.encode("utf-8", "surrogatepass"), digest_size=16)
    return folder / f"{digest.hexdigest()}.state"


def _files(folder: Path) -> Iterator[tuple[Path, int, int]]:
    """Path, bytes and time of change (ns) of each finished file."""
    yield from _scan(folder, lambda name: _FILE.fullmatch(name) is not None)


def _unfinished(folder: Path) -> Iterator[tuple[Path, int, int]]:
    yield from _scan(folder, lambda name: name.endswith(".part"))


def _scan(folder: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[Path, int, int]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_wanted(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    stat = entry.stat(follow_symlinks=False)
                    yield Path(entry.path), stat.st_size, stat.st_mtime_ns


def _read_header(path: Path, size: int, changed: int) -> SavedState | None:
    """The header of a file; None when it is of another version, or damaged and now gone."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD.size)
            if head[:7] == _MAGIC[:7] and head[:8] != _MAGIC:
                return None
            state = _parse_header(file, head, path, size, changed)
    except OSError:
        return None
    if state is None:
        with contextlib.suppress(OSError):
            path.unlink()
    return state


def _parse_header(
    file: BinaryIO, head: bytes, path: Path, size: int, changed: int
) -> SavedState | None:
    try:
        magic, length = _HEAD.unpack(head)
        if magic != _MAGIC or length > size:
            return None
        text = file.read(length)
        fields = json.loads(text)
        count = fields["tokens"]
        if not 0 <= count * 4 <= size:
            return None
        tokens = array("i")
        tokens.frombytes(raw := file.read(count * 4))
        if file.read(_DIGEST) != _hash(head, text, raw).digest():
            return None
        parts = tuple(Part(*part) for part in fields["parts"])
    except (ValueError, KeyError, TypeError, RecursionError, struct.error):
        # Before the digest was right anything may stand there, a deep nest of brackets too.
        return None
    payload = file.tell()
    if payload + sum(part.bytes for part in parts) + _DIGEST != size:
        return None
    return SavedState(
        path, size, changed, fields["key"], fields["session"], fields["exact"], tokens, parts,
        payload,
    )  # fmt: skip


def _write(path: Path, header: bytes, parts: Iterable[Buffer]) -> None:
    """Write a file under another name first, so that there is never half a state."""
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    unfinished.unlink(missing_ok=True)
    try:
        # Mode 0600: the tokens in it are what was said.
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(header)
            digest = _hash()
            for part in parts:
                view = memoryview(part).cast("B")
                for start in range(0, len(view), _CHUNK):
                    chunk = view[start : start + _CHUNK]
                    digest.update(chunk)
                    file.write(chunk)
            file.write(digest.digest())
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def _fill(file: BinaryIO, buffer: bytearray, digest: hashlib.blake2b) -> bool:
    """Read a part in full; False when the file ends before."""
    view = memoryview(buffer)
    while view:
        count = file.readinto(view[:_CHUNK])  # type: ignore[attr-defined]
        if not count:
            return False
        digest.update(view[:count])
        view = view[count:]
    return True


def _hash(*data: bytes) -> hashlib.blake2b:
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for piece in data:
        digest.update(piece)
    return digest
