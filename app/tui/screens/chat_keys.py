"""What the keys of the chat screen do, whatever has the focus."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from textual.actions import SkipAction
from textual.screen import Screen

from gemma_local.app.agent.consent import MODES, Mode
from gemma_local.app.tui.chat_commands import ChatCommands
from gemma_local.app.tui.composer.composer import Composer
from gemma_local.app.tui.engine_banner import EngineBanner
from gemma_local.app.tui.errands import Errands
from gemma_local.app.tui.shell_runs import ShellRuns
from gemma_local.app.tui.transcript.find_bar import FindBar
from gemma_local.app.tui.transcript.transcript import Transcript
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.app.tui.desk import Desk

TWICE: Final = 2.0
"""Seconds in which a second Ctrl-C leaves."""


class ChatKeys(Screen[None]):
    """The part of the chat screen that keys go to; ``ChatScreen`` is the rest."""

    transcript: Transcript
    composer: Composer
    commands: ChatCommands
    errands: Errands
    shell: ShellRuns
    mode: Mode
    _banner: EngineBanner
    _interrupted_at: float

    @property
    @abstractmethod
    def desk(self) -> Desk:
        """Who does what is asked for."""

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether there is a conversation to go on with."""

    @abstractmethod
    def change_mode(self, mode: Mode) -> None:
        """What the model may do from now on."""

    @abstractmethod
    def _show_hint(self) -> None:
        """Say above the composer what keys do now."""

    def open_find(self, words: str = "") -> None:
        """Let the person search the conversation."""
        if bars := self.query(FindBar):
            bars.first(FindBar).look_for(words)
            return
        self.mount(FindBar(self.transcript, words), before=self.composer)

    def action_stop(self) -> None:
        """End what is being done; what there is of an answer stays."""
        if not self._stop() and not self.transcript.at_end:
            self.transcript.jump_to_end()

    def _stop(self) -> bool:
        """End everything; whether there was anything."""
        # Both: no short cut.
        stopped = [self.desk.stop(), self.shell.stop()]
        return any(stopped)

    def action_interrupt(self) -> None:
        """Copy, clear, stop, leave: the first of these that there is something for."""
        now = time.monotonic()
        if selected := self.get_selected_text():
            self.errands.copy(selected, "the selection")
            self.clear_selection()
        elif self.composer.clear_by_key() or (self.is_open and self._stop()):
            # That was it.
            return
        elif now - self._interrupted_at < TWICE:
            self.app.exit()
        else:
            self._interrupted_at = now
            self._show_hint()
            self.set_timer(TWICE, self._show_hint)

    def disarm(self, key: str) -> None:
        """Something else was pressed or pasted: the next Ctrl-C does not leave."""
        if key != "ctrl+c" and self._interrupted_at:
            self._interrupted_at = 0.0
            self._show_hint()

    def action_leave(self) -> None:
        """End the program if nothing is written."""
        if self.composer.has_text:
            # There it deletes the next character.
            raise SkipAction
        self.app.exit()

    def action_mode(self) -> None:
        """The next mode."""
        self.change_mode(MODES[(MODES.index(self.mode) + 1) % len(MODES)])

    def action_restart(self) -> None:
        """Start the engine again if it has ended."""
        if self.is_open and not self.desk.engine_is_alive:
            self._banner.display = False
            self.desk.revive()

    def action_help(self) -> None:
        self.commands.help()

    def action_thoughts(self) -> None:
        self.commands.thoughts(None)

    def action_tint(self) -> None:
        self.commands.tint(None)

    def action_stats(self) -> None:
        self.commands.stats()

    def action_find(self) -> None:
        self.open_find()

    def action_browse(self) -> None:
        self.transcript.focus()

    def action_page_up(self) -> None:
        self.transcript.action_page_up()

    def action_page_down(self) -> None:
        self.transcript.action_page_down()

    def action_to_start(self) -> None:
        self.transcript.action_to_start()

    def action_to_end(self) -> None:
        self.transcript.action_to_end()

    def action_suspend(self) -> None:
        try:
            self.commands.suspend()
        except GemmaLocalError as error:
            self.notify(str(error), severity="warning", markup=False)

    def action_redraw(self) -> None:
        self.refresh(layout=True, repaint=True)
