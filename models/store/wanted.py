"""Files on the hub: as they are asked for, and as the hub describes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gemma_local.models.store.errors import NotOnHub
from gemma_local.models.store.split import part_names

_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*/[A-Za-z0-9._-]+")
"""What the hub allows, apart from ``--`` and ``..``."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that is asked for, and what is known about it beforehand."""

    repository: str
    """``owner/name``."""
    file: str
    """Its path in the repository, with ``/``."""
    revision: str | None = None
    """A branch, a tag or a commit; None for ``main``."""
    bytes: int | None = None
    sha256: str | None = None
    """Of the file that was tried out. The hub may have another one by now."""

    def __post_init__(self) -> None:
        """Raises NotOnHub for names that no repository or file can have."""
        name = self.repository
        if not _REPOSITORY.fullmatch(name) or "--" in name or ".." in name:
            raise NotOnHub(
                f"{name!r} is no name of a repository; give it as OWNER/NAME, such as "
                "unsloth/gemma-4-E2B-it-qat-GGUF"
            )
        if "\\" in self.file or {"", ".", ".."} & set(self.file.split("/")):
            raise NotOnHub(f"{self.file!r} is no path of a file in a repository")

    @property
    def parts(self) -> tuple[Wanted, ...]:
        """All files of a model that is split, which this is the first of; else this alone."""
        return tuple(
            self if name == self.file else Wanted(self.repository, name, self.revision)
            for name in part_names(self.file)
        )


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of one commit of a repository."""

    repository: str
    file: str
    commit: str
    """All 40 digits: what it names can never change."""
    bytes: int
    oid: str
    """Its SHA-256 if it is kept in LFS or Xet, as every large file is; else its SHA-1 as a blob of
    git. Also the name of the file's content in the cache."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A repository at one commit."""

    repository: str
    revision: str | None
    """What was asked for; None is ``main``."""
    commit: str
    files: dict[str, RemoteFile]
    """By path; only those whose size and checksum the hub tells."""
