"""A copy of a file that is hashed as it is made, and has its name only when it is whole."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from gemma_local.models.store.checksum import CHUNK, OnBytes
from gemma_local.models.store.disk import check_file_size, write_problem
from gemma_local.models.store.errors import StoreError, WrongContent


def place(
    source: Path, folder: Path, on_bytes: OnBytes | None = None, sha256: str | None = None
) -> str:
    """Copy ``source`` into ``folder`` under its own name; the SHA-256 of what was copied.

    Args:
        sha256: what it must be; a copy that differs is taken away again.
        on_bytes: hears of every piece.

    Raises:
        StoreError: a file cannot be read or written, or there is no room.
        WrongContent: the checksum differs.
    """
    target = folder / source.name
    partial = folder / f"{source.name}.partial"
    digest = hashlib.sha256()
    try:
        reading = source.open("rb", buffering=0)
    except OSError as error:
        raise StoreError(f"{source} cannot be read ({error.strerror})") from error
    try:
        with reading:
            check_file_size(folder, source.name, os.fstat(reading.fileno()).st_size)
            folder.mkdir(parents=True, exist_ok=True)
            with partial.open("wb", buffering=0) as writing:
                while chunk := reading.read(CHUNK):
                    rest = memoryview(chunk)
                    while rest:
                        rest = rest[writing.write(rest) :]
                    digest.update(chunk)
                    if on_bytes is not None:
                        on_bytes(len(chunk))
                os.fsync(writing.fileno())
        found = digest.hexdigest()
        if sha256 is not None and found != sha256:
            raise WrongContent(
                f"{source} was changed or damaged: its checksum is {found[:12]}… and should be "
                f"{sha256[:12]}…. Nothing of it was taken over; copy it anew from where it came."
            )
        partial.replace(target)
    except OSError as error:
        raise write_problem(error, folder) from error
    finally:
        partial.unlink(missing_ok=True)
    return found
