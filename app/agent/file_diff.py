"""What a change does to one file."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property

from gemma_local.app.agent.files.text_file import NotText, TextFile


@dataclass(frozen=True)
class FileDiff:
    """A file's text before and after; None where there is no file.

    ``path`` is what the person sees, relative to the workspace where it lies in it.
    """

    path: str
    before: str | None
    after: str | None

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Lines added and lines removed."""
        old, new = _lines(self.before), _lines(self.after)
        added = removed = 0
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
            if tag != "equal":
                removed += old_to - old_from
                added += new_to - new_from
        return added, removed


def readable(content: bytes | None) -> str | None:
    """A file's content as it is shown; of what is no text how much there is."""
    if content is None:
        return None
    try:
        return TextFile.decoded(content).text
    except NotText:
        return f"({len(content):,} bytes that are no text)\n"


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines()
