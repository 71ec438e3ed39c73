"""Whether files still have the content that they should have."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gemma_local.models.store.checksum import OnBytes, feed, new_digest
from gemma_local.models.store.errors import StoreError
from gemma_local.models.store.file_record import FileRecord
from gemma_local.models.store.model_file import ModelFile

Verdict = Literal["good", "changed", "recorded"]


@dataclass(frozen=True, slots=True)
class Verified:
    """One file. ``recorded``: nothing is known to compare with; from now on there is."""

    path: Path
    verdict: Verdict
    checksum: str
    """Of what is there now."""
    against: str
    """What it was compared with: ``the hub``, ``the catalogue`` or ``the last time``."""
    expected: str


def verify(
    model: ModelFile,
    verified: FileRecord,
    known: Collection[str],
    on_bytes: OnBytes | None = None,
) -> Iterator[Verified]:
    """Hash every part of a model anew.

    It is compared with the checksum that the hub keeps it under, else with what was found when it
    was hashed first (at an import, for instance).

    Args:
        known: checksums of the catalogue. A file that has one of them is good. One that has none
            may be another version, which says nothing against it.
        on_bytes: hears of every piece that was read.

    Raises:
        StoreError: a file cannot be read.
    """
    for path in model.paths:
        expected, against = _expected(path, model, verified)
        try:
            digest = new_digest(expected, path.stat().st_size)
            feed(digest, path, on_bytes)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be read ({error.strerror}); see whether the disk is in order"
            ) from error
        found = digest.hexdigest()
        if not expected:
            verified.put(path, found)
            if found in known:
                yield Verified(path, "good", found, "the catalogue", found)
            else:
                yield Verified(path, "recorded", found, "", "")
        elif found == expected:
            verified.put(path, found)
            yield Verified(path, "good", found, against, expected)
        else:
            yield Verified(path, "changed", found, against, expected)


def _expected(path: Path, model: ModelFile, verified: FileRecord) -> tuple[str, str]:
    if model.origin == "hub" and path.is_symlink():
        return path.readlink().name, "the hub"
    last = verified.last(path)
    return ("", "") if last is None else (str(last), "the last time")
