"""The conversation that is being had: with the pair that answers, and the session it is kept in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gemma_local.app import early_engine, folders
from gemma_local.app.abreast import abreast
from gemma_local.app.agent.turn import Turned, end_of
from gemma_local.app.assistant import Answered, Assistant
from gemma_local.app.best.scratch import sweep
from gemma_local.app.context_window import ContextUse
from gemma_local.app.conversation import FILES, Conversation
from gemma_local.app.errors import UsageError
from gemma_local.app.exactness_record import ExactnessRecord, deserves_label
from gemma_local.app.launch import Launch, OnLoading, prepare
from gemma_local.app.live_answer import Listener
from gemma_local.app.options import AnswerOptions
from gemma_local.app.prompts import PromptWriter, prompt_writer
from gemma_local.app.record import Unsaved
from gemma_local.app.report import exactness_label, measurements
from gemma_local.app.requests import request, sampling
from gemma_local.app.saving import Kept, Saving
from gemma_local.app.sessions.entry import Entry, first_entries, unspoken
from gemma_local.app.speed_record import remember_answer
from gemma_local.app.stop import Stop
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Done, Generate, Ready
from gemma_local.models.chat_format import Rendering

if TYPE_CHECKING:
    # Loaded where there are tools: who only chats need not wait for it.
    from gemma_local.app.agent.listener import AgentListener
    from gemma_local.app.agent.loop import Agent, Steer
    from gemma_local.app.agent.terms import Terms
    from gemma_local.app.agent.workbench import Workbench


class Dialogue:
    """Everything that a person does in a conversation, whatever it is shown with.

    Used from one thread, except ``Stop``, which any thread may ask for.
    """

    def __init__(
        self,
        options: AnswerOptions,
        listener: Listener,
        *,
        terms: Terms | None = None,
        on_tools: AgentListener | None = None,
    ) -> None:
        """``listener`` hears what happens while answers are made. ``options`` are kept and change
        when the person changes them. With ``terms`` the model may be given tools; ``on_tools``
        then hears all that happens in place of ``listener``."""
        self.options = options
        self._listener = listener if on_tools is None else on_tools
        self._terms = terms
        self._on_tools = on_tools
        self._agent: Agent | None = None
        self.toolless = ""
        """Why the model has no tools although there are terms, "" if it has."""
        self._launch: Launch | None = None
        self._writer: PromptWriter | None = None
        self._engine: Engine | None = None
        self._ready: Ready | None = None
        self._saving: Saving | None = None
        self._kept: Kept | None = None
        self._assistant: Assistant | None = None
        self.last: Done | None = None
        """How the last answer ended."""
        self.last_label = ""
        """What may be said about its text: "exact", "not exact (...)" or nothing."""

    # -------------------------------------------------------------------------------- the pair

    def prepare(self) -> Launch:
        """Choose and check the files, and plan how they are loaded; nothing is loaded yet.

        Raises NoModel, BadModelFile, BadPair, UsageError, WishRefused, UnfitBuild.
        """
        launch = prepare(self.options, longest_draft=self.options.draft)
        # A template that does not work is better known before the model is loaded.
        with early_engine.needed():
            self._writer = prompt_writer(launch.target)
        if self._terms is not None and self._terms.have_helpers(launch.target.parameter_count):
            launch, _ = abreast(launch, 2)
        self._launch = launch
        return launch

    def open(self, saving: Saving, on_loading: OnLoading | None = None) -> Ready:
        """Load what was prepared, and begin or go on with the session that ``saving`` found.

        Raises BadModelFile, EngineDied, SessionInUse, SessionsUnavailable.
        """
        self._saving = saving
        # What a process that was killed has left.
        sweep()
        ready = self._load(on_loading)
        self._begin(saving.open(ready, system=self.options.system or ""))
        return ready

    def change_pair(self, options: AnswerOptions, on_loading: OnLoading | None = None) -> Ready:
        """Load another pair and go on with the conversation. If that fails, the one that was
        loaded is brought back, and what went wrong is raised.

        Raises as ``prepare`` and ``open`` do.
        """
        before, writer = (self.options, self._launch), self._writer
        tokenizer = self.ready.tokenizer
        self.leave()
        # Its memory must be free before anybody can tell whether the next one fits.
        self.engine.close()
        self.options = options
        try:
            self.prepare()
            self._load(on_loading)
        except BaseException:
            (self.options, self._launch), self._writer = before, writer
            self._load(on_loading)
            self._go_on(tokenizer)
            raise
        self._go_on(tokenizer)
        return self.ready

    def revive(self, on_loading: OnLoading | None = None) -> Ready:
        """Start the engine again after its process has ended. Raises EngineFailed, EngineDied."""
        return self.engine.restart(on_loading)

    def load_as(self, launch: Launch, on_loading: OnLoading | None = None) -> None:
        """Load the pair in another way, now or when it is opened; the conversation goes on.

        Raises EngineFailed, EngineDied.
        """
        if self._engine is not None:
            load = launch.with_states().load if self._saved.keeps else launch.load
            self._engine.start(load, on_loading)
        self._launch = launch

    @property
    def is_open(self) -> bool:
        """Whether there is a pair to talk to."""
        return self._assistant is not None

    @property
    def launch(self) -> Launch:
        """The files, and how they are loaded."""
        assert self._launch is not None
        return self._launch

    @property
    def engine(self) -> Engine:
        assert self._engine is not None
        return self._engine

    @property
    def ready(self) -> Ready:
        """The facts about the pair that is loaded, or was when the engine ended."""
        if self._engine is not None and self._engine.ready is not None:
            self._ready = self._engine.ready
        assert self._ready is not None
        return self._ready

    # ------------------------------------------------------------------------- the conversation

    @property
    def assistant(self) -> Assistant:
        assert self._assistant is not None
        return self._assistant

    @property
    def conversation(self) -> Conversation:
        return self.assistant.conversation

    @property
    def agent(self) -> Agent | None:
        """Who works with tools in this conversation, None if there are none."""
        return self._agent

    @property
    def kept(self) -> Kept:
        """Where the conversation is kept."""
        assert self._kept is not None
        return self._kept

    def ask(
        self, text: str, *, files: Sequence[tuple[int, int]] = (), stop: Stop | None = None
    ) -> Answered:
        """Say something and have it answered. Raises as ``Assistant.answer`` does."""
        self.say(text, files=files)
        return self.answer(stop)

    def say(self, text: str, *, files: Sequence[tuple[int, int]] = (), written: str = "") -> Entry:
        """Say something, to be answered with ``answer``; see ``Conversation.ask``."""
        self.assistant.wake()
        if self._agent is None:
            return self.conversation.ask(text, files=files, written=written)
        said, info = self._agent.with_notes(text)
        return self.conversation.ask(said, files=files, written=written or text, info=info)

    def turn(self, stop: Stop | None = None, steer: Steer = tuple) -> Turned:
        """Have the last message answered with all the calls that this takes, or go on with a turn
        that was stopped; without tools it is one answer. See ``Agent.turn``."""
        if self._agent is not None:
            return self._agent.turn(stop, steer)
        answered = self.answer(stop)
        return Turned(end_of(answered), answered)

    def ask_again(self) -> None:
        """Say the person's last message once more, to be answered with ``answer`` or ``turn``; the
        model does not read what came of it before. What tools have done stays done.

        Raises UsageError if nothing was said.
        """
        self.assistant.wake()
        live = self.conversation.live
        said = [at for at, entry in enumerate(live) if entry.message.role == "user"]
        if not said:
            raise UsageError("nothing was said yet that could be answered again")
        if said[-1] < len(live) - 1:
            question = live[said[-1]]
            self.conversation.drop([entry.number for entry in live[said[-1] :]])
            files = [(start, end) for start, end in question.info.get(FILES, ())]
            text, written = question.message.text, question.written
            self.conversation.ask(text, files=files, written=written, info=question.info)

    def answer(self, stop: Stop | None = None, temperature: float | None = None) -> Answered:
        """Have the last message answered. Raises as ``Assistant.answer`` does."""
        answered = self.assistant.answer(
            lambda done, _message: measurements(done.tally), stop, temperature=temperature
        )
        done, sampling = answered.done, answered.request.sampling
        self.last = done
        record = ExactnessRecord(folders.exactness_path())
        exact = deserves_label(record, self.ready, self.launch.load, sampling, done)
        self.last_label = exactness_label(exact=exact, lenience=sampling.lenience)
        remember_answer(self.launch, self.ready, done, self.engine.pid)
        return answered

    def use(self) -> ContextUse:
        """What the next prompt takes of the context. Raises EngineFailed."""
        return self.assistant.use()

    def think(self, budget: int | None) -> bool:
        """Let the model think before its answers: at most ``budget`` tokens, 0 for no limit, None
        for not at all. False if this model does not think."""
        assert self._writer is not None
        if budget is not None and not self._writer.supports_thinking:
            return False
        self.assistant.wake()
        self.options.think = budget
        self.conversation.thinking = budget is not None
        return True

    # ----------------------------------------------------------------------------- the sessions

    def begin_new(self) -> None:
        """Begin a new conversation; what was said stays saved. Raises EngineFailed, EngineDied."""
        self._wake_engine()
        self.leave()
        self._begin(self._saved.open_new(self.ready, system=self.options.system or ""))

    def resume(self, id: str) -> None:  # noqa: A002 - it is the session's id everywhere
        """Go on with another session.

        Raises SessionInUse, NoSuchSession, SessionsUnavailable, EngineFailed, EngineDied.
        """
        if id == self.kept.label:
            return
        self._wake_engine()
        self.leave()
        self._begin(self._saved.open_old(id, self.ready))

    def branch(self, upto: int) -> None:
        """Go on in a copy that has the first ``upto`` entries. What there was stays as it is.

        Raises UsageError if there are not so many, SessionsUnavailable, EngineFailed, EngineDied.
        """
        if not 0 <= upto <= len(self.conversation.entries):
            raise UsageError(f"there are {len(self.conversation.entries)} messages to branch at")
        self._wake_engine()
        self.leave()
        kept = self.kept
        if upto == 0:
            self._begin(self._saved.open_new(self.ready, system=kept.system))
        elif kept.label:
            self._begin(self._saved.open_branch(kept.label, upto, self.ready))
        else:
            entries = first_entries(self.conversation.entries, upto)
            self._begin(Kept(Unsaved(upto + 1), entries, system=kept.system))

    def leave(self) -> None:
        """Write down what was read, so that going on later costs nothing."""
        if self._assistant is not None and self.conversation.entries and self.kept.label:
            self._assistant.leave()
        elif self._assistant is not None:
            self._assistant.wake()

    def close(self, *, at_once: bool = False) -> None:
        """End the engine and give the session back; with ``at_once`` nothing is waited for."""
        if self._engine is not None:
            self._engine.close(timeout=0.0 if at_once else 3.0)
        self._put_away()
        if self._kept is not None:
            self._kept.close()

    # ---------------------------------------------------------------------------------- inside

    @property
    def _saved(self) -> Saving:
        assert self._saving is not None
        return self._saving

    def _load(self, on_loading: OnLoading | None) -> Ready:
        launch = self.launch
        if self._saved.keeps:
            launch = launch.with_states()
        self._engine = launch.open(on_loading)
        return self.ready

    def _wake_engine(self) -> None:
        """Start an engine that has ended again. What the model works with is counted when a
        conversation begins: one that could not be counted would be half begun."""
        if not self.engine.is_alive:
            self.revive(self._listener.event)

    def _begin(self, kept: Kept) -> None:
        if self._kept is not None and self._kept is not kept:
            self._kept.close()
        self._kept = kept
        self.last, self.last_label = None, ""
        self._talk(kept.entries)

    def _go_on(self, tokenizer: str) -> None:
        """The same conversation with the pair that is loaded now, where the last one had the
        vocabulary ``tokenizer``."""
        entries: Sequence[Entry] = self.conversation.entries
        if self.ready.tokenizer != tokenizer:
            entries = [unspoken(entry) for entry in entries]
        self.kept.describe(self.ready)
        self._talk(entries)

    def _talk(self, entries: Sequence[Entry]) -> None:
        assert self._writer is not None
        kept, is_gemma4 = self.kept, self.launch.target.is_gemma4
        self._put_away()
        bench = self._workbench()
        told = (bench.instructions.text, kept.system) if bench is not None else (kept.system,)
        conversation = Conversation(
            self._writer,
            kept.record,
            entries,
            system="\n\n".join(filter(None, told)),
            tools=[tool.declaration for tool in bench.tools] if bench is not None else (),
            examples=bench.examples if bench is not None else (),
            thinking=self.options.think is not None,
        )

        def make_request(rendering: Rendering) -> Generate:
            return request(rendering, self.options, is_gemma4=is_gemma4, session=kept.label)

        self._assistant = Assistant(
            *(self.engine, conversation, self._listener, make_request),
            is_gemma4=is_gemma4,
            saves=bool(kept.label),
        )
        if bench is not None:
            from gemma_local.app.agent.assembly import agent_with

            assert self._terms is not None and self._on_tools is not None
            self._agent = agent_with(
                *(bench, self._assistant, self.engine, self._terms, self._on_tools),
                *(self.answer, make_request),
                temperature=sampling(self.options, is_gemma4=is_gemma4).temperature,
                is_gemma4=is_gemma4,
            )
            if bench.instructions.remark:
                self._listener.notice(bench.instructions.remark)

    def _workbench(self) -> Workbench | None:
        """What the model works with here, None if it has no tools."""
        assert self._writer is not None
        if self._terms is None or self._on_tools is None:
            return None
        from gemma_local.app.agent.assembly import bench_with

        found = bench_with(
            *(self._terms, self.engine, self.ready, self.launch.target),
            label=self.kept.label,
            supports_tools=self._writer.supports_tools,
        )
        self.toolless = found if isinstance(found, str) else ""
        return None if isinstance(found, str) else found

    def _put_away(self) -> None:
        """The work in the conversation before is over."""
        agent, self._agent = self._agent, None
        if agent is not None:
            agent.bench.close()
