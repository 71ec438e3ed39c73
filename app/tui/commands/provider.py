"""The commands in Textual's command palette."""

from __future__ import annotations

from functools import partial
from typing import Final, Protocol, runtime_checkable

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from gemma_local.app.tui.commands.command import Command, Invocation, invoke
from gemma_local.app.tui.commands.registry import COMMANDS
from gemma_local.models.errors import GemmaLocalError

PALETTE_CSS: Final = """
CommandPalette SearchIcon { display: none; }
CommandPalette #--input { border: none; border-top: blank; padding: 0 0 0 1; }
CommandPalette > Vertical { max-width: 100; }
CommandPalette CommandList {
    border-top: none; border-bottom: blank; scrollbar-size-vertical: 1;
    text-wrap: nowrap; text-overflow: ellipsis;
}
"""
"""For the app's CSS: without the picture of a magnifying glass, which is an emoji, and calmer."""

_NAME: Final = 31
"""Cells of a command's name and argument."""
_NEAR: Final = 0.2
"""The score of a name that has the letters of the query in order, and others between them."""


@runtime_checkable
class PaletteTarget(Protocol):
    """The screen beneath the palette."""

    def order(self, invocation: Invocation) -> None:
        """Carry an order out, as if it had been typed. Raises GemmaLocalError."""

    def begin_command(self, text: str) -> None:
        """Put ``text`` where the person writes, for them to go on."""


class CommandProvider(Provider):
    """Offers every command, for ``App.COMMANDS = {CommandProvider}``, which leaves Textual's own
    out. Over a screen that is no PaletteTarget there are none."""

    async def discover(self) -> Hits:
        """All commands, in the order in which they are listed."""
        for command in self._offered():
            yield DiscoveryHit(_prompt(command, ""), partial(self._choose, command), command.usage)

    async def search(self, query: str) -> Hits:
        """The commands whose name, summary or keywords fit."""
        words = query.strip().removeprefix("/").lower()
        matcher = self.matcher(words)
        for command in self._offered():
            is_near = any(map(matcher.match, command.names))
            if score := relevance(command, words) or (_NEAR if is_near else 0.0):
                yield Hit(
                    score, _prompt(command, words), partial(self._choose, command), command.usage
                )

    def _offered(self) -> tuple[Command, ...]:
        return COMMANDS if isinstance(self.screen, PaletteTarget) else ()

    def _choose(self, command: Command) -> None:
        """Have a command carried out, or let the person write what must stand behind it."""
        target = self.screen
        assert isinstance(target, PaletteTarget)
        if command.needs_argument:
            target.begin_command(f"/{command.name} ")
            return
        try:
            target.order(invoke(command))
        except GemmaLocalError as error:
            self.app.notify(str(error), severity="error", markup=False)


def _prompt(command: Command, query: str) -> Content:
    """One line: how the command is written, and what it does; ``query`` is marked where it was
    found, if need be in a word that is not shown otherwise."""
    # Content and no string: Textual would take the brackets of an argument for markup.
    usage = Content.styled(command.usage, "not bold")
    summary = Content.styled(command.summary, "not bold dim")
    if query and command.name.startswith(query):
        usage = _marked(usage, 1, len(query))
    elif query and (at := _word_at(command.summary, query)) >= 0:
        summary = _marked(summary, at, len(query))
    elif query and (word := _other_word(command, query)):
        found = Content.styled(word, "not bold dim")
        usage = Content.assemble(usage, "  ", _marked(found, _word_at(word, query), len(query)))
    elif query:
        for at in _letters(command.name, query):
            usage = _marked(usage, 1 + at, 1)
    return Content.assemble(usage, " " * max(_NAME - len(usage), 2), summary)


def _marked(text: Content, start: int, length: int) -> Content:
    return text.stylize("not dim bold $accent", start, start + length)


def _word_at(text: str, query: str) -> int:
    """Where a word of ``text`` begins with ``query``, -1 if none does."""
    return f" {text.lower()}".find(f" {query}")


def _other_word(command: Command, query: str) -> str:
    """Another name or a keyword of which a word begins with ``query``, "" if there is none."""
    words = (*command.aliases, *command.keywords)
    return next((word for word in words if _word_at(word, query) >= 0), "")


def _letters(name: str, query: str) -> list[int]:
    """Where in ``name`` the letters of ``query`` are, one behind the other."""
    places: list[int] = []
    for letter in query:
        at = name.find(letter, places[-1] + 1 if places else 0)
        if at >= 0:
            places.append(at)
    return places


def relevance(command: Command, query: str) -> float:
    """From 1 for the command's name down to 0 if nothing in it begins with ``query``."""
    query = query.lower()
    for score, names in ((0.9, command.names[:1]), (0.8, command.names)):
        lengths = [len(name) for name in names if name.startswith(query)]
        if lengths:
            # The more of the name has been typed, the surer it is meant.
            return score + 0.1 * len(query) / min(lengths)
    for score, text in ((0.6, " ".join(command.keywords)), (0.5, command.summary)):
        if _word_at(text, query) >= 0:
            return score
    return 0.0
