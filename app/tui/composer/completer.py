"""Completing the word at the cursor, and finding what was written before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from gemma_local.app.tui.composer.completion import Completion
from gemma_local.app.tui.composer.prompt_area import PromptArea
from gemma_local.app.tui.composer.suggestions import (
    Suggestion,
    of_commands,
    of_entries,
    of_files,
    of_history,
)
from gemma_local.app.tui.composer.token import Token, token_before
from gemma_local.app.workspace.browse import is_explicit
from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.file_index import FileIndex
from gemma_local.app.written import Written

if TYPE_CHECKING:
    from gemma_local.app.tui.commands.command import Command

_DEBOUNCE_SECONDS: Final = 0.03
_KEYS: Final = frozenset(("up", "down", "tab", "enter", "escape"))
_NOTHING_WRITTEN: Final = "Nothing like it was written here."


class Completer:
    """Fills the popup for what is written, and the text with what is taken from it."""

    def __init__(
        self, area: PromptArea, popup: Completion, commands: Sequence[Command], files: FileIndex
    ) -> None:
        self._area = area
        self._popup = popup
        self._commands = commands
        self._files = files
        self._token: Token | None = None
        self._dismissed: tuple[str, int] | None = None
        self._has_moved = False
        self._timer: Timer | None = None
        self._offered: Token | None = None
        self._draft: Written | None = None
        self._searched: str | None = None
        self._texts: Sequence[Written] = ()

    # ------------------------------------------------------------------------------------ words

    def update(self) -> None:
        """The text has changed, or the cursor has moved."""
        if self._draft is not None:
            self._offer_history()
            return
        token = self._token_now()
        if token == self._token:
            return
        if token is None or (token.kind, token.start) != self._dismissed:
            self._dismissed = None
        self._token, self._has_moved = token, False
        if token is None or self._dismissed is not None:
            self._popup.close()
        elif token.kind == "file":
            self._look_up_soon(token)
        else:
            self._offer(token, of_commands(token, self._commands))

    def takes(self, key: str) -> bool:
        """Do what ``key`` means for what is offered; false if it means nothing here."""
        if key not in _KEYS:
            return False
        self._catch_up()
        if not self._popup.is_open:
            return key == "tab" and self._reopens()
        match key:
            case "escape":
                self.dismiss()
            case "up" | "down" if self._popup.chosen is not None:
                self._popup.move(-1 if key == "up" else 1)
                self._has_moved = True
            case "tab" if self._popup.chosen is not None:
                self.accept()
            case "enter" if self._popup.chosen is not None and not self._is_typed():
                self.accept()
            case "enter" if self._draft is not None:
                # Nothing was found: what was to be found is no message.
                pass
            case _:
                return False
        return True

    def accept(self) -> None:
        """Take the chosen line into the text."""
        chosen, token = self._popup.chosen, self._token_now()
        if chosen is None:
            return
        if chosen.written is not None:
            self._end_search()
            self._area.write(chosen.written)
        elif token is not None:
            row, column = self._area.cursor_location
            self._area.replace(
                chosen.insert, (row, token.start), (row, column), maintain_selection_offset=False
            )
        self._popup.close()

    def dismiss(self) -> None:
        """Offer nothing for this word any more; end a search with the text as it was."""
        if (draft := self._draft) is not None:
            self._end_search()
            self._area.write(draft)
        elif self._token is not None:
            self._dismissed = (self._token.kind, self._token.start)
        self._popup.close()

    def _catch_up(self) -> None:
        """Keys may be faster than what is offered: it must be for the text that is there now."""
        if self._draft is not None:
            self._offer_history()
            return
        self.update()
        token = self._token
        if not self._popup.is_open or token is None or token == self._offered:
            return
        known = self._files.known
        if token.kind == "file" and known is not None and not is_explicit(token.query):
            self._offer(token, of_files(token.query, known))
        else:
            self._popup.close()

    def _offer(self, token: Token, found: list[Suggestion], empty: str = "") -> None:
        self._offered = token
        self._popup.offer(found, empty=empty)

    def _offer_history(self) -> None:
        text = self._area.text
        if text != self._searched:
            self._searched = text
            self._popup.offer(of_history(text, self._texts), empty=_NOTHING_WRITTEN)

    def _token_now(self) -> Token | None:
        area = self._area
        if not area.selection.is_empty:
            return None
        return token_before(
            area.before_cursor,
            is_first_line=area.cursor_at_first_line,
            is_shell=area.text.startswith("!"),
        )

    def _reopens(self) -> bool:
        token = self._token_now()
        self._dismissed = self._token = None
        self.update()
        return token is not None

    def _is_typed(self) -> bool:
        """Whether what is written needs nothing more of what is offered."""
        token, chosen = self._token_now(), self._popup.chosen
        if self._draft is not None or token is None or chosen is None:
            return False
        match token.kind:
            case "command":
                name = token.query.lower()
                return any(name in (c.name, *c.aliases) for c in self._commands)
            case "argument":
                # It may well be left out.
                return not self._has_moved and token.query.lower() in ("", chosen.insert.lower())
            case "file":
                return self._area.before_cursor[token.start :] == chosen.insert.strip()

    # ------------------------------------------------------------------------------------ files

    def _look_up_soon(self, token: Token) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._popup.set_timer(_DEBOUNCE_SECONDS, partial(self._look_up, token))

    def _look_up(self, token: Token) -> None:
        self._popup.run_worker(
            partial(self._find, token),
            thread=True,
            exclusive=True,
            group="files",
            exit_on_error=False,
        )

    def _find(self, token: Token) -> None:
        """In a thread of its own: find files, and have them offered."""
        found: list[Suggestion] = []
        trouble = ""
        try:
            if is_explicit(token.query):
                found = of_entries(token.query, self._files.folder)
            else:
                found = of_files(token.query, self._files.files())
        except TooLarge as error:
            trouble = str(error)
        self._popup.call_later(self._found, token, found, trouble)

    def _found(self, token: Token, found: list[Suggestion], trouble: str) -> None:
        if token == self._token and self._dismissed is None and self._draft is None:
            self._offer(token, found, trouble)

    # ---------------------------------------------------------------------------------- history

    @property
    def is_searching(self) -> bool:
        """Whether the text is what is looked for in the history."""
        return self._draft is not None

    def search(self, texts: Sequence[Written]) -> None:
        """Find what was written among ``texts``, oldest first, by what the text says now; if that
        is being done already, go to the next older one."""
        if self._draft is not None:
            self._popup.move(1)
            return
        self._draft, self._texts = self._area.written, texts
        self.update()

    def _end_search(self) -> None:
        self._draft, self._texts, self._searched, self._token = None, (), None, None
