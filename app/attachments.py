"""Files that a message mentions, put into what the model reads of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from gemma_local.app.fences import fence_for
from gemma_local.app.workspace.errors import Sensitive, Unreadable
from gemma_local.app.workspace.file_text import MOST_BYTES, read_text
from gemma_local.app.workspace.listing import list_files
from gemma_local.app.workspace.mention import Mention, mentions, shown_path
from gemma_local.app.workspace.sensitive import is_sensitive

_MOST_LISTED: Final = 500
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_LANGUAGES: Final = {
    suffix: language
    for language, suffixes in {
        "bash": "bash sh zsh",
        "c": "c h",
        "cpp": "cc cpp cxx hh hpp",
        "csharp": "cs",
        "css": "css",
        "diff": "diff patch",
        "go": "go",
        "html": "htm html",
        "ini": "cfg ini",
        "java": "java",
        "javascript": "cjs js jsx mjs",
        "json": "json jsonl",
        "kotlin": "kt kts",
        "lua": "lua",
        "markdown": "markdown md",
        "php": "php",
        "powershell": "ps1",
        "python": "py pyi",
        "ruby": "rb",
        "rust": "rs",
        "scss": "scss",
        "sql": "sql",
        "swift": "swift",
        "toml": "toml",
        "typescript": "ts tsx",
        "xml": "svg xml",
        "yaml": "yaml yml",
    }.items()
    for suffix in suffixes.split()
}


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file, or a folder's list of files, that a message brings along."""

    path: str
    lines: tuple[int, int] | None
    characters: int


@dataclass(frozen=True, slots=True)
class Attached:
    """What the model reads: the message, then the files.

    ``spans`` are the parts of ``text`` that came from files, as (start, end); ``missing`` are paths
    behind an @ where there is no file; ``notes`` are sentences for the person.
    """

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    files: tuple[AttachedFile, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def attach(
    text: str, folder: Path, *, may_read_secrets: bool = False, most_bytes: int = MOST_BYTES
) -> Attached:
    """``text`` with the files that it mentions behind it, each once.

    Reads files: not for the thread that draws. ``most_bytes`` is what a file may have. Raises
    Unreadable for a file that cannot be attached, and its subclass Sensitive for those that want
    ``may_read_secrets``.
    """
    wanted: dict[tuple[Path, tuple[int, int] | None], Mention] = {}
    missing: list[str] = []
    for mention in mentions(text, folder):
        if mention.target is not None:
            wanted.setdefault((mention.target.resolve(), mention.lines), mention)
        elif mention.looks_meant and mention.path not in missing:
            missing.append(mention.path)
    if not may_read_secrets:
        _refuse_secrets(wanted)
    message = _Message(text)
    for (target, lines), mention in wanted.items():
        if target.is_dir():
            message.add_folder(mention, target, folder)
        else:
            message.add_file(mention, target, lines, folder, most_bytes)
    return message.attached(tuple(missing))


def _refuse_secrets(wanted: dict[tuple[Path, tuple[int, int] | None], Mention]) -> None:
    # A link with a harmless name may lead to one.
    secret = [
        mention.path
        for (target, _), mention in wanted.items()
        if is_sensitive(target) or (mention.target is not None and is_sensitive(mention.target))
    ]
    if secret:
        raise Sensitive(tuple(dict.fromkeys(secret)))


class _Message:
    """A message while files are put behind it."""

    def __init__(self, text: str) -> None:
        self._parts = [text]
        self._length = len(text)
        self._spans: list[tuple[int, int]] = []
        self._files: list[AttachedFile] = []
        self._notes: list[str] = []

    def add_file(
        self,
        mention: Mention,
        target: Path,
        lines: tuple[int, int] | None,
        folder: Path,
        most_bytes: int,
    ) -> None:
        shown = _path_text(target, folder)
        found = read_text(target, mention.path, lines, most_bytes=most_bytes)
        heading = f"File {shown}"
        if lines is not None:
            count = found.text.count("\n") + (not found.text.endswith("\n"))
            lines = lines[0], lines[0] + count - 1
            heading += f", line {lines[0]}" if count == 1 else f", lines {lines[0]}-{lines[1]}"
        language = _LANGUAGES.get(PurePosixPath(shown).suffix[1:].lower(), "")
        self._add(f"{heading}:", language, found.text)
        self._files.append(AttachedFile(shown, lines, len(found.text)))
        if found.note:
            self._notes.append(f"{shown}: {found.note}")

    def add_folder(self, mention: Mention, target: Path, folder: Path) -> None:
        if not mention.path.endswith(("/", "\\")):
            raise Unreadable(
                f"{mention.path} is a folder: write @{mention.path}/ to attach a list of its files"
            )
        shown = f"{_path_text(target, folder).rstrip('/')}/"
        try:
            paths = list_files(target).paths
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise Unreadable(f"{mention.path} could not be read: {reason}") from error
        listed = "\n".join(paths[:_MOST_LISTED])
        heading = f"Files in {shown}"
        if len(paths) > _MOST_LISTED:
            heading += f", the first {_MOST_LISTED} of {len(paths)}"
        self._add(f"{heading}:", "", listed)
        self._files.append(AttachedFile(shown, None, len(listed)))

    def attached(self, missing: tuple[str, ...]) -> Attached:
        return Attached(
            "".join(self._parts),
            tuple(self._spans),
            tuple(self._files),
            missing,
            tuple(self._notes),
        )

    def _add(self, heading: str, language: str, content: str) -> None:
        fence = fence_for(content)
        before = f"\n\n{heading}\n{fence}{language}\n"
        after = f"{'' if content.endswith(chr(10)) or not content else chr(10)}{fence}"
        start = self._length + len(before)
        if content:
            self._spans.append((start, start + len(content)))
        self._parts += (before, content, after)
        self._length += len(before) + len(content) + len(after)


def _path_text(target: Path, folder: Path) -> str:
    """A path in a heading of one line: a file's name may hold anything, also what is no text."""
    path = shown_path(target, folder.resolve())
    return _CONTROL.sub("\ufffd", path.encode("utf-8", "replace").decode("utf-8"))
