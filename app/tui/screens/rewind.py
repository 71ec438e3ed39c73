"""Choosing a message of this conversation to go back to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType

from gemma_local.app.sessions.entry import Entry
from gemma_local.app.sessions.listing import age
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.screens.columns import Column, Row
from gemma_local.app.tui.screens.excerpt import excerpt, first_line
from gemma_local.app.tui.screens.list_screen import ListScreen

Verb = Literal["rewind", "branch"]
"""To take back a message with all that followed; to go on in a copy that ends before it."""

_HEADINGS = {"rewind": "Go back to before", "branch": "Branch off before"}


class RewindPicker(ListScreen[int | None]):
    """Shows the person's messages, the newest last. Dismisses with the number of the first entry
    that goes (it is one of the person's messages), or None."""

    PLACEHOLDER = "type to filter"
    COLUMNS = (
        Column("", right=True),
        Column("message", grows=True, least=30),
        Column("after it", right=True, rank=2),
        Column("said", right=True, rank=1),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Go back", priority=True),
        Binding("ctrl+o", "aside", "What goes", priority=True),
        Binding("escape", "leave", "Stay"),
    ]

    def __init__(
        self,
        entries: Sequence[Entry],
        verb: Verb = "rewind",
        *,
        now: datetime | None = None,
        glyphs: Glyphs = UNICODE,
    ) -> None:
        """``entries`` are all of the conversation, in order."""
        super().__init__(glyphs=glyphs)
        self._entries = tuple(entries)
        self._verb = verb
        self._now = now or datetime.now(UTC)

    @property
    def heading(self) -> str:
        """What is to be chosen."""
        return f"{_HEADINGS[self._verb]} which message?"

    def on_mount(self) -> None:
        """Show them, the newest highlighted."""
        said = [
            entry
            for entry in self._entries
            if entry.message.role == "user" and entry.kind == "message"
        ]
        rows = [self._row(number, entry) for number, entry in enumerate(said, start=1)]
        # After the list was laid out, so that it scrolls to the end.
        self.call_after_refresh(self.show_rows, rows, rows[-1].key if rows else None)
        if not rows:
            self.say("nothing was said yet")

    def _row(self, number: int, entry: Entry) -> Row:
        following = sum(later.number > entry.number for later in self._entries)
        return Row(
            str(entry.number),
            (
                # As /rewind and /branch count.
                str(number),
                first_line(entry),
                f"{following} more" if following else "",
                age(entry.at, self._now),
            ),
        )

    def choose(self, key: str) -> None:
        """Go back to before it."""
        self.dismiss(int(key))

    def highlight(self, key: str | None) -> None:
        """Say, and show, what would go."""
        if key is None:
            self.preview("")
            return
        going = [entry for entry in self._entries if entry.number >= int(key)]
        count = "1 message" if len(going) == 1 else f"{len(going)} messages"
        if self._verb == "rewind":
            what = f"{count} would go; the text of the first comes back to be changed"
        else:
            what = f"the copy would be without the last {count}; this conversation stays as it is"
        self.say(what)
        if self.has_aside:
            self.preview(excerpt(going, self.aside_width, self.glyphs))
