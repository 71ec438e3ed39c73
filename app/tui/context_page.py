"""What fills the context, put on its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gemma_local.app.tui.screens.context import ContextScreen
from gemma_local.app.tui.status.context_facts import ContextFacts, Sized

if TYPE_CHECKING:
    from gemma_local.app.sessions.entry import Entry
    from gemma_local.app.tui.news import Used
    from gemma_local.app.tui.screens.chat import ChatScreen

_LARGEST: Final = 12


def show_context(chat: ChatScreen, used: Used) -> None:
    """Show what was counted, if the page is still open."""
    page = chat.app.screen
    if not isinstance(page, ContextScreen):
        return

    def show(entries: Sequence[Entry]) -> None:
        largest = _largest(entries, used.sizes)
        page.show(ContextFacts(used.use, chat.speedometer.cached, largest))

    chat.commands.with_entries(show)


def _largest(entries: Sequence[Entry], sizes: Mapping[int, int]) -> tuple[Sized, ...]:
    """The messages that take most of the context."""
    ordered = sorted(entries, key=lambda entry: -sizes.get(entry.number, 0))
    return tuple(
        Sized(entry.message.role, _first_line(entry), sizes[entry.number])
        for entry in ordered[:_LARGEST]
        if sizes.get(entry.number)
    )


def _first_line(entry: Entry) -> str:
    """The first line that is not blank, of what somebody wrote or of a thought."""
    text = entry.written or entry.message.thought
    return next((line for line in text.splitlines() if line.strip()), "").strip()
