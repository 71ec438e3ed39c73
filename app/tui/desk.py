"""The desk: a thread that does, one after the other, what the screen asks for.

The conversation and the engine belong to this thread alone. Nothing here touches a widget: what
happens is told as news, and every method of `Desk` that a screen may call returns at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from gemma_local.app.errors import UsageError
from gemma_local.app.stop import Stop
from gemma_local.app.tui.job_thread import JobThread
from gemma_local.app.tui.news import (
    Answer,
    Asked,
    BrokenOff,
    News,
    Notice,
    NotOpened,
    Opened,
    OpenedWhy,
    Planned,
    TurnEnded,
    Used,
)
from gemma_local.app.tui.undoing import NOTHING, NOTHING_AGAIN, restore
from gemma_local.app.tui.verdicts import Verdicts
from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    # Half a second's worth of modules, which the desk's thread loads when it has something to do:
    # the first picture of the screen waits for none of them.
    from gemma_local.app.agent.consent import Mode, Proposal, Verdict
    from gemma_local.app.agent.terms import Terms
    from gemma_local.app.assistant import Answered
    from gemma_local.app.best.wish import Wish
    from gemma_local.app.dialogue import Dialogue
    from gemma_local.app.options import AnswerOptions
    from gemma_local.app.quick_tasks import Source, TaskName
    from gemma_local.app.saving import Saving
    from gemma_local.app.sessions.store import SessionStore
    from gemma_local.app.settings import AgentSettings

FAREWELL: Final = 20.0
"""Seconds that closing waits for the desk: the state of a long conversation is being written."""


class Desk(JobThread):
    """Owns the dialogue. Made and used by the screen's thread; ``tell`` hears the news in ours."""

    def __init__(
        self,
        options: AnswerOptions,
        agent: AgentSettings,
        tell: Callable[[News], None],
        steer: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """``agent`` says what the model may do. ``steer``, called by the desk's thread, gives what
        the person has written since, for the model to read while it works."""
        self._options = options
        self._agent = agent
        self._mode: Mode = agent.mode
        self._steer = steer
        self._terms: Terms | None = None
        self._stop = Stop()
        self.verdicts = Verdicts(tell)
        self._made: Dialogue | None = None
        self._saving: Saving | None = None
        super().__init__(tell)

    # ------------------------------------------------------------------- what a screen may ask

    @property
    def options(self) -> AnswerOptions:
        """What the person chose; changed by jobs alone."""
        return self._made.options if self._made is not None else self._options

    def change_mode(self, mode: Mode) -> None:
        """What the model may do from now on."""
        self._mode = mode
        if self._terms is not None:
            self._terms.mode = mode

    @property
    def store(self) -> SessionStore | None:
        """The saved sessions, None if nothing is saved. It may be used from any thread."""
        return self._saving.store if self._saving is not None else None

    @property
    def engine_pid(self) -> int | None:
        """The engine's process."""
        dialogue = self._made
        return dialogue.engine.pid if dialogue is not None and dialogue.is_open else None

    @property
    def engine_is_alive(self) -> bool:
        """Whether the engine's process runs; True where there is none yet."""
        dialogue = self._made
        return dialogue is None or not dialogue.is_open or dialogue.engine.is_alive

    def open(self, options: AnswerOptions | None = None) -> None:
        """Load a pair and open the conversation that the options ask for."""

        def job() -> None:
            dialogue = self._dialogue
            if options is not None:
                dialogue.options = options
            try:
                launch = dialogue.prepare()
                self._tell(Planned(launch))
                if launch.remark:
                    self._tell(Notice(launch.remark, "warning"))
                if self._saving is None:
                    from gemma_local.app.saving import Saving

                    self._saving = Saving(dialogue.options, self._warn)
                dialogue.open(self._saving, self._tell)
            except GemmaLocalError as error:
                self._tell(NotOpened(error))
                return
            self._tell_opened("start")

        self._do("loading", job)

    def change_pair(self, options: AnswerOptions) -> None:
        """Load another pair and go on with the conversation."""

        def job() -> None:
            try:
                self._dialogue.change_pair(options, self._tell)
            except GemmaLocalError:
                if self._dialogue.engine.is_alive:
                    self._tell_opened("pair")
                raise
            self._tell_opened("pair")

        self._do("loading", job)

    def revive(self) -> None:
        """Start the engine again."""

        def job() -> None:
            self._dialogue.revive(self._tell)
            self._tell(Notice("the engine runs again"))

        self._do("loading", job)

    def ask(self, text: str, files: Sequence[tuple[int, int]] = (), written: str = "") -> None:
        """Say something and have it answered; see ``Conversation.ask``."""
        stop = Stop()

        def job() -> None:
            entry = self._dialogue.say(text, files=files, written=written)
            # What is read may begin with a note for the model.
            shift = len(entry.message.text) - len(text)
            spans = [(start + shift, end + shift) for start, end in files]
            self._tell(Asked(entry.message.text, spans, entry.written, entry.number))
            self._turn(stop)

        self._do("answering", job, stop)

    def retry(self) -> None:
        """Have the last message answered again: after something failed, or in other words."""
        stop = Stop()

        def job() -> None:
            self._dialogue.ask_again()
            self._tell(Notice("once more:"))
            self._turn(stop)

        self._do("answering", job, stop)

    def go_on(self) -> None:
        """Go on with a turn that was stopped."""
        stop = Stop()
        self._do("answering", lambda: self._turn(stop), stop)

    def undo(self, *, again: bool = False) -> None:
        """Take back what the last turn did to files, or do it again, if the person agrees."""
        stop = Stop()

        def job() -> None:
            agent = self._dialogue.agent
            restoration = (agent.redo() if again else agent.undo()) if agent else None
            if agent is None or restoration is None:
                self._tell(Notice(NOTHING_AGAIN if again else NOTHING))
                return
            what = "do the changes again to" if again else "take back the changes to"
            self._tell(Notice(restore(agent, restoration, what, partial(self._ask, stop))))

        self._do("answering", job, stop)

    def task(self, number: int, name: TaskName, source: Source) -> None:
        """Do a small task beside the conversation; its news bears ``number``."""

        def job(stop: Stop) -> None:
            from gemma_local.app.tui.task_job import do_task_job

            do_task_job(self._dialogue, number, name, source, self._tell, stop)

        self._do_beside(job)

    def best(self, wish: Wish) -> None:
        """Have several attempts made at a task, and take the one that the person picks."""

        def job(stop: Stop) -> None:
            from gemma_local.app.tui.contest_job import hold_contest

            hold_contest(self._dialogue, wish, self._tell, partial(self._ask, stop), stop)

        self._do_beside(job)

    def begin_new(self) -> None:
        """Begin a new conversation."""
        self._turn_to("new", lambda dialogue: dialogue.begin_new())

    def resume(self, id: str) -> None:  # noqa: A002 - it is the session's id everywhere
        """Go on with another session."""
        self._turn_to("resume", lambda dialogue: dialogue.resume(id))

    def branch(self, entry: int) -> None:
        """Go on in a copy of the conversation up to the entry with this number."""
        self._turn_to(
            "branch", lambda dialogue: dialogue.branch(dialogue.conversation.count_up_to(entry))
        )

    def rewind(self, entry: int) -> None:
        """Go back to before the person's message with this number, in a copy."""
        stop = Stop()

        def job() -> None:
            conversation, agent = self._dialogue.conversation, self._dialogue.agent
            if agent is not None and (found := agent.files_before(entry)) and found.diffs:
                what = "bring back, too, as they were before this message:"
                self._tell(Notice(restore(agent, found, what, partial(self._ask, stop))))
            # Of an answer nothing goes back to where the person writes.
            mine = (e for e in conversation.entries if e.message.role == "user")
            said = next((e.written for e in mine if e.number == entry and e.kind == "message"), "")
            self._dialogue.branch(conversation.count_up_to(entry - 1))
            self._tell_opened("rewind", said)

        self._do("leaving", job, stop)

    def think(self, budget: int | None, done: str) -> None:
        """Let the model think: at most ``budget`` tokens, 0 for no limit, None for not at all; then
        say ``done``."""

        def job() -> None:
            if self._dialogue.think(budget):
                self._tell(Notice(done))
            else:
                self._warn("this model does not think before it answers")

        self._do("", job)

    def draft(self, length: int | None, done: str) -> None:
        """Draft so many tokens from now on, None for what pays; then say ``done``."""

        def job() -> None:
            most = self._dialogue.ready.draft_max
            if length is not None and length > most:
                reason = f"at most {most}" if most else "none: there is no drafter"
                self._warn(f"this pair was loaded for drafts of {reason}")
                return
            self._dialogue.options.draft = length
            self._tell(Notice(done))

        self._do("", job)

    def compact(self) -> None:
        """Make room in the context."""
        stop = Stop()

        def job() -> None:
            done = self._dialogue.assistant.compact(stop)
            self._tell(Notice("stopped" if done is None else done.sentence()))
            self._tell(Used(self._dialogue.use()))

        self._do("compacting", job, stop)

    def count(self) -> None:
        """Tell what the conversation takes of the context."""

        def job() -> None:
            self._tell(Used(self._dialogue.use(), self._dialogue.assistant.sizes()))

        self._do("", job)

    def look(self, at: Callable[[Dialogue], None]) -> None:
        """Have something done with the dialogue between two other jobs."""
        self._do("", lambda: at(self._dialogue))

    def close(self, *, at_once: bool = False) -> None:
        """End everything; waits for what was read to be written, unless it is to be at once."""
        if self._is_closed:
            return
        self._is_closed = True
        self.stop()
        has_ended = not at_once and self.end(FAREWELL)
        if not has_ended and self._made is not None:
            self._made.close(at_once=True)

    # ----------------------------------------------------------------------------- the thread

    def _begin(self) -> None:
        self._made = self._made or self._make()

    def _make(self) -> Dialogue:
        from gemma_local.app.dialogue import Dialogue
        from gemma_local.app.errand import terms_of
        from gemma_local.app.tui.ear import Ear

        ear = Ear(self._tell, self._answered)
        terms = terms_of(self._options, self._agent, tools=self._agent.tools)
        terms.mode = self._mode
        terms.consent = lambda proposal: self._ask(self._stop, proposal)
        self._terms = terms
        return Dialogue(self._options, ear, terms=terms, on_tools=ear)

    @property
    def _dialogue(self) -> Dialogue:
        assert self._made is not None
        return self._made

    def _rest(self) -> None:
        dialogue = self._made
        if dialogue is not None and dialogue.is_open and dialogue.engine.is_alive:
            dialogue.assistant.idle()

    def _leave(self) -> None:
        if (dialogue := self._made) is not None:
            with suppress(GemmaLocalError):
                if dialogue.is_open and dialogue.engine.is_alive:
                    dialogue.leave()
            dialogue.close()
        if self._saving is not None:
            self._saving.close()

    # ---------------------------------------------------------------------------------- inside

    def _do_beside(self, job: Callable[[Stop], None]) -> None:
        """Do something beside the conversation that takes its time."""
        stop = Stop()
        self._do("task", partial(job, stop), stop)

    def _turn(self, stop: Stop) -> None:
        """Have the last message answered, with all the calls of tools that this takes."""
        dialogue = self._dialogue
        self._stop = stop
        try:
            if dialogue.agent is None and not dialogue.conversation.awaits_answer:
                raise UsageError("there is nothing to go on with: say something first")
            turned = dialogue.turn(stop, self._steer)
        except GemmaLocalError as error:
            from gemma_local.engine.client import EngineDied

            self._tell(BrokenOff(str(error), isinstance(error, EngineDied)))
            return
        except Exception as error:
            if self._is_closed:
                raise
            # The answer must not look as if it went on.
            self._tell(BrokenOff(log_unexpected(error), died=False))
            return
        if dialogue.agent is None:
            self._answered(turned.answered)
        self._tell(TurnEnded(turned.end, len(turned.calls)))

    def _answered(self, answered: Answered) -> None:
        """One answer of a turn has ended."""
        dialogue = self._dialogue
        last = dialogue.conversation.entries[-1]
        entry = last.number if last.message.role == "assistant" else 0
        self._tell(Answer(answered, dialogue.last_label, entry))

    def _ask(self, stop: Stop, proposal: Proposal) -> Verdict:
        """Ask the person, and wait for the answer."""
        return self.verdicts.ask(proposal, stop)

    def _turn_to(self, why: OpenedWhy, change: Callable[[Dialogue], None]) -> None:
        def job() -> None:
            change(self._dialogue)
            self._tell_opened(why)

        self._do("leaving", job)

    def _tell_opened(self, why: OpenedWhy, returned: str = "") -> None:
        dialogue = self._dialogue
        opened = Opened.of(dialogue, why, returned)
        self._tell(opened)
        if opened.entries:
            self._tell(Used(dialogue.use()))

    def _warn(self, sentence: str) -> None:
        self._tell(Notice(sentence, "warning"))
