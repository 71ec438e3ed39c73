"""What a transcript consists of: items, each of which can be painted as lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.style import Style

from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.transcript.look import Look

TOGGLES: Final = Style.from_meta({"toggle": True})
"""Laid over what opens or closes its item when it is clicked."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of an item's text; ``is_folded``: it is not painted until the item is toggled."""

    text: str
    is_folded: bool = False


class Item(ABC):
    """Something that was said or done.

    ``entry`` is the number of its entry in the conversation, None if it has none. ``revision``
    changes whenever the item does. Lines are kept until the item changes, is painted in another
    width or look, or is told to ``forget`` them.
    """

    is_snug: ClassVar[bool] = False
    """Between two items that are, there is no empty line."""

    def __init__(self, *, entry: int | None = None) -> None:
        self.entry = entry
        self.revision = 0
        self._kept: tuple[int, int, Look, Sequence[Line]] | None = None

    def lines(self, width: int, look: Look) -> Sequence[Line]:
        """The item painted ``width`` cells wide; nothing at all while there is nothing to see."""
        kept = self._kept
        if kept is None or kept[0] != self.revision or kept[1] != width or kept[2] != look:
            kept = self._kept = (self.revision, width, look, self._paint(width, look))
        return kept[3]

    @property
    def painted(self) -> Sequence[Line]:
        """The lines as they were last painted, out of date if the item has changed since."""
        return self._kept[3] if self._kept is not None else ()

    def forget(self) -> None:
        """Give the memory of the painted lines back."""
        self._kept = None

    def mark(self, look: Look) -> tuple[str, Style]:
        """What stands in the gutter before the first line: one cell, or nothing."""
        return "", look.palette.muted

    def toggle(self) -> bool:
        """Open or close what is folded; whether there is such a thing."""
        return False

    def tick(self) -> bool:
        """Time has passed; whether that changed the item, as it does while it shows seconds."""
        return False

    def code(self) -> Sequence[str]:
        """The texts of its blocks of code, in the order of their copy labels."""
        return ()

    def passages(self) -> Sequence[Passage]:
        """All of its text in the order in which it is painted, for finding."""
        return (Passage(self.plain()),)

    @abstractmethod
    def plain(self) -> str:
        """Its text as it is copied."""

    @abstractmethod
    def estimate(self, width: int) -> int:
        """About how many lines it will have, without painting it."""

    @abstractmethod
    def _paint(self, width: int, look: Look) -> Sequence[Line]: ...

    def _change(self) -> None:
        self.revision += 1


def rows_of(text: str, width: int) -> int:
    """About how many lines ``text`` takes in ``width`` cells."""
    return text.count("\n") + 1 + len(text) // max(1, width) if text else 0
