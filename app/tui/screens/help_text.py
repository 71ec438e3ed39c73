"""What the help screen says: keys, commands, and where files lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from gemma_local.app import folders
from gemma_local.app.tui.commands.key_names import spelled
from gemma_local.app.tui.commands.keys import KEYS, Key, Where
from gemma_local.app.tui.commands.registry import by_group

_PLACES: Final[tuple[tuple[str, Callable[[], Path]], ...]] = (
    ("settings", folders.settings_path),
    ("conversations", folders.sessions_path),
    ("what was read of them", folders.state_path),
    ("own models", folders.catalog_path),
    ("log", folders.log_path),
)
_KEY_HEADINGS: Final[dict[Where, str]] = {
    "Anywhere": "Keys",
    "Writing": "Keys while writing",
    "Browsing": "Keys in the conversation",
    "Asked": "Keys when you are asked",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A name, what it stands for, and words by which it is found besides."""

    name: str
    text: str
    also: str = ""

    def fits(self, words: Iterable[str]) -> bool:
        """Whether each word occurs in it."""
        all_of_it = f"{self.name} {self.text} {self.also}".lower()
        return all(word in all_of_it for word in words)


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading."""

    heading: str
    rows: tuple[Row, ...]


def help_sections(keys: Sequence[Key] = KEYS) -> list[Section]:
    """All of the help. ``keys`` is the table as it is now, see ``chosen_keys``."""
    return [*_keys(keys), *_commands(), _places()]


def matching(sections: Iterable[Section], query: str) -> list[Section]:
    """The rows that have every word of ``query``, in themselves or in their heading."""
    words = query.lower().split()
    found = []
    for section in sections:
        rest = [word for word in words if word not in section.heading.lower()]
        rows = tuple(row for row in section.rows if row.fits(rest))
        if rows:
            found.append(Section(section.heading, rows))
    return found


def version_text() -> str:
    """Name and version."""
    try:
        return f"gemma-local {version('gemma-local')}"
    except PackageNotFoundError:
        return "gemma-local, not installed"


def _keys(keys: Sequence[Key]) -> list[Section]:
    sections = []
    for where, heading in _KEY_HEADINGS.items():
        rows = [
            Row(
                ", ".join(map(spelled, key.keys)), key.summary, f"{key.action} {' '.join(key.keys)}"
            )
            for key in keys
            if key.where == where
        ]
        sections.append(Section(heading, tuple(rows)))
    return sections


def _commands() -> list[Section]:
    return [
        Section(
            f"Commands: {group.lower()}",
            tuple(
                Row(
                    command.usage,
                    command.summary + _other_names(command.aliases),
                    " ".join(command.keywords),
                )
                for command in commands
            ),
        )
        for group, commands in by_group().items()
    ]


def _other_names(aliases: Sequence[str]) -> str:
    return f" (also {', '.join(f'/{name}' for name in aliases)})" if aliases else ""


def _places() -> Section:
    return Section("Files", tuple(Row(name, _short(where())) for name, where in _PLACES))


def _short(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(path)
