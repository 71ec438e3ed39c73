"""A widget that draws items one below the other and keeps its place among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.timer import Timer

from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.transcript.copying import row_of
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.layout import Layout, Place
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.painting import GUTTER, Patch, gutter, strip_of
from gemma_local.app.tui.transcript.scrollbar import CalmScrollBar

_MARGIN: Final = 1
"""Cells between the text and the scrollbar."""
_SLICE: Final = 0.008
"""Seconds of painting ahead before keys are looked at again."""
_PAUSE: Final = 0.04
_STRIPS: Final = 2_048
_NEAR: Final = 4
"""Items by which the view may move before it is looked at again what to paint ahead."""


class ItemPane(ScrollView, can_focus=True):
    """It is one widget, whatever it holds: the cost of a change of focus or of size grows with the
    number of widgets, and a day of conversation would be thousands of them.

    What is in view is always painted, and its height known. All else has a guessed height until it
    comes into view or there is time to paint it ahead; the view stays where it is meanwhile: at the
    end if it was at the end, else at the line that is at the top.
    """

    DEFAULT_CSS = """
    ItemPane {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    ALLOW_SELECT = True

    class Moved(Message, namespace="transcript"):
        """The view has come to the end or left it, or something new has come below it.

        ``unseen`` is the number of items that were added since it left the end.
        """

        def __init__(self, *, at_end: bool, unseen: int) -> None:
            super().__init__()
            self.at_end = at_end
            self.unseen = unseen

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._layout = Layout(look, look.most)
        self._empty: Sequence[Line] = ()
        self._keep = Place(0, 0)
        self._at_end = True
        self._unseen = 0
        self._is_settling = False
        self._page = 0
        self._strips: dict[int, tuple[Line, Segment, Strip]] = {}
        self._base = Style.null()
        self._ahead: Timer | None = None
        self._ahead_of: int | None = None
        """The item around which everything is painted that is worth it, None if it may not be."""

    # ------------------------------------------------------------------------------------- items

    @property
    def items(self) -> Sequence[Item]:
        """All items, the oldest first."""
        return self._layout.items

    @property
    def at_end(self) -> bool:
        """Whether the last line is in view; then it stays so when something is added."""
        return self._at_end

    @property
    def unseen(self) -> int:
        """Items that were added since the view left the end."""
        return self._unseen

    @property
    def look(self) -> Look:
        return self._layout.look

    @look.setter
    def look(self, look: Look) -> None:
        if look != self._layout.look:
            self._reshape(look)

    @property
    def empty(self) -> Sequence[Line]:
        """What is shown while there are no items."""
        return self._empty

    @empty.setter
    def empty(self, lines: Sequence[Line]) -> None:
        self._empty = lines
        self.refresh()

    def add(self, item: Item) -> None:
        """One more item at the end."""
        self.extend([item])

    def extend(self, items: Iterable[Item]) -> None:
        """More items at the end. Only what comes into view is painted."""
        before = len(self._layout.items)
        self._layout.add(items)
        self._ahead_of = None
        if not self._at_end:
            self._unseen += len(self._layout.items) - before
            self.post_message(self.Moved(at_end=False, unseen=self._unseen))
        self._settle(to_end=self._at_end)
        self.refresh()

    def clear(self) -> None:
        """Take all items away."""
        self._layout.clear()
        self._strips.clear()
        self._settle(Place(0, 0), to_end=True)
        self.refresh()

    def changed(self, item: Item) -> None:
        """Paint an item anew, as far as it is in view and differs. Raises KeyError if it isn't
        here."""
        layout = self._layout
        index = layout.index(item)
        if not self._is_in_view(index):
            layout.guess(index)
            self._ahead_of = None
            self._settle(to_end=self._at_end)
            return
        before, room, scrolled = item.painted, layout.room(index), self.scroll_offset.y
        self._settle(to_end=self._at_end)
        if self.scroll_offset.y != scrolled:
            return
        # Most of an answer stays as it is while it grows: only the rest is painted again.
        lines = layout.lines(index)
        pairs = zip(before, lines, strict=False)
        differing = (at for at, (old, new) in enumerate(pairs) if old is not new and old != new)
        same = next(differing, min(len(before), len(lines)))
        top = layout.top(index) + layout.gap(index) - scrolled
        end = self._page if layout.room(index) != room else top + len(lines)
        self.refresh(
            Region(0, top, self.size.width, 1),
            Region(0, top + same, self.size.width, max(0, end - top - same)),
        )

    def tick(self) -> None:
        """Time has passed: items in view that show seconds show other ones now."""
        for index in list(self._in_view()):
            if self._layout.items[index].tick():
                self.changed(self._layout.items[index])

    def jump_to_end(self) -> None:
        """Show the end, and stay there."""
        self._settle(to_end=True)

    # ------------------------------------------------------------------------------- keeping place

    def scroll_lines(self, by: int) -> None:
        """Scroll down by so many lines, up if negative."""
        self._settle(by=by)

    def show_line(self, place: Place, *, at: float = 0.0) -> None:
        """Bring a line into view, if it isn't, to ``at`` of the height."""
        self._layout.measure(place.index)
        top, line = self.scroll_offset.y, self._layout.line(place)
        if not top <= line < top + self._page:
            self._settle(place, by=-int(self._page * at))

    def _settle(self, keep: Place | None = None, *, by: int = 0, to_end: bool = False) -> None:
        """Paint what is in view, with ``keep`` at the top, or ``by`` lines below it; ``to_end``:
        with the last line at the bottom."""
        layout, keep = self._layout, self._keep if keep is None else keep
        if not self._page:
            # The width is only known when there is a place on the screen.
            return
        while True:
            last = max(0, layout.height - self._page)
            top = last if to_end else max(0, min(last, layout.line(keep) + by))
            guessed = (at for at in self._between(top, top + self._page) if not layout.is_exact(at))
            if (index := next(guessed, None)) is None:
                break
            layout.measure(index)
        self._keep = layout.place(top)
        self._is_settling = True
        self.virtual_size = Size(self.size.width, layout.height)
        self.scroll_target_y = self.scroll_y = top
        self._is_settling = False
        self._note_end(at_end=top >= last)
        if self._ahead is not None and (
            self._ahead_of is None or abs(self._keep.index - self._ahead_of) > _NEAR
        ):
            self._ahead.resume()

    def _note_end(self, *, at_end: bool) -> None:
        if at_end:
            self._unseen = 0
        if at_end != self._at_end:
            self._at_end = at_end
            self.post_message(self.Moved(at_end=at_end, unseen=self._unseen))

    def _between(self, top: int, bottom: int) -> Iterator[int]:
        """The items that have lines from ``top`` up to ``bottom``."""
        layout = self._layout
        index = layout.place(top).index
        while index < len(layout.items) and layout.top(index) < bottom:
            yield index
            index += 1

    def _in_view(self) -> Iterator[int]:
        top = self.scroll_offset.y
        return self._between(top, top + self._page)

    def _is_in_view(self, index: int) -> bool:
        top, layout = self.scroll_offset.y, self._layout
        first = layout.top(index)
        return first <= top + self._page and first + layout.room(index) >= top

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        old, new = round(old_value), round(new_value)
        if self._is_settling or old == new:
            return
        if abs(new - old) <= 2 * self._page:
            # Heights above may turn out to be others: it is the distance that counts.
            self._settle(self._layout.place(old), by=new - old)
        else:
            self._settle(self._layout.place(new))

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        # Here and not at the event of the new size, which comes after the first painting in it.
        self._is_settling = True
        is_resized = super()._size_updated(size, virtual_size, container_size, layout)
        self._is_settling = False
        self._reshape(self._layout.look)
        return is_resized

    def _reshape(self, look: Look) -> None:
        """Lay everything out anew if the width or the look is another one."""
        layout = self._layout
        page = self.size.height
        room_for_text = self._room - GUTTER - _MARGIN
        width = max(1, min(look.most, room_for_text)) if page else layout.width
        if width != layout.width or look != layout.look:
            index, line = self._keep.index, self._keep.line
            room = layout.room(index) if index < len(layout.items) else 0
            layout.reshape(width, look)
            self._strips.clear()
            if room and not self._at_end:
                layout.measure(index)
                line = line * layout.room(index) // room if line > layout.gap(index) else line
            self._keep = Place(index, line)
            self.call_later(self._drop_selection)
        elif page == self._page:
            return
        self._page = page
        self._ahead_of = None
        self._settle(to_end=self._at_end)
        self.refresh()

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """As Textual makes it, but of another class."""
        if self._vertical_scrollbar is None:
            bar = CalmScrollBar(name="vertical", thickness=self.scrollbar_size_vertical)
            self._vertical_scrollbar = bar
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    @property
    def _room(self) -> int:
        """Cells of a line that the scrollbar doesn't take."""
        return self.size.width - self.scrollbar_size_vertical

    def _drop_selection(self) -> None:
        # Its lines are other ones now.
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()

    def on_mount(self) -> None:
        self._ahead = self.set_interval(_PAUSE, self._paint_ahead, pause=True)

    def _paint_ahead(self) -> None:
        """Paint what may come into view next, for a moment."""
        assert self._ahead is not None
        end, grown = perf_counter() + _SLICE, 0
        for index in self._layout.unmeasured(self._keep.index):
            grown |= self._layout.measure(index)
            if perf_counter() > end:
                break
        else:
            self._ahead_of = self._keep.index
            self._ahead.pause()
        if grown:
            self._settle(to_end=self._at_end)

    # ------------------------------------------------------------------------------------ painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of the view.

        Not by way of Textual's cache of a widget's lines, which forgets them all when the text
        moves by one, and puts padding and borders, of which there are none here, around new strips.
        A strip remembers how it is filtered, divided and written as escape codes: to show the
        strips that were shown before, one line higher, costs next to nothing.
        """
        # It is worked out anew each time it is asked for, and the same for all lines.
        self._base = self.rich_style
        width, top = self.size.width, self.scroll_offset.y
        strips = [self._strip(top + y, y, width) for y in crop.line_range]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        start, end = crop.column_span
        if start > 0 or end < width:
            strips = [strip.crop(start, end) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        return self._strip(self.scroll_offset.y + y, y, self.size.width)

    def _strip(self, at: int, y: int, width: int) -> Strip:
        """Line ``at`` of all, which is at ``y`` of the view."""
        base, layout = self._base, self._layout
        if not layout.items:
            line = self._empty[y] if y < len(self._empty) else EMPTY
            return strip_of(line, _NO_MARK, base, width, 0)
        place = layout.place(at)
        row = row_of(place)
        line, before = EMPTY, _NO_MARK
        if place.index < len(layout.items):
            lines, number = layout.lines(place.index), place.line - layout.gap(place.index)
            line = lines[number] if 0 <= number < len(lines) else EMPTY
            mark = self.mark(place)
            if mark is None and number == 0:
                mark = layout.items[place.index].mark(layout.look)
            before = _NO_MARK if mark is None else gutter(mark)
            if patches := self.patches(place):
                return strip_of(line, before, base, width, row, patches)
        # Most lines stay the same objects while their item grows.
        kept = self._strips.get(row)
        is_same = kept is not None and kept[0] is line and kept[1] == before
        if kept is None or not is_same or kept[2].cell_length != width:
            if len(self._strips) > _STRIPS:
                self._strips.clear()
            # Textual's caches would keep the first value that there was for a row.
            self._strips[row] = kept = (line, before, strip_of(line, before, base, width, row))
        return kept[2]

    def mark(self, place: Place) -> tuple[str, Style] | None:
        """What stands in the gutter there in place of the item's own mark."""
        return None

    def patches(self, place: Place) -> Sequence[Patch]:
        """What is laid over a line."""
        return ()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()


_NO_MARK: Final = Segment(" " * GUTTER)
