"""Finding words in the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemma_local.app.tui.transcript.folding import folded, folded_query, painted_hits
from gemma_local.app.tui.transcript.layout import Layout


@dataclass(frozen=True, slots=True)
class Found:
    """How often something was found, and which of these places is shown, from 1; 0 for none."""

    count: int
    number: int


@dataclass(frozen=True, slots=True)
class Hit:
    """The ``number``-th place, from 0, in a passage of an item."""

    index: int
    passage: int
    number: int


class Finder:
    """Knows where a query is in the text of all items, and which of the places is the current one.

    Texts are searched and not what is painted, so that nothing has to be painted for it.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.stop()

    def stop(self) -> None:
        """Forget what was looked for."""
        self._query = ""
        self._hits: list[Hit] = []
        self._searched = (-1, -1)
        self._at = -1
        self._texts: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._painted: dict[int, tuple[object, list[list[tuple[int, int, int]]]]] = {}

    @property
    def here(self) -> Hit | None:
        """The current place."""
        return self._hits[self._at] if self._hits else None

    @property
    def found(self) -> Found:
        return Found(len(self._hits), self._at + 1)

    @property
    def is_active(self) -> bool:
        """Whether something is looked for."""
        return bool(self._query)

    def look_for(self, query: str, *, near: int) -> Found:
        """Look for ``query``; the current place is the first one from item ``near`` on, or else
        the last one."""
        self._query = folded_query(query)
        self._painted.clear()
        self._hits = self._search()
        after = (at for at, hit in enumerate(self._hits) if hit.index >= near)
        self._at = next(after, len(self._hits) - 1)
        return self.found

    def step(self, by: int) -> Found:
        """Go to the next place, or with -1 to the one before, and round from the last one. What was
        said meanwhile is looked through, too."""
        here = self.here
        if self._searched != self._state():
            self._hits = self._search()
        if not self._hits:
            self._at = -1
        elif here is None:
            self._at = 0
        else:
            key = (here.index, here.passage, here.number)
            before = sum((hit.index, hit.passage, hit.number) < key for hit in self._hits)
            self._at = (before + by) % len(self._hits)
        return self.found

    def marks(self, index: int) -> Sequence[tuple[bool, Sequence[tuple[int, int, int]]]]:
        """The places in an item's lines: whether each is the current one, and its (line, start,
        end), in characters, for every line that it reaches over."""
        if not self._query:
            return ()
        item, layout = self._layout.items[index], self._layout
        key = (item.revision, layout.width, layout.look)
        kept = self._painted.get(index)
        if kept is None or kept[0] != key:
            if len(self._painted) > _PAINTED:
                self._painted.clear()
            kept = self._painted[index] = (key, painted_hits(layout.lines(index), self._query))
        hits, here = kept[1], self._place_among_shown(index)
        return [(min(here, len(hits) - 1) == at >= 0, hit) for at, hit in enumerate(hits)]

    def _place_among_shown(self, index: int) -> int:
        """Which of the painted places of an item is the current one, -1 for none."""
        here = self.here
        if here is None or here.index != index:
            return -1
        passages = self._layout.items[index].passages()
        if here.passage >= len(passages) or passages[here.passage].is_folded:
            return -1
        texts = self._folded(index)
        shown = range(min(here.passage, len(texts)))
        before = sum(texts[at].count(self._query) for at in shown if not passages[at].is_folded)
        return before + here.number

    def _state(self) -> tuple[int, int]:
        """A number for what there is to search: it differs once something was said."""
        items = self._layout.items
        return len(items), sum(item.revision for item in items)

    def _search(self) -> list[Hit]:
        self._searched = self._state()
        if not self._query:
            return []
        return [
            Hit(index, passage, number)
            for index in range(len(self._layout.items))
            for passage, text in enumerate(self._folded(index))
            for number in range(text.count(self._query))
        ]

    def _folded(self, index: int) -> tuple[str, ...]:
        item = self._layout.items[index]
        kept = self._texts.get(index)
        if kept is None or kept[0] != item.revision:
            texts = tuple(folded(passage.text) for passage in item.passages())
            kept = self._texts[index] = (item.revision, texts)
        return kept[1]


_PAINTED = 200
"""Items whose painted places are kept."""
