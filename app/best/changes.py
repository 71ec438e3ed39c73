"""What an attempt has done to the files of its copy."""

from __future__ import annotations

import difflib
import hashlib
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Final

from gemma_local.app.agent.file_diff import FileDiff, readable
from gemma_local.app.agent.files.open_folder import OpenFolder
from gemma_local.app.agent.files.text_file import MOST_BYTES
from gemma_local.app.best.copies import Copy, stamp_of
from gemma_local.app.workspace.listing import SKIPPED
from gemma_local.app.workspace.mention import is_nameable
from gemma_local.app.workspace.sensitive import is_sensitive

MOST_FILES: Final = 500
"""An attempt that changes more has done something else than the task."""
_MOST_COMPARED: Final = 4_000_000
"""Pairs of lines: a second, at worst."""


@dataclass(frozen=True)
class FileChange:
    """One file, relative to the folder of the work; contents are None where there is no file.
    ``mode`` is that of ``after``, ``old_mode`` that of ``before``."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int = 0
    old_mode: int = 0

    @cached_property
    def diff(self) -> FileDiff:
        """For a person to see."""
        return FileDiff(self.path, readable(self.before), readable(self.after))

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed."""
        old, new = _without_ends(_lines(self.diff.before), _lines(self.diff.after))
        if len(old) * len(new) > _MOST_COMPARED:
            return len(new), len(old)
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        same = sum(block.size for block in matcher.get_matching_blocks())
        return len(new) - same, len(old) - same

    def unified(self) -> str:
        """As ``git apply`` reads it; of what is no text only that it differs."""
        old, new = self.diff.before, self.diff.after
        head = f"diff --git a/{self.path} b/{self.path}\n"
        was, becomes = (
            "100755" if mode & 0o100 else "100644" for mode in (self.old_mode, self.mode)
        )
        if old is None:
            head += f"new file mode {becomes}\n"
        elif new is None:
            head += f"deleted file mode {was}\n"
        elif was != becomes:
            head += f"old mode {was}\nnew mode {becomes}\n"
        if any(data is not None and b"\0" in data for data in (self.before, self.after)):
            return f"{head}Binary files differ\n"
        lines = difflib.unified_diff(
            _ended(self.before),
            _ended(self.after),
            "/dev/null" if old is None else f"a/{self.path}",
            "/dev/null" if new is None else f"b/{self.path}",
        )
        return head + "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        )


@dataclass(frozen=True)
class Changes:
    """All files that are different, by path. ``left_out`` are sentences about what was changed and
    will not be taken."""

    files: tuple[FileChange, ...] = ()
    left_out: tuple[str, ...] = ()

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed in all of them."""
        counts = [change.counts for change in self.files]
        return sum(added for added, _ in counts), sum(removed for _, removed in counts)

    @cached_property
    def digest(self) -> str:
        """The same for changes that come to the same."""
        found = hashlib.sha256()
        for change in self.files:
            content = b"-" if change.after is None else hashlib.sha256(change.after).digest()
            is_program = bool(change.mode & 0o100)
            found.update(b"%s\0%s%d" % (change.path.encode("utf-8"), content, is_program))
        return found.hexdigest()

    def unified(self) -> str:
        """All of it as ``git apply`` reads it."""
        return "".join(change.unified() for change in self.files)


def changes_of(base: Copy, copy: Copy) -> Changes:
    """How ``copy`` differs from ``base``, from which it was made. Nothing may run in it any more.

    Raises OSError.
    """
    left_out: list[str] = []
    there = {path for path in copy.files() if _is_usual(path)}
    changed = sorted(path for path in there | set(copy.stamps) if _is_touched(copy, path))
    files = []
    for path in changed:
        before, after = content_of(base.root / path), content_of(copy.root / path)
        if reason := _why_left_out(copy.root / path, path):
            left_out.append(f"{path} {reason}")
        elif before != after:
            files.append(FileChange(path, before[0], *after, old_mode=before[1]))
    if len(files) > MOST_FILES:
        left_out.append(f"{len(files) - MOST_FILES:,} of {len(files):,} files are too many")
        del files[MOST_FILES:]
    return Changes(tuple(files), tuple(left_out))


def content_of(path: Path) -> tuple[bytes | None, int]:
    """What an ordinary file holds and its mode; (None, 0) where there is none that can be read."""
    try:
        with OpenFolder(path.parent) as folder:
            found = folder.stat(path.name)
            if found is None or not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
                return None, 0
            return folder.read(path.name), stat.S_IMODE(found.st_mode)
    except OSError:
        return None, 0


def _is_usual(path: str) -> bool:
    return is_nameable(path) and SKIPPED.isdisjoint(path.split("/"))


def _is_touched(copy: Copy, path: str) -> bool:
    """Whether a file is not as it was put there."""
    try:
        return copy.stamps.get(path) != stamp_of(copy.root / path)
    except (FileNotFoundError, NotADirectoryError):
        return path in copy.stamps


def _why_left_out(full: Path, path: str) -> str:
    """Why a change is nobody's to take, "" if it is."""
    if is_sensitive(PurePath(path)):
        return "may hold secrets"
    try:
        found = full.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if not stat.S_ISREG(found.st_mode):
        return "is no ordinary file"
    if found.st_size > MOST_BYTES:
        return f"has {found.st_size / 1e6:,.0f} MB"
    return ""


def _lines(text: str | None) -> list[str]:
    lines = (text or "").split("\n")
    return lines if lines[-1] else lines[:-1]


def _ended(data: bytes | None) -> list[str]:
    """Lines with their ends, as git cuts them: the last may have none."""
    text = (data or b"").decode("utf-8", "replace")
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _without_ends(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines without those that are equal at both ends."""
    front = _equal(old, new)
    old, new = old[front:], new[front:]
    back = _equal(old[::-1], new[::-1])
    return list(old[: len(old) - back]), list(new[: len(new) - back])


def _equal(one: Sequence[str], other: Sequence[str]) -> int:
    pairs: Iterator[tuple[int, tuple[str, str]]] = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
