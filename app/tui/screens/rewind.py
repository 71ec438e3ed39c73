"""Choosing a message of this conversation to go back to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar, Final, Literal

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
_KEYS: Final[dict[str, Verb]] = {
    "choose": "rewind",
    "aside": "rewind",
    "branch_off": "branch",
    "left_out": "branch",
}
"""With which verb an action has its key; all others have theirs with both."""


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
        Binding("enter", "branch_off", "Branch off", priority=True),
        Binding("ctrl+o", "aside", "What goes", priority=True),
        Binding("ctrl+o", "left_out", "What stays out", priority=True),
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
            (entry, len(self._entries) - place)
            for place, entry in enumerate(self._entries, start=1)
            if entry.message.role == "user" and entry.kind == "message"
        ]
        rows = [self._row(number, *each) for number, each in enumerate(said, start=1)]
        # After the list was laid out, so that it scrolls to the end.
        self.call_after_refresh(self.show_rows, rows, rows[-1].key if rows else None)
        if not rows:
            self.say("nothing was said yet")

    def _row(self, number: int, entry: Entry, following: int) -> Row:
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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only the keys whose names say what is done here."""
        if _KEYS.get(action, self._verb) != self._verb:
            return False
        return super().check_action("aside" if action == "left_out" else action, parameters)

    def action_branch_off(self) -> None:
        """Enter, where a branch is made."""
        self.action_choose()

    def action_left_out(self) -> None:
        """Show what the copy would be without."""
        self.action_aside()

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
