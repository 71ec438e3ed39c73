"""The cache of huggingface_hub: the layout that it and other programs read and write.

In the folder of a repository (``models--OWNER--NAME``) the content of files lies in ``blobs`` under
its checksum. ``snapshots/COMMIT/PATH`` are links to it, or the files themselves where the file
system has no links, and ``refs/BRANCH`` holds the commit that a branch was at.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The rest of it takes a fifth of a second, and is imported where it is needed.
from huggingface_hub import constants

from gemma_local.models.store.wanted import RemoteFile, Wanted

_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file in the cache."""

    repository: str
    commit: str
    file: str
    path: Path
    """In the snapshot."""
    oid: str | None
    """The checksum that it is kept under; None where the file system has no links."""


class HubCache:
    """One cache folder; huggingface_hub's own (HF_HUB_CACHE, HF_HOME) unless given."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else Path(constants.HF_HUB_CACHE)

    def blob(self, remote: RemoteFile) -> Path:
        """Where the content of a file lies, or will."""
        return self._repository(remote.repository) / "blobs" / remote.oid

    def partial(self, remote: RemoteFile) -> Path:
        """Where what has come of a file lies. The name has its checksum: it can only be continued
        by what belongs to it."""
        return self._repository(remote.repository) / "blobs" / f"{remote.oid}.incomplete"

    def lock(self, remote: RemoteFile) -> AbstractContextManager[Any]:
        """Held while a blob is written, here and in huggingface_hub."""
        from huggingface_hub.utils import WeakFileLock  # type: ignore[attr-defined]  # it is lazy

        name = self._repository(remote.repository).name
        path = self.folder / ".locks" / name / f"{remote.oid}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        return WeakFileLock(path)

    def find(self, wanted: Wanted) -> CachedFile | None:
        """A file that is here: the very one whose checksum is wanted if there is one, else the one
        of the wanted revision."""
        if wanted.sha256 is not None:
            for cached in self._all_of(wanted):
                if cached.oid == wanted.sha256:
                    return cached
        root = self._repository(wanted.repository)
        commit = wanted.revision or constants.DEFAULT_REVISION
        if not _COMMIT.fullmatch(commit):
            try:
                commit = (root / "refs" / commit).read_text("utf-8").strip()
            except OSError:
                return None
        return self._at(wanted, commit)

    def publish(self, remote: RemoteFile, revision: str | None) -> Path:
        """Make a finished blob a file of its snapshot, and note what ``revision`` stands for.

        Returns the path in the snapshot. Raises OSError.
        """
        root, blob = self._repository(remote.repository), self.blob(remote)
        path = self._path(remote.repository, remote.commit, remote.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or not path.samefile(blob):
            beside = path.with_name(f"{path.name}.{os.getpid()}.link")
            beside.unlink(missing_ok=True)
            try:
                beside.symlink_to(os.path.relpath(blob, path.parent))
                beside.replace(path)
            except OSError:
                # No links on this file system, or no right to make one (Windows).
                shutil.move(blob, path)
        branch = revision or constants.DEFAULT_REVISION
        if not _COMMIT.fullmatch(branch):
            # Last: a branch at a commit without a snapshot counts as a damaged cache.
            ref = root / "refs" / branch
            ref.parent.mkdir(parents=True, exist_ok=True)
            ref.write_text(remote.commit, "utf-8")
        return path

    def models(self) -> Iterator[CachedFile]:
        """Every GGUF file in the cache; of several commits with one content, one."""
        for root in _sorted(self.folder, "models--*--*"):
            repository = root.name.removeprefix("models--").replace("--", "/")
            contents: set[Path] = set()
            for snapshot in sorted(_sorted(root / "snapshots", "*"), key=_age):
                for path in _sorted(snapshot, "**/*.gguf"):
                    # A link whose blob is gone is nothing.
                    if path.is_file() and (content := path.resolve()) not in contents:
                        contents.add(content)
                        file = path.relative_to(snapshot).as_posix()
                        oid = _oid(path)
                        yield CachedFile(repository, snapshot.name, file, path, oid)

    def unfinished(self) -> list[Path]:
        """What there is of downloads that did not come to their end, of every program."""
        return _sorted(self.folder, "models--*--*/blobs/*.incomplete")

    def delete(self, paths: Iterable[Path]) -> int:
        """Delete files from every snapshot that has their content, as huggingface_hub does it: a
        blob goes when nothing links to it any more. Returns the bytes that this frees."""
        from huggingface_hub import scan_cache_dir
        from huggingface_hub.errors import CacheNotFound

        contents = {path.resolve() for path in paths}
        with suppress(CacheNotFound):
            cache = scan_cache_dir(self.folder)
            files, emptied = [], []
            for repository in cache.repos:
                for revision in repository.revisions:
                    hit = [f for f in revision.files if f.file_path.resolve() in contents]
                    files += hit
                    if hit and len(hit) == len(revision.files):
                        emptied.append(revision.commit_hash)
            plan = cache.delete_files(*files)
            plan.execute()
            if emptied:
                # Their folders and branches, which delete_files leaves.
                cache.delete_revisions(*emptied).execute()
            return plan.expected_freed_size
        return 0

    def _repository(self, repository: str) -> Path:
        return self.folder / f"models--{repository.replace('/', '--')}"

    def _path(self, repository: str, commit: str, file: str) -> Path:
        root = self._repository(repository) / "snapshots" / commit
        return root.joinpath(*file.split("/"))

    def _at(self, wanted: Wanted, commit: str) -> CachedFile | None:
        path = self._path(wanted.repository, commit, wanted.file)
        if not path.is_file():
            return None
        return CachedFile(wanted.repository, commit, wanted.file, path, _oid(path))

    def _all_of(self, wanted: Wanted) -> Iterator[CachedFile]:
        for snapshot in _sorted(self._repository(wanted.repository) / "snapshots", "*"):
            if (cached := self._at(wanted, snapshot.name)) is not None:
                yield cached


def _sorted(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def _age(snapshot: Path) -> float:
    try:
        return -snapshot.stat().st_mtime
    except OSError:
        return 0.0


def _oid(path: Path) -> str | None:
    # The first link only: the blob may itself be one, into a store that repositories share.
    return path.readlink().name if path.is_symlink() else None
