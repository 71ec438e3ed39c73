"""Where items are, one below the other: exactly where they were painted, by guess elsewhere."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.transcript.heights import Heights
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.look import Look

BUDGET: Final = 20_000
"""Painted lines that are kept, of all items together: about 30 MB."""
AHEAD: Final = 4_000
"""Lines around the view that are painted before anybody has seen them: a second's work in all."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of an item: it stays the same when something above becomes higher.

    ``line`` counts from the top of the item's room, which begins with the empty line above it.
    """

    index: int
    line: int


class Layout:
    """Items and their heights for one width and look.

    A height is a guess until ``measure`` paints the item. Lines that were not looked at for the
    longest time are given up when there are more than ``budget``; heights stay.
    """

    def __init__(self, look: Look, width: int, *, budget: int = BUDGET) -> None:
        self.look = look
        self.width = width
        self._budget = budget
        self.clear()

    # ----------------------------------------------------------------------------------- changing

    def clear(self) -> None:
        """Take all items away."""
        self.items: list[Item] = []
        self._indexes: dict[Item, int] = {}
        self._heights = Heights()
        self._measured: list[int] = []
        self._held: OrderedDict[int, int] = OrderedDict()
        self._lines_held = 0

    def add(self, items: Iterable[Item]) -> None:
        """More items at the end, their heights guessed."""
        for item in items:
            index = len(self.items)
            self.items.append(item)
            self._indexes[item] = index
            self._measured.append(_NEVER)
            self._heights.append(self._guess(index))

    def reshape(self, width: int, look: Look) -> None:
        """Another width or look: nothing is exact any more."""
        self.width, self.look = width, look
        self._measured = [_NEVER] * len(self.items)
        self._heights = Heights(map(self._guess, range(len(self.items))))
        for index in self._held:
            self.items[index].forget()
        self._held.clear()
        self._lines_held = 0

    def measure(self, index: int) -> int:
        """Paint an item; returns by how much it turned out to be higher than was thought."""
        lines = self.lines(index)
        self._measured[index] = self.items[index].revision
        return self._heights.change(index, self._room(index, len(lines)))

    def guess(self, index: int) -> int:
        """An item that nobody sees has changed; returns by how much it may have grown."""
        if self.is_exact(index):
            return 0
        return self._heights.change(index, self._guess(index))

    # ------------------------------------------------------------------------------------ reading

    @property
    def height(self) -> int:
        """Lines of all items, with the empty ones between them."""
        return self._heights.total

    def index(self, item: Item) -> int:
        """Where an item is. Raises KeyError if it isn't."""
        return self._indexes[item]

    def is_exact(self, index: int) -> bool:
        """Whether an item's height is known."""
        return self._measured[index] == self.items[index].revision

    def top(self, index: int) -> int:
        """The first line of an item's room; for the number of items, the line below all."""
        return self._heights.top(index)

    def room(self, index: int) -> int:
        """Lines of an item with the empty one above it."""
        return self._heights[index]

    def gap(self, index: int) -> int:
        """Empty lines above an item."""
        if not index or not self._heights[index]:
            return 0
        return 0 if self.items[index].is_snug and self.items[index - 1].is_snug else 1

    def place(self, line: int) -> Place:
        """Which line of which item is at ``line``."""
        return Place(*self._heights.at(line))

    def line(self, place: Place) -> int:
        """Where a place is now; the nearest line of its item if it has fewer than then."""
        if place.index >= len(self.items):
            return self.height
        within = min(place.line, max(0, self._heights[place.index] - 1))
        return self.top(place.index) + within

    def lines(self, index: int) -> Sequence[Line]:
        """The lines of an item, painted if they are not at hand."""
        lines = self.items[index].lines(self.width, self.look)
        self._lines_held += len(lines) - self._held.pop(index, 0)
        self._held[index] = len(lines)
        while self._lines_held > self._budget and len(self._held) > 1:
            oldest, count = self._held.popitem(last=False)
            self.items[oldest].forget()
            self._lines_held -= count
        return lines

    def unmeasured(self, middle: int) -> Iterator[int]:
        """Items whose height is a guess, from ``middle`` outwards, as far as it is worth painting
        them ahead."""
        lines, above, below = 0, middle, middle + 1
        while lines < min(AHEAD, self._budget) and (above >= 0 or below < len(self.items)):
            for index in (above, below):
                if 0 <= index < len(self.items):
                    if not self.is_exact(index):
                        yield index
                    lines += self._heights[index]
            above, below = above - 1, below + 1

    def _guess(self, index: int) -> int:
        return self._room(index, self.items[index].estimate(self.width))

    def _room(self, index: int, lines: int) -> int:
        if not lines or not index:
            return lines
        return lines + (not (self.items[index].is_snug and self.items[index - 1].is_snug))


_NEVER: Final = -1
