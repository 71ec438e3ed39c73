"""The transcript, and what a person does with it: select, open, copy, find, go through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import SelectEnd, Selection

from gemma_local.app.tui.transcript.copying import row_of, text_between
from gemma_local.app.tui.transcript.finder import Finder, Found
from gemma_local.app.tui.transcript.item_pane import ItemPane
from gemma_local.app.tui.transcript.layout import Place
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.painting import GUTTER, Patch

_HIT_AT: Final = 0.3
"""Where in the view a place that was found is shown, as a part of its height."""


class Transcript(ItemPane):
    """Everything that was said and done, in one widget.

    With the focus in it a mark in the gutter goes from item to item, and keys act on the item that
    it is at. The mouse never brings it there: who selects some text is still writing a message.
    """

    FOCUS_ON_CLICK = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "previous", "Up"),
        Binding("down,j", "next", "Down"),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("home,g,ctrl+home", "to_start", "Start", show=False),
        Binding("end,G,ctrl+end", "to_end", "End", show=False),
        Binding("enter,space", "open", "Open/close"),
        Binding("c", "copy", "Copy"),
        Binding("C", "copy_code", "Copy code"),
        Binding("1", "copy_block(1)", "Copy block 1 to 9", show=False),
        *(Binding(str(n), f"copy_block({n})", show=False) for n in range(2, 10)),
        Binding("r", "rewind", "Rewind to here"),
        Binding("b", "branch", "Branch"),
        Binding("escape", "leave", "Back"),
        # Where something is written it undoes.
        Binding("ctrl+z", "screen.suspend", "Put aside", show=False),
    ]

    class CopyAsked(Message):
        """The person wants ``text`` on the clipboard; ``what`` names it ("the message")."""

        def __init__(self, text: str, what: str) -> None:
            super().__init__()
            self.text = text
            self.what = what

    class LinkAsked(Message):
        """The person wants to see an address."""

        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

    class RewindAsked(Message):
        """The person wants to go back to an entry of the conversation."""

        def __init__(self, entry: int) -> None:
            super().__init__()
            self.entry = entry

    class BranchAsked(Message):
        """The person wants another conversation that is the same up to an entry."""

        def __init__(self, entry: int) -> None:
            super().__init__()
            self.entry = entry

    class Left(Message):
        """The person is done with going through the items."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(look, id=id)
        self._finder = Finder(self._layout)
        self._cursor: int | None = None
        self._pressed_at: Offset | None = None

    def clear(self) -> None:
        self._finder.stop()
        self._cursor = 0 if self.has_focus else None
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()
        super().clear()

    # ----------------------------------------------------------------------------------- keyboard

    @property
    def cursor(self) -> int | None:
        """The index of the item that the keyboard is at, None without the focus."""
        return self._cursor

    def on_focus(self) -> None:
        in_view = [at for at in self._in_view() if self._layout.room(at)]
        self._cursor = in_view[-1] if in_view else 0
        self.refresh()

    def on_blur(self) -> None:
        self._cursor = None
        self.refresh()

    def action_previous(self) -> None:
        """The item above, or the part of this one that is above the view."""
        self._go(-1)

    def action_next(self) -> None:
        """The item below, or the part of this one that is below the view."""
        self._go(1)

    def action_page_up(self) -> None:
        self._turn(-1)

    def action_page_down(self) -> None:
        self._turn(1)

    def action_to_start(self) -> None:
        self._settle(Place(0, 0))
        self._set_cursor(0)

    def action_to_end(self) -> None:
        self.jump_to_end()
        self._set_cursor(len(self.items) - 1)

    def action_open(self) -> None:
        if self._cursor is not None and self._cursor < len(self.items):
            self._toggle(self._cursor)

    def action_copy(self) -> None:
        if self._cursor is not None and self._cursor < len(self.items):
            self.post_message(self.CopyAsked(self.items[self._cursor].plain(), "the message"))

    def action_copy_code(self) -> None:
        self._copy_code(-1)

    def action_copy_block(self, number: int) -> None:
        self._copy_code(number - 1)

    def action_rewind(self) -> None:
        if (entry := self._entry()) is not None:
            self.post_message(self.RewindAsked(entry))

    def action_branch(self) -> None:
        if (entry := self._entry()) is not None:
            self.post_message(self.BranchAsked(entry))

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def _entry(self) -> int | None:
        if self._cursor is None or self._cursor >= len(self.items):
            return None
        return self.items[self._cursor].entry

    def _copy_code(self, number: int) -> None:
        if self._cursor is not None and self._cursor < len(self.items):
            self._copy_block(self._cursor, number)

    def _copy_block(self, index: int, number: int) -> None:
        blocks = self.items[index].code()
        if -len(blocks) <= number < len(blocks):
            self.post_message(self.CopyAsked(blocks[number], "the code"))

    def _go(self, by: int) -> None:
        if self._cursor is None or not self.items:
            return
        top, layout = self.scroll_offset.y, self._layout
        first = layout.top(self._cursor)
        last = first + layout.room(self._cursor)
        if self._is_in_view(self._cursor) and (first < top if by < 0 else last > top + self._page):
            self.scroll_lines(by * max(1, self._page // 2))
            return
        index = self._cursor + by
        while 0 <= index < len(self.items) and not layout.room(index):
            index += by
        if 0 <= index < len(self.items):
            self._set_cursor(index)
            self._show(index, from_below=by < 0)

    def _show(self, index: int, *, from_below: bool) -> None:
        """Bring an item into view, all of it if it fits, else the end that is come to first."""
        layout = self._layout
        layout.measure(index)
        top, room = self.scroll_offset.y, layout.room(index)
        first = layout.top(index)
        if room > self._page:
            line = room - self._page if from_below else 0
            self._settle(Place(index, line))
        elif first < top:
            self._settle(Place(index, 0))
        elif first + room > top + self._page:
            self._settle(Place(index, 0), by=room - self._page)

    def _turn(self, by: int) -> None:
        self.scroll_lines(by * max(1, self._page - 2))
        if self._cursor is not None and (in_view := list(self._in_view())):
            self._set_cursor(min(max(self._cursor, in_view[0]), in_view[-1]))

    def _set_cursor(self, index: int) -> None:
        if self._cursor is not None:
            self._cursor = max(0, index)
            self.refresh()

    def _toggle(self, index: int) -> None:
        """Open or close an item; what is above it stays where it is."""
        keep = self._layout.place(self.scroll_offset.y)
        self._layout.measure(index)
        if self.items[index].toggle():
            self._settle(keep)
            self.refresh()

    # --------------------------------------------------------------------------------------- mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed_at = event.screen_offset

    def on_click(self, event: events.Click) -> None:
        # A double click would select all there ever was.
        event.prevent_default()
        if (place := self._place_at(event)) is None or event.screen_offset != self._pressed_at:
            return
        self._set_cursor(place.index)
        meta = event.style.meta
        if event.chain == 2:
            self._select_word(place, event.get_content_offset(self))
        elif event.chain > 2:
            self._select_item(place.index)
        elif event.style.link:
            self.post_message(self.LinkAsked(event.style.link))
        elif isinstance(number := meta.get("copy"), int):
            self._copy_block(place.index, number)
        elif meta.get("toggle"):
            self._toggle(place.index)

    def _place_at(self, event: events.MouseEvent) -> Place | None:
        offset = event.get_content_offset(self)
        if offset is None:
            return None
        place = self._layout.place(self.scroll_offset.y + offset.y)
        return place if place.index < len(self.items) else None

    # ----------------------------------------------------------------------------------- selecting

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is selected, as it is copied: without decoration, and what was only broken to fit
        the screen in one piece."""
        return text_between(self._layout, selection.start, selection.end), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.is_attached and self.screen._selecting:
            self.call_next(self._select_on)

    def _select_on(self) -> None:
        """Let a selection grow while its end is held at the edge of the view and the text scrolls
        under it: Textual only does so when the pointer moves."""
        screen = self.screen
        state = screen._select_state
        if not screen._selecting or state is None or state.start.content_widget is not self:
            return
        widget, offset = screen.get_widget_and_offset_at(*state.screen_offset)
        if widget is self and offset is not None and self.parent is not None:
            end = SelectEnd(state.start.container, self, offset)
            screen._select_state = state.update_end(state.screen_offset, end)

    def _select_word(self, place: Place, offset: Offset | None) -> None:
        lines, at = self._layout.lines(place.index), place.line - self._layout.gap(place.index)
        if offset is None or not 0 <= at < len(lines):
            return
        _, where = self.screen.get_widget_and_offset_at(*(offset + self.content_region.offset))
        text = lines[at].text
        here = where.x - GUTTER if where is not None else -1
        if not 0 <= here < len(text) or not _is_word(text[here]):
            return
        start, end = here, here
        while start and _is_word(text[start - 1]):
            start -= 1
        while end < len(text) and _is_word(text[end]):
            end += 1
        row = row_of(place)
        self._select(Offset(start + GUTTER, row), Offset(end + GUTTER, row))

    def _select_item(self, index: int) -> None:
        gap, room = self._layout.gap(index), self._layout.room(index)
        lines = self._layout.lines(index)
        if lines:
            end = Offset(len(lines[-1].text) + GUTTER, row_of(Place(index, room - 1)))
            self._select(Offset(0, row_of(Place(index, gap))), end)

    def _select(self, start: Offset, end: Offset) -> None:
        self.screen.selections = {self: Selection(start, end)}

    # ------------------------------------------------------------------------------------- finding

    def find(self, query: str) -> Found:
        """Mark where ``query`` is, and show the first place from the view on. Case and accents
        don't count; what is folded away is searched, too, and opens when it is come to."""
        found = self._finder.look_for(query, near=self._layout.place(self.scroll_offset.y).index)
        self._show_found()
        return found

    def find_next(self) -> Found:
        """Show the next place."""
        return self._step(1)

    def find_previous(self) -> Found:
        """Show the place before."""
        return self._step(-1)

    def end_find(self) -> None:
        """Take the marks away."""
        self._finder.stop()
        self.refresh()

    def _step(self, by: int) -> Found:
        found = self._finder.step(by)
        self._show_found()
        return found

    def _show_found(self) -> None:
        hit, layout = self._finder.here, self._layout
        if hit is not None:
            layout.measure(hit.index)
            passages = layout.items[hit.index].passages()
            if passages[hit.passage].is_folded:
                layout.items[hit.index].toggle()
                layout.measure(hit.index)
            spans = next((spans for here, spans in self._finder.marks(hit.index) if here), ())
            line = spans[0][0] if spans else 0
            self.show_line(Place(hit.index, line + layout.gap(hit.index)), at=_HIT_AT)
            self._set_cursor(hit.index)
        self._settle(to_end=self.at_end)
        self.refresh()

    # ------------------------------------------------------------------------------------ painting

    @property
    def _selected(self) -> Style:
        style = self.screen.get_component_rich_style("screen--selection")
        # A theme that leaves the text its own colours says so by text that cannot be seen.
        if style.color != style.bgcolor:
            return style
        return Style(bgcolor=style.bgcolor) if style.bgcolor else Style(reverse=True)

    def mark(self, place: Place) -> tuple[str, Style] | None:
        if place.index != self._cursor or place.line < self._layout.gap(place.index):
            return None
        return self.look.glyphs.cursor, self.look.palette.cursor

    def patches(self, place: Place) -> Sequence[Patch]:
        patches = []
        if self._finder.is_active:
            line, palette = place.line - self._layout.gap(place.index), self.look.palette
            patches = [
                Patch(start + GUTTER, end + GUTTER, palette.found_here if here else palette.found)
                for here, spans in self._finder.marks(place.index)
                for at, start, end in spans
                if at == line
            ]
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(row_of(place))) is not None:
            start, end = span
            patches.append(Patch(max(GUTTER, start), None if end < 0 else end, self._selected))
        return patches


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
