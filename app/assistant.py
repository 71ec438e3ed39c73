"""Answers in a conversation: made by the engine, split into thought, answer and calls, kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from gemma_local.app.agent.second_try import second_try
from gemma_local.app.answer import Answer
from gemma_local.app.compaction import Compacted
from gemma_local.app.compactor import Compactor
from gemma_local.app.context_count import ContextCounter
from gemma_local.app.context_window import ContextUse, Window
from gemma_local.app.conversation import Conversation
from gemma_local.app.idle import Idle, Stopped
from gemma_local.app.interrupts import first_interrupt_calls
from gemma_local.app.live_answer import Listener, LiveAnswer, feed
from gemma_local.app.record import Unsaved
from gemma_local.app.sessions.entry import Entry
from gemma_local.app.stop import Stop
from gemma_local.app.unexpected import log_unexpected
from gemma_local.engine.client import Engine, EngineDied, EngineFailed
from gemma_local.engine.messages import Delta, Done, Failed, Generate, Prefill, Read
from gemma_local.models.chat_format import Rendering
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.guest_reply import reply_for
from gemma_local.models.message import Message, Opening
from gemma_local.models.prompt import Prompt, Text
from gemma_local.models.reply import Reply
from gemma_local.models.split_reply import SplitReply
from gemma_local.models.tool_call import ParsedCall

LEAST_REPLY: Final = 32
"""With fewer tokens left an answer is not begun."""

SAVE_AFTER: Final = 20.0
"""Seconds of rest after which the state of the conversation is written to disk."""

LONG_READING: Final = 2.0
"""Seconds from which on it is worth the disk not to read the beginning of prompts again."""
LAST_READING: Final = 3.0
"""Seconds that are waited at the end for the last answer to be read without its thought."""


class ContextFull(GemmaLocalError):
    """What must be read leaves no room for an answer."""


MakeRequest = Callable[[Rendering], Generate]
Report = Callable[[Done, Message], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that came to its end. ``message`` is None if nothing was said, ``calls`` are what
    it asks to be run, with the verdict on each."""

    request: Generate
    done: Done
    message: Message | None
    calls: tuple[ParsedCall, ...] = ()


class Assistant:
    """Makes the answers of one conversation.

    Between answers, when ``idle`` was called, it does in the background what the person would
    otherwise wait for.
    """

    def __init__(
        self,
        engine: Engine,
        conversation: Conversation,
        listener: Listener,
        make_request: MakeRequest,
        *,
        is_gemma4: bool,
        saves: bool = False,
    ) -> None:
        """``engine`` has a pair loaded. ``is_gemma4``: replies are in Gemma 4's format. ``saves``:
        the engine keeps the conversation's state on disk as well."""
        assert engine.ready is not None
        self.conversation = conversation
        self.window = Window(engine.ready.context)
        self._engine = engine
        self._markers = engine.ready.markers
        self._listener = listener
        self._make_request = make_request
        self._is_gemma4 = is_gemma4
        self._saves = saves
        self._counter = ContextCounter(self._count, self.window)
        self._compactor = Compactor(self._summarise, self._counter, self.window)
        self._idle = Idle(engine)
        self._stop = Stop()
        self._unsaid: list[str] = []
        self._has_warned = False

    # ------------------------------------------------------------------------------- answering

    def answer(
        self,
        report: Report | None = None,
        stop: Stop | None = None,
        *,
        temperature: float | None = None,
    ) -> Answered:
        """Answer the last message, the user's or a tool's, and keep the answer.

        ``report`` makes the measurements that are kept with it. ``stop``, or the first Ctrl-C, ends
        the answer, with the reason "cancelled". ``temperature`` is used in place of the usual one.
        A call at its end that cannot be read is asked for once more if that is cheap.

        Raises:
            ContextFull: there is no room; the message that asked for it is withdrawn.
            BadModelFile: the model's template refuses the conversation; likewise.
            EngineFailed: what was answered by then is kept.
        """
        self.wake()
        self._stop = stop = Stop() if stop is None else stop
        try:
            rendering = self._fitting()
        except GemmaLocalError:
            self.conversation.withdraw()
            raise
        request = self._make_request(rendering)
        if temperature is not None:
            request = replace(request, sampling=replace(request.sampling, temperature=temperature))
        stream = self.conversation.answering()
        live = LiveAnswer(
            self._reply(rendering.opening),
            stream,
            self._listener,
            has_tools=bool(self.conversation.tools),
        )
        running = Answer(self._engine, request, live.event, self._listener.died, stop)
        try:
            done = running.run()
        except BaseException:
            self._keep_rest(live)
            raise
        message, reply = live.finish(done), live.reply
        again = second_try(request, running.deltas, reply, self.conversation.tools, self._markers)
        if again is not None and not stop.is_asked:
            fresh = Reply(self._markers, self.conversation.tools, opening=rendering.opening)
            mended = again.run(self._engine, self._listener.died, stop, fresh)
            message, reply = (message, reply) if mended is None else (mended, fresh)
        if message is None:
            live.stream.stop()
            self.conversation.withdraw()
        else:
            entry = live.stream.finish(
                message,
                state="stopped" if done.reason == "cancelled" else "complete",
                finish=done.reason,
                report=report(done, message) if report is not None else None,
            )
            self._take(entry)
        for sentence in reply.notices:
            self._listener.notice(sentence)
        return Answered(request, done, message, reply.calls)

    def aside(
        self,
        messages: Sequence[Message],
        listener: Listener,
        stop: Stop | None = None,
        *,
        most_tokens: int = 0,
        temperature: float | None = None,
    ) -> Answered:
        """Answer messages that are no part of the conversation, with at most ``most_tokens`` tokens
        (0: no limit), and keep nothing of them. What the conversation has read stays read.

        Raises BadModelFile, EngineFailed, ContextFull.
        """
        self.wake()
        rendering = self.conversation.apart(messages)
        self._check_room(self._counter.prompt(rendering.prompt))
        request = self._make_request(rendering)
        sampling = request.sampling
        if temperature is not None:
            sampling = replace(sampling, temperature=min(temperature, sampling.temperature))
        request = replace(request, session="", max_tokens=most_tokens, sampling=sampling)
        live = LiveAnswer(
            self._reply(rendering.opening), Unsaved().stream(), listener, has_tools=False
        )
        done = Answer(self._engine, request, live.event, listener.died, stop).run()
        return Answered(request, done, live.finish(done))

    def _take(self, entry: Entry) -> None:
        self.conversation.keep(entry)
        if not (entry.message.text or entry.message.calls):
            # Nothing but a thought, which the model would not read again.
            self.conversation.withdraw()

    def use(self) -> ContextUse:
        """What the next prompt takes of the context. Raises EngineFailed."""
        self.wake()
        return self._counter.use(self.conversation)

    def sizes(self) -> dict[int, int]:
        """Tokens of each entry that the model reads, by number. Raises EngineFailed."""
        self.wake()
        return self._counter.entries(self.conversation)

    def count(self, text: str) -> int:
        """Tokens of a text. Raises EngineFailed."""
        return self._counter.prompt((Text(text),))

    def compact(self, stop: Stop | None = None) -> Compacted | None:
        """Make room now, as much as there is to make; None if ``stop`` or Ctrl-C stopped it.

        Raises EngineFailed.
        """
        self.wake()
        self._stop = Stop() if stop is None else stop
        try:
            return self._compactor.compact(self.conversation, as_much_as_possible=True)
        except Stopped:
            return None

    # ------------------------------------------------------------------------------------ rest

    def idle(self) -> None:
        """The person reads or writes: use the time."""
        if not self.conversation.live:
            if self.conversation.tools:
                self._idle.begin(self._read_beginning)
        elif not self.conversation.awaits_answer:
            self._idle.begin(self._rest)

    def wake(self) -> None:
        """Stop what ``idle`` began; returns when the conversation is ours again."""
        self._idle.end()
        notices, self._unsaid = self._unsaid, []
        for sentence in notices:
            self._listener.notice(sentence)

    def leave(self) -> None:
        """The conversation is over for now: write its state to disk, if that is wanted."""
        if self._saves:
            # What is read now need not be read when the conversation goes on.
            self._idle.grant(LAST_READING)
        self.wake()
        if self._saves:
            with suppress(EngineFailed):
                self._engine.save()

    def _rest(self) -> None:
        """Make room if it is time, read what the next prompt will begin with, save the state."""
        try:
            self._make_room()
            request = self._make_request(self.conversation.history())
            reading = Read(
                request.id, request.prompt, request.session, request.exact, request.draft
            )
            for _ in self._idle.run(reading):
                pass
            self._idle.done()
            if self._saves:
                self._idle.wait(SAVE_AFTER)
                self._engine.save()
        except (Stopped, GemmaLocalError):
            # Whoever asks next finds out what is wrong, and is told.
            pass
        except Exception as error:  # noqa: BLE001 - nobody else hears of it
            self._say(log_unexpected(error))
        finally:
            self._idle.done()

    def _read_beginning(self) -> None:
        """Read what every prompt will begin with, and keep it on disk if that took long: other
        conversations begin with the same."""
        try:
            request = self._make_request(self.conversation.history())
            digest = hashlib.blake2b(repr(request.prompt).encode(), digest_size=8).hexdigest()
            name = f"beginning {digest}"
            reading = Read(request.id, request.prompt, name, request.exact, request.draft)
            for event in self._idle.run(reading):
                match event:
                    case Done(reason="read", tally=tally) if tally.prefill_seconds >= LONG_READING:
                        if self._saves:
                            self._engine.save()
        except (Stopped, GemmaLocalError):
            # The first answer reads it, then.
            pass
        except Exception as error:  # noqa: BLE001 - nobody else hears of it
            self._say(log_unexpected(error))
        finally:
            self._idle.done()

    # ---------------------------------------------------------------------------------- inside

    def _make_room(self) -> None:
        """Compact the conversation if it has come to the line. Raises EngineFailed, Stopped."""
        use = self._counter.use(self.conversation)
        # In the middle of a chain of calls what was found out is needed: only if it must be.
        limit = self.window.room if self.conversation.is_in_chain else self.window.compact_at
        if use.prompt > limit and self._compactor.may_help(use):
            done = self._compactor.compact(self.conversation)
            if done.freed > 0:
                self._say(done.sentence())
            self._has_warned = False
        elif use.prompt > self.window.warn_at and not self._has_warned:
            self._has_warned = True
            self._say(
                f"the context is {use.share:.0%} full; from {self.window.compact_at} of "
                f"{self.window.size} tokens on, old messages are summed up"
            )

    def _say(self, sentence: str) -> None:
        """Tell the person; what is found out in the background is told when they are back."""
        if self._idle.is_here:
            self._unsaid.append(sentence)
        else:
            self._listener.notice(sentence)

    def _fitting(self) -> Rendering:
        """The prompt for the answer, after making room for it."""
        with suppress(Stopped):
            self._make_room()
        self._check_room(self._counter.use(self.conversation).prompt)
        return self.conversation.rendering()

    def _check_room(self, tokens: int) -> None:
        if tokens + LEAST_REPLY > self.window.size:
            raise ContextFull(
                f"this takes {tokens} tokens and the context holds {self.window.size}, so no "
                "answer fits; say it shorter, begin a new conversation, or start with --ctx "
                f"{-(-(tokens + self.window.reply) // 1024) * 1024}"
            )

    def _summarise(self, rendering: Rendering, most_tokens: int) -> Message | None:
        """The model's answer to a request for a summary, None if none came. Raises Stopped."""
        request = replace(
            self._make_request(rendering), max_tokens=most_tokens, stop=(), thought_tokens=0
        )
        reply = self._reply(rendering.opening)
        # What is done in idle time has its own way to end.
        stop = Stop() if self._idle.is_here else self._stop

        def cancel() -> None:
            self._engine.cancel(request.id)

        with first_interrupt_calls(stop.ask), stop.calling(cancel):
            for event in self._idle.run(request):
                match event:
                    case Delta():
                        feed(reply, event)
                    case Failed() if event.died and not self._idle.is_here:
                        self._revive(event.message)
                        return None
                    case Failed():
                        raise EngineFailed(event.message)
                    case Done() if event.reason == "cancelled":
                        raise Stopped
                    case Prefill() if not self._idle.is_here:
                        self._listener.event(event)
                if stop.is_asked:
                    # It may have overtaken the request itself, and been ignored.
                    cancel()
        reply.finish(truncated=True)
        if not reply.answer.strip():
            return None
        return Message("assistant", reply.answer, spoken=reply.spoken)

    def _count(self, prompts: Sequence[Prompt]) -> Sequence[int]:
        try:
            return self._engine.count(prompts)
        except EngineDied as death:
            if self._idle.is_here:
                raise
            self._revive(str(death))
            return self._engine.count(prompts)

    def _revive(self, why: str) -> None:
        """Start the engine again after its process ended between two answers; and once more if it
        ends while it loads. Raises EngineFailed."""
        self._listener.died(why)
        try:
            self._engine.restart(self._listener.event)
        except EngineDied as death:
            self._listener.died(str(death))
            self._engine.restart(self._listener.event)

    def _reply(self, opening: Opening) -> SplitReply:
        return reply_for(self._is_gemma4, self._markers, self.conversation.tools, opening)

    def _keep_rest(self, live: LiveAnswer) -> None:
        """The engine failed, or everything was interrupted: what was on screen stays."""
        message = live.finish(None)
        if message is None:
            live.stream.stop()
            self.conversation.withdraw()
        else:
            self._take(live.stream.finish(message, state="stopped", finish="failed"))
