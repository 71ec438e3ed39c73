"""A model file that is here, and what its header says in a few words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from gemma_local.models.architecture import GEMMA4, GEMMA4_DRAFTER
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.gguf import peek_architecture
from gemma_local.models.store.file_record import FileRecord
from gemma_local.models.store.split import part_names
from gemma_local.models.target import inspect_target

Kind = Literal["model", "drafter", "projector", "unusable"]
Origin = Literal["hub", "store", "added"]
"""In the hub's cache, in our own folder, or where a person keeps it."""

PROJECTOR: Final = "clip"
"""``general.architecture`` of the files that read images and sound."""


@dataclass(frozen=True, slots=True)
class Header:
    """What tells files apart. ``bytes`` are of all parts together."""

    kind: Kind
    title: str = ""
    architecture: str = ""
    size_label: str = ""
    quantisation: str = ""
    bytes: int = 0
    problem: str = ""
    """The sentence about a file that cannot be used."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One entry of the library."""

    name: str
    """Short, the same every time, and no other entry's."""
    path: Path
    """Of a split model, the first part."""
    origin: Origin
    where: str
    """Of a hub file its repository and commit, else its folder."""
    header: Header

    @property
    def is_gemma4(self) -> bool:
        """Whether a drafter may exist for it."""
        return self.header.kind == "model" and self.header.architecture == GEMMA4

    @property
    def paths(self) -> tuple[Path, ...]:
        """All parts; just ``path`` where the others are not there."""
        paths = tuple(self.path.with_name(name) for name in part_names(self.path.name))
        return paths if all(path.is_file() for path in paths) else (self.path,)


def read_header(path: Path, cache: FileRecord) -> Header:
    """What the header of a file says; from ``cache`` if the file is as it was.

    Never raises for a bad file: its kind is ``unusable`` then, and ``problem`` says why. What was
    read is put into ``cache``, which the caller flushes.
    """
    kept = cache.get(path)
    if isinstance(kept, dict) and set(kept) == set(Header.__slots__):
        return Header(**kept)
    try:
        header = _read(path)
    except GemmaLocalError as error:
        return Header("unusable", bytes=_size(path), problem=str(error))
    # Of a split model the other parts could go without a change to this one.
    if len(part_names(path.name)) == 1:
        cache.put(path, asdict(header), later=True)
    return header


def _read(path: Path) -> Header:
    architecture = peek_architecture(path)
    if architecture == PROJECTOR:
        return Header("projector", architecture=PROJECTOR, bytes=_size(path))
    facts: Any = inspect_drafter(path) if architecture == GEMMA4_DRAFTER else inspect_target(path)
    return Header(
        kind="drafter" if architecture == GEMMA4_DRAFTER else "model",
        title=facts.name,
        architecture=facts.architecture,
        size_label=facts.size_label,
        quantisation=facts.quantisation,
        bytes=facts.file_size,
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
