"""The screen that people have open all day: transcript, composer, status line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import BindingType

from gemma_local.app.agent.consent import Mode, Proposal, Verdict
from gemma_local.app.tui.approval.card import ApprovalCard
from gemma_local.app.tui.chat_commands import ChatCommands
from gemma_local.app.tui.commands.command import Command, Invocation
from gemma_local.app.tui.commands.keys import bindings
from gemma_local.app.tui.commands.registry import dispatch
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
    Said,
    Told,
    TurnEnded,
    Used,
    Work,
    Working,
)
from gemma_local.app.tui.screens.chat_picture import ChatPicture
from gemma_local.app.tui.sending import Sending
from gemma_local.app.tui.starting import Starting
from gemma_local.app.tui.transcript.find_bar import FindBar
from gemma_local.app.tui.transcript.item_pane import ItemPane
from gemma_local.app.tui.transcript.transcript import Transcript
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.app.quick_tasks import Shown, Source, TaskName
    from gemma_local.app.tui.app import GemmaLocalApp

CARRY_OUT: Final = Proposal("plan", "plan", "carry the plan out, and ask before every change")


class Busy(GemmaLocalError):
    """What was asked for has to wait."""


class ChatScreen(ChatPicture):
    """Shows what the desk tells, and passes on what the person wants."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("Anywhere", also_fixed=("interrupt",))]
    AUTO_FOCUS = "Composer PromptArea"

    def __init__(self, gemma: GemmaLocalApp) -> None:
        super().__init__(gemma)
        self.commands = ChatCommands(self)
        self.starting = Starting(self)
        self.sending = Sending(self)
        self.consents = Consents(self)
        self.errands = Errands(self)
        self._began_at = 0.0
        self._last_said = ""

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
            case Asked() | Said() if self.opened is not None:
                self.gemma.chat_label = self.opened.label
            case Answer() if news.answered.message is not None:
                self._last_said = news.answered.message.text
            case TurnEnded():
                self._turn_ended(news)
            case BrokenOff():
                self.consents.withdraw()
                self.sending.take_back()
            case Told():
                self.sending.show()
            case Used():
                # Here: the first picture of the screen does not wait for that page.
                from gemma_local.app.tui.context_page import show_context

                show_context(self, news)
            case Proposal():
                self.consents.ask(news, partial(self.desk.verdicts.give, news.id))

    def _open(self, news: Opened) -> None:
        """A conversation is at hand that was not before."""
        self.opened = news
        self.gemma.chat_label = news.label if news.entries else ""
        if news.why != "pair":
            self._scribe.open(news.entries)
            self.starting.opened()
        else:
            self._scribe.divide(f"from here on: {news.ready.name}")
        if news.why in ("resume", "branch", "rewind"):
            began = {"resume": "going on with", "branch": "a copy of"}.get(news.why, "back in")
            self.say(f"{began} {news.title or 'this conversation'}")
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

    def _turn_ended(self, news: TurnEnded) -> None:
        self.consents.withdraw()
        if news.end == "stopped":
            self.sending.take_back()
            return
        said = self._last_said.strip().partition("\n")[0]
        self.gemma.attention.answered(time.monotonic() - self._began_at, f"answered: {said}")
        if news.end == "loop" and news.calls:
            self.say("it stops here: the same calls again and again bring nothing new", "warning")
        elif news.end == "limit":
            self.say(f"it stops here, after {news.calls} calls; say how it should go on", "warning")
        elif self.mode == "plan" and news.calls and news.end == "answered":
            self.consents.ask(CARRY_OUT, self._plan_judged)

    def _plan_judged(self, verdict: Verdict) -> None:
        """The person has read the plan."""
        if verdict.is_yes:
            self.change_mode("ask")
            self.sending.send("Carry the plan out.")
        elif verdict.reason:
            self.sending.send(verdict.reason)

    # ------------------------------------------------------------------------ what others ask for

    def ask(self, text: str, files: Sequence[tuple[int, int]], written: str) -> None:
        """Say something to the model; see ``Conversation.ask``."""
        self._begin()
        self.desk.ask(text, files, written)

    def retry(self) -> None:
        """Have the last message answered again."""
        self._begin()
        self.desk.retry()

    def go_on(self) -> None:
        """Have the model go on with what it was stopped at."""
        self._begin()
        self.desk.go_on()

    def _begin(self) -> None:
        self._work, self._began_at = "answering", time.monotonic()
        self._ticking.resume()

    def give_back(self, text: str) -> None:
        """Put a text where the person writes, before what they are writing."""
        if self.composer.give_back(text):
            self.toast("what came back stands before what you are writing")

    def change_mode(self, mode: Mode) -> None:
        """What the model may do from now on."""
        self.mode = mode
        self.desk.change_mode(mode)
        self._show_status()

    def must_wait(self, command: Command) -> bool:
        """Whether a command cannot be carried out while what goes on goes on."""
        return self.is_busy and not command.while_busy

    def order(self, invocation: Invocation) -> None:
        """Carry a command out. Raises GemmaLocalError."""
        if self.must_wait(invocation.command):
            raise Busy(f"/{invocation.command.name} has to wait; Esc stops what is going on")
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
        self.consents.given(event.id, event.verdict)

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        event.stop()
        self.sending.take(event)

    @on(Composer.Unqueued)
    def _unqueued(self, event: Composer.Unqueued) -> None:
        event.stop()
        self.sending.unqueue(event.text)

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
