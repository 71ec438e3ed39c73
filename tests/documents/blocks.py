"""The fenced blocks of the documents, and the commands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INLINE: Final = re.compile(r"(?<!`)`(gemma-local(?: [^`\n]+)?)`(?!`)")
_COMMENT: Final = re.compile(r"\s+#\s.*$")


@dataclass(frozen=True, slots=True)
class Block:
    """One of them; ``line`` is the number of its first line."""

    file: str
    line: int
    language: str
    text: str

    @property
    def id(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The commands of a shell that it shows, without what is said about them."""
        text = self.text.replace("\\\n", " ")
        lines = (_COMMENT.sub("", f" {line}").strip() for line in text.splitlines())
        return [line for line in lines if line and not line.startswith("#")]


def documents() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def blocks(language: str) -> list[Block]:
    """All blocks in a language, of all documents."""
    return [block for path in documents() for block in _blocks(path) if block.language == language]


def _blocks(path: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start(2)) + 1
        yield Block(path.relative_to(ROOT).as_posix(), line, found[1], found[2])


def inline_commands() -> list[str]:
    """Each `gemma-local ...` in running text or a table, once."""
    found: list[str] = []
    for path in documents():
        text = _FENCE.sub("", path.read_text(encoding="utf-8"))
        # A table's bar is written \| there.
        found += [match[1].replace("\\|", "|") for match in _INLINE.finditer(text)]
    return sorted(set(found))
