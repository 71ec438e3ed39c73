"""The screen that people have open all day: transcript, composer, status line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widgets import Static

from gemma_local.app import folders
from gemma_local.app.agent.consent import MODES, Mode, Proposal
from gemma_local.app.draft_text import DraftText
from gemma_local.app.prompt_history import PromptHistory
from gemma_local.app.tui.approval.card import ApprovalCard
from gemma_local.app.tui.chat_commands import ChatCommands
from gemma_local.app.tui.commands.command import Command, Invocation
from gemma_local.app.tui.commands.keys import bindings
from gemma_local.app.tui.commands.registry import COMMANDS, dispatch
from gemma_local.app.tui.composer.composer import Composer
from gemma_local.app.tui.consents import Consents
from gemma_local.app.tui.errands import Errands
from gemma_local.app.tui.news import (
    Answer,
    Asked,
    BrokenOff,
    News,
    NotOpened,
    Opened,
    Used,
    Work,
    Working,
)
from gemma_local.app.tui.opening_words import opening_words
from gemma_local.app.tui.scribe import Scribe
from gemma_local.app.tui.sending import Sending
from gemma_local.app.tui.shell_runs import ShellRuns
from gemma_local.app.tui.speedometer import Speedometer
from gemma_local.app.tui.starting import Starting
from gemma_local.app.tui.status.status_line import StatusLine
from gemma_local.app.tui.transcript.find_bar import FindBar
from gemma_local.app.tui.transcript.item_pane import ItemPane
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.notice_item import Kind
from gemma_local.app.tui.transcript.transcript import Transcript
from gemma_local.app.workspace.file_index import FileIndex
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.app.quick_tasks import Shown, Source, TaskName
    from gemma_local.app.sessions.entry import Entry
    from gemma_local.app.tui.app import GemmaLocalApp
    from gemma_local.app.tui.desk import Desk
    from gemma_local.app.tui.status.context_facts import Sized

TICK: Final = 0.25
"""Seconds between two looks at the clock while something goes on."""
_WATCH: Final = 2.0
"""Seconds between two looks at whether the engine still runs."""
_TWICE: Final = 2.0
"""Seconds in which a second Ctrl-C leaves."""
_LARGEST: Final = 12

_BROWSING: Final = (
    "up/down move   enter open   c copy   C copy code   r rewind   b branch   esc back"
)


class Busy(GemmaLocalError):
    """What was asked for has to wait."""


class ChatScreen(Screen[None]):
    """Shows what the desk tells, and passes on what the person wants."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("Anywhere", also_fixed=("interrupt",))]
    AUTO_FOCUS = "Composer PromptArea"
    DEFAULT_CSS = """
    ChatScreen > Transcript { height: 1fr; }
    ChatScreen > #hint, ChatScreen > #banner { display: none; height: 1; padding: 0 2; }
    ChatScreen > #hint { color: $text-muted; }
    ChatScreen > #banner { height: auto; background: $error-muted; color: $text-error; }
    """

    def __init__(self, gemma: GemmaLocalApp) -> None:
        super().__init__()
        self.gemma = gemma
        self.mode: Mode = gemma.settings.agent.mode
        self.speedometer = Speedometer(self.mode)
        self.opened: Opened | None = None
        """The conversation at hand, None before there is one."""
        self.commands = ChatCommands(self)
        self.starting = Starting(self)
        self.shell = ShellRuns(gemma.folder, gemma.tell)
        self.sending = Sending(self)
        self.consents = Consents(self)
        self.errands = Errands(self)
        self._work: Work = "loading"
        self._began_at = 0.0
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
            glyphs=gemma.glyphs,
        )
        self._hint = Static(id="hint", markup=False)
        self._banner = Static(id="banner", markup=False)
        self._status_line = StatusLine(glyphs=gemma.glyphs)
        yield self.transcript
        yield self._hint
        yield self._banner
        yield self.composer
        yield self._status_line

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

    # ------------------------------------------------------------------------------------- news

    def hear(self, news: Sequence[News]) -> None:
        """Show what happened."""
        self.speedometer.hear(news)
        for piece in news:
            if isinstance(piece, Opened):
                self._open(piece)
        self._scribe.hear(news)
        for piece in news:
            self._take(piece)
        self._greet()
        self._show_status()

    def _take(self, news: News) -> None:
        match news:
            case Working():
                self._set_work(news.what)
            case NotOpened():
                self.starting.failed(news)
            case Asked() if self.opened is not None:
                self.gemma.chat_label = self.opened.label
            case Answer():
                self._answered(news)
            case BrokenOff():
                self.sending.take_back()
            case Used():
                self._show_context(news)
            case Proposal():
                self.consents.ask(news, lambda _: None)

    def _open(self, news: Opened) -> None:
        """A conversation is at hand that was not before."""
        is_other = news.why != "pair"
        self.opened = news
        self.gemma.chat_label = news.label if news.entries else ""
        if is_other:
            self._scribe.open(news.entries)
        else:
            self._scribe.divide(f"from here on: {news.ready.name}")
        if news.why in ("resume", "branch", "rewind"):
            self.say({"resume": "going on with", "branch": "a copy of"}.get(news.why, "back in")
                     + f" {news.title or 'this conversation'}")  # fmt: skip
        if news.returned:
            self.give_back(news.returned)
        self.gemma.attention.title(f"gemma-local {news.title}".strip())
        self._banner.display = False

    def _set_work(self, work: Work) -> None:
        self._work = work
        if work:
            self._ticking.resume()
            return
        if not self.shell.is_running:
            self._ticking.pause()
        self.sending.go_on()

    def _answered(self, news: Answer) -> None:
        done = news.answered.done
        if done.reason == "cancelled":
            self.sending.take_back()
        elif news.answered.message is not None:
            said = news.answered.message.text.strip().partition("\n")[0]
            self.gemma.attention.answered(time.monotonic() - self._began_at, f"answered: {said}")

    def _show_context(self, used: Used) -> None:
        """Show what fills the context, if that page is open."""
        from gemma_local.app.tui.screens.context import ContextScreen
        from gemma_local.app.tui.status.context_facts import ContextFacts

        screen = self.app.screen
        if not isinstance(screen, ContextScreen):
            return

        def show(entries: Sequence[Entry]) -> None:
            screen.show(ContextFacts(used.use, self.speedometer.cached, _largest(entries, used)))

        self.commands.with_entries(show)

    # ------------------------------------------------------------------------ what others ask for

    def ask(self, text: str, files: Sequence[tuple[int, int]], written: str) -> None:
        """Say something to the model; see ``Conversation.ask``."""
        self._begin()
        self.desk.ask(text, files, written)

    def retry(self) -> None:
        """Have the last message answered again."""
        self._begin()
        self.desk.retry()

    def _begin(self) -> None:
        self._work, self._began_at = "answering", time.monotonic()
        self._ticking.resume()

    def say(self, sentence: str, kind: Kind = "quiet") -> None:
        """A sentence that stays, among what was said."""
        self._scribe.notice(sentence, kind)

    def toast(self, sentence: str, severity: str = "information") -> None:
        """A sentence that goes by itself."""
        self.notify(sentence, severity=severity, markup=False)  # type: ignore[arg-type]

    def give_back(self, text: str) -> None:
        """Put a text where the person writes, unless they are writing something else."""
        if self.composer.has_text:
            self.toast("what you are writing was left as it is")
        else:
            self.composer.write(text)

    def change_mode(self, mode: Mode) -> None:
        """What the model may do from now on."""
        self.mode = mode
        self._show_status()

    def change_look(self, look: Look) -> None:
        """Paint everything in another way."""
        self.transcript.look = look

    def must_wait(self, command: Command) -> bool:
        """Whether a command cannot be carried out while what goes on goes on."""
        return self.is_busy and not command.while_busy

    def order(self, invocation: Invocation) -> None:
        """Carry a command out. Raises GemmaLocalError."""
        if self.must_wait(invocation.command):
            raise Busy(f"/{invocation.command.name} has to wait; esc stops what is going on")
        dispatch(invocation, self.commands)

    def begin_command(self, text: str) -> None:
        """Let the person go on writing a command."""
        self.composer.write(text)
        self.composer.focus()

    def begin_task(
        self, number: int, label: str, shown: Shown, source: Source, name: TaskName
    ) -> None:
        """Show that a small task begins, and have it done."""
        self._begin()
        self._scribe.task(number, label, shown, source.text)
        self.desk.task(number, name, source)

    # ------------------------------------------------------------------------------------ widgets

    @on(ApprovalCard.Given)
    def _consented(self, event: ApprovalCard.Given) -> None:
        event.stop()
        self.consents.given(event.verdict)

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        event.stop()
        self.sending.take(event)

    @on(Composer.Unqueued)
    def _unqueued(self, event: Composer.Unqueued) -> None:
        event.stop()
        self.sending.unqueue()

    @on(ItemPane.Moved)
    def _moved(self, event: ItemPane.Moved) -> None:
        event.stop()
        self._show_hint()

    @on(Transcript.CopyAsked)
    def _copy_asked(self, event: Transcript.CopyAsked) -> None:
        self.errands.copy(event.text, event.what)

    @on(Transcript.LinkAsked)
    def _link_asked(self, event: Transcript.LinkAsked) -> None:
        self.errands.copy(event.address, "the address")

    @on(Transcript.RewindAsked)
    def _rewind_asked(self, event: Transcript.RewindAsked) -> None:
        self.composer.focus()
        self.desk.rewind(event.entry)

    @on(Transcript.BranchAsked)
    def _branch_asked(self, event: Transcript.BranchAsked) -> None:
        self.composer.focus()
        self.desk.branch(event.entry)

    @on(Transcript.Left)
    def _left(self) -> None:
        self.composer.focus()

    @on(FindBar.Closed)
    def _find_closed(self) -> None:
        self.query(FindBar).remove()
        self.composer.focus()

    def on_descendant_focus(self) -> None:
        self._show_hint()

    def open_find(self, words: str = "") -> None:
        """Let the person search the conversation."""
        if bars := self.query(FindBar):
            bars.first().focus()
            return
        self.mount(FindBar(self.transcript, words), before=self.composer)

    # --------------------------------------------------------------------------------------- keys

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
        elif now - self._interrupted_at < _TWICE:
            self.app.exit()
        else:
            self._interrupted_at = now
            self._show_hint()
            self.set_timer(_TWICE, self._show_hint)

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

    def action_redraw(self) -> None:
        self.refresh(layout=True, repaint=True)

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
        banner = self._banner
        if self.is_open and not self.is_busy and not self.desk.engine_is_alive:
            if not banner.display:
                banner.update(
                    "The engine has ended, and nothing of the conversation is lost. f5 starts it "
                    "again; so does the next message."
                )
                banner.display = True
                self._show_status()
        elif banner.display:
            banner.display = False
            self._show_status()
        if self.starting.note:
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
        """One line above the composer, if there is something to say."""
        hint, transcript = self._hint, self.transcript
        text = ""
        if time.monotonic() - self._interrupted_at < _TWICE:
            text = "ctrl+c again leaves"
        elif transcript.has_focus:
            text = _BROWSING
        elif not transcript.at_end:
            unseen = f"{transcript.unseen} new below, " if transcript.unseen else ""
            text = f"{self.gemma.glyphs.jump} {unseen}ctrl+end jumps to the end"
        hint.update(text)
        hint.display = bool(text)

    def _greet(self) -> None:
        if not self.transcript.items and self.is_mounted:
            meter = self.speedometer
            self.transcript.empty = opening_words(
                self.transcript.look,
                self.size.width,
                self.gemma.folder,
                meter.launch,
                meter.ready,
            )

    def _renew_look(self) -> None:
        old, new = self.transcript.look, self.gemma.look()
        self.change_look(replace(new, tint=old.tint, thoughts=old.thoughts))
        self._greet()


def _largest(entries: Sequence[Entry], used: Used) -> tuple[Sized, ...]:
    """The messages that take most of the context."""
    from gemma_local.app.tui.status.context_facts import Sized

    sizes = sorted(
        ((used.sizes.get(entry.number, 0), entry) for entry in entries),
        key=lambda pair: -pair[0],
    )
    return tuple(
        Sized(entry.message.role, entry.written or entry.message.thought, tokens)
        for tokens, entry in sizes[:_LARGEST]
        if tokens
    )
