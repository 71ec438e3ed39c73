"""What the chat screen shows: its parts, and what of them follows the clock and the size."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.notifications import SeverityLevel

from gemma_local.app import folders
from gemma_local.app.agent.consent import Mode
from gemma_local.app.draft_text import DraftText
from gemma_local.app.prompt_history import PromptHistory
from gemma_local.app.tui.commands.registry import COMMANDS
from gemma_local.app.tui.composer.composer import Composer
from gemma_local.app.tui.engine_banner import EngineBanner
from gemma_local.app.tui.hint_line import HintLine
from gemma_local.app.tui.news import Opened, Work
from gemma_local.app.tui.opening_words import opening_words
from gemma_local.app.tui.screens.chat_keys import TWICE, ChatKeys
from gemma_local.app.tui.scribe import Scribe
from gemma_local.app.tui.shell_runs import ShellRuns
from gemma_local.app.tui.speedometer import Speedometer
from gemma_local.app.tui.status.status_line import StatusLine
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.notice_item import Kind
from gemma_local.app.tui.transcript.transcript import Transcript
from gemma_local.app.workspace.file_index import FileIndex

if TYPE_CHECKING:
    from gemma_local.app.tui.app import GemmaLocalApp
    from gemma_local.app.tui.desk import Desk
    from gemma_local.app.tui.sending import Sending
    from gemma_local.app.tui.starting import Starting

TICK: Final = 0.25
"""Seconds between two looks at the clock while something goes on."""
_WATCH: Final = 2.0
"""Seconds between two looks at whether the engine still runs."""


class ChatPicture(ChatKeys):
    """The part of the chat screen that is seen; ``ChatScreen`` is the rest."""

    starting: Starting
    sending: Sending

    DEFAULT_CSS = """
    ChatPicture > Transcript { height: 1fr; }
    """

    def __init__(self, gemma: GemmaLocalApp) -> None:
        super().__init__()
        self.gemma = gemma
        self.mode: Mode = gemma.mode
        self.speedometer = Speedometer(self.mode)
        self.shell = ShellRuns(gemma.folder, gemma.tell)
        self.opened: Opened | None = None
        """The conversation at hand, None before there is one."""
        self._work: Work = "loading"
        self._interrupted_at = 0.0

    def compose(self) -> ComposeResult:
        gemma, place = self.gemma, folders.prompts_path()
        # Kept, and not looked for: at the very end news may come when they are gone already.
        self.transcript = Transcript(gemma.look(), id="transcript")
        self.composer = Composer(
            PromptHistory(place, gemma.folder),
            DraftText(place, gemma.folder),
            FileIndex(gemma.folder),
            COMMANDS,
            editor=gemma.settings.composer.editor,
            glyphs=gemma.glyphs,
        )
        self._hint = HintLine(gemma.glyphs, gemma.key("to_end"), id="hint")
        self._banner = EngineBanner(gemma.key("restart"), id="banner")
        self._status_line = StatusLine(glyphs=gemma.glyphs)
        yield from (self.transcript, self._hint, self._banner, self.composer, self._status_line)

    def on_mount(self) -> None:
        self._scribe = Scribe(self.transcript)
        self._ticking = self.set_interval(TICK, self._tick)
        self.set_interval(_WATCH, self._watch)
        self.gemma.theme_changed_signal.subscribe(self, lambda _: self._renew_look())
        self._show_status()

    def on_resize(self) -> None:
        self._greet()

    # --------------------------------------------------------------------------------- its parts

    @property
    def desk(self) -> Desk:
        return self.gemma.desk

    @property
    def is_open(self) -> bool:
        """Whether there is a conversation to go on with."""
        return self.opened is not None

    @property
    def is_busy(self) -> bool:
        """Whether the desk works."""
        return bool(self._work)

    def say(self, sentence: str, kind: Kind = "quiet") -> None:
        """A sentence that stays, among what was said."""
        self._scribe.notice(sentence, kind)

    def toast(self, sentence: str, severity: SeverityLevel = "information") -> None:
        """A sentence that goes by itself."""
        self.notify(sentence, severity=severity, markup=False)

    def change_look(self, look: Look) -> None:
        """Paint everything in another way."""
        self.transcript.look = look

    # --------------------------------------------------------------------------------------- looks

    def _tick(self) -> None:
        """Time passes: seconds are counted, times left get shorter."""
        self.transcript.tick()
        self._show_status()
        if not self.is_busy and not self.shell.is_running:
            self._ticking.pause()

    def _watch(self) -> None:
        """See whether the engine and a download in the background still run."""
        self.starting.watch()
        is_down = self.is_open and not self.is_busy and not self.desk.engine_is_alive
        if self._banner.show(is_down=is_down) or self.starting.note:
            self._show_status()

    def _show_status(self) -> None:
        status = self.speedometer.status(
            self.desk.options,
            self.mode,
            queued=self.sending.waiting,
            alive=self.desk.engine_is_alive,
            note=self.starting.note,
        )
        self._status_line.show(status)

    def _show_hint(self) -> None:
        is_close = time.monotonic() - self._interrupted_at < TWICE
        self._hint.show(self.transcript, about_to_leave=is_close)

    def _greet(self) -> None:
        if not self.transcript.items and self.is_mounted:
            meter = self.speedometer
            self.transcript.empty = opening_words(
                self.transcript.look,
                self.size.width,
                self.gemma.folder,
                meter.launch,
                meter.ready,
                self.opened.toolless if self.opened is not None else "",
            )

    def _renew_look(self) -> None:
        old, new = self.transcript.look, self.gemma.look()
        self.change_look(replace(new, tint=old.tint, thoughts=old.thoughts))
        self._greet()
