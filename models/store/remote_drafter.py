"""The drafter that a repository has for one of its models, found before anything is downloaded."""

from __future__ import annotations

import io
from pathlib import Path, PurePosixPath
from typing import Final

from gemma_local.models.architecture import GEMMA4, GEMMA4_DRAFTER
from gemma_local.models.errors import BadModelFile
from gemma_local.models.header_reader import HeaderReader
from gemma_local.models.pair import DRAFTER_FOLDER
from gemma_local.models.store.hub import Hub, OnTrouble
from gemma_local.models.store.split import part_names
from gemma_local.models.store.wanted import RemoteFile, Snapshot, Wanted

_PEEK: Final = 1 << 16
"""Bytes of a header that surely have its first key, which is the architecture."""

_SHARE: Final = 5
"""A drafter is at least so many times smaller than its target: 22 times or more, so far."""

_LOOKS: Final = 6
"""Files to look into at most; each costs a request."""


def find_remote_drafter(
    hub: Hub, snapshot: Snapshot, target: RemoteFile, on_trouble: OnTrouble | None = None
) -> RemoteFile | None:
    """The smallest drafter beside a target, or in the folder ``MTP``; None for other models than
    Gemma 4. Told by the beginning of its header. Raises StoreError."""
    if remote_architecture(hub, target, on_trouble) != GEMMA4:
        return None
    folder = PurePosixPath(target.file).parent
    # Of a split model all parts count, or its first part may be smaller than the drafter.
    size = sum(
        snapshot.files[name].bytes for name in part_names(target.file) if name in snapshot.files
    )
    candidates = [
        file
        for file in snapshot.files.values()
        if file.file.lower().endswith(".gguf")
        and PurePosixPath(file.file).parent in (folder, folder / DRAFTER_FOLDER)
        and file.bytes * _SHARE <= size
    ]
    candidates.sort(key=lambda file: (PurePosixPath(file.file).parent != folder, file.bytes))
    for file in candidates[:_LOOKS]:
        if remote_architecture(hub, file, on_trouble) == GEMMA4_DRAFTER:
            return file
    return None


def remote_architecture(
    hub: Hub, remote: RemoteFile, on_trouble: OnTrouble | None = None
) -> str | None:
    """``general.architecture`` of a file on the hub, from its first bytes; None if it is no GGUF.
    Raises StoreError."""
    if not remote.bytes:
        # There is no first byte that could be asked for.
        return None
    wanted = Wanted(remote.repository, remote.file, remote.commit)
    head = hub.fetch_header(wanted, min(_PEEK, remote.bytes), on_trouble)
    header = HeaderReader(Path(remote.file), io.BytesIO(head), remote.bytes)
    try:
        _, _, count = header.counts()
        for key, value in header.pairs(count):
            if key == "general.architecture":
                return value if isinstance(value, str) else None
    except BadModelFile:
        # Also where the bytes at hand end before the key.
        return None
    return None
