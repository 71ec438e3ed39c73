"""Requests in, events out: which sequence does what in the next pass.

One turn of the loop reads one slice of one prompt, then moves every decoding sequence on by a
step. Prompts that are only read come last, and make way for every request. What a request leaves
in its slot is kept for those that begin alike (``engine.prompt_cache``).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from gemma_local.engine.encoding import Encoder
from gemma_local.engine.messages import (
    Done,
    Event,
    Failed,
    Generate,
    Prefill,
    Read,
    Saved,
    Stats,
    Tally,
)
from gemma_local.engine.output import Output
from gemma_local.engine.pair import Pair
from gemma_local.engine.runtime.context import DecodeFailed
from gemma_local.engine.runtime.grammar import Grammar
from gemma_local.engine.sampler import Sampler
from gemma_local.engine.sequence import Limits, Sequence
from gemma_local.engine.thoughts import ThoughtBudget
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.prompt import Prompt

DELTA_SECONDS: Final = 0.04
"""Time between two deltas of a request: often enough to look like typing, and cheap."""
STATS_SECONDS: Final = 0.25


_OPENING: Final = 8
"""Tokens at a prompt's end among which an opened thought is looked for."""
LONG_SLICE_SECONDS: Final = 1.0
"""A slice of a prompt that is read for later is broken off for a request if it takes longer."""


class Scheduler:
    """Runs requests on the slots of one pair."""

    def __init__(self, pair: Pair, send: Callable[[Event], None]) -> None:
        self._pair = pair
        self._decoder = decoder = pair.decoder
        self._send = send
        self._encoder = Encoder(decoder.target.model.vocabulary)
        self._waiting: deque[Generate] = deque()
        self._to_read: deque[Read] = deque()
        self._running: dict[int, Sequence] = {}
        self._slots = range(decoder.target.options.sequences)
        self._cache = pair.prompt_cache()
        self._slice_seconds = 0.0
        self._sent_delta: dict[str, float] = {}
        self._sent_stats: dict[str, float] = {}

    @property
    def is_idle(self) -> bool:
        return not self._waiting and not self._to_read and not self._running

    @property
    def reads_long_slices(self) -> bool:
        """Whether a prompt is being read for later, in slices too long to wait for.

        Any thread may ask.
        """
        is_reading = any(sequence.only_reads for sequence in list(self._running.values()))
        return is_reading and self._slice_seconds > LONG_SLICE_SECONDS

    def count(self, prompts: tuple[Prompt, ...]) -> tuple[int, ...]:
        """Tokens of each prompt, or part of one. Raises GemmaLocalError as ``Encoder.ids``."""
        return tuple(len(self._encoder.part_ids(prompt)) for prompt in prompts)

    def submit(self, request: Generate | Read) -> None:
        """Queue a request; its fate arrives as events. A Generate ends every Read."""
        if isinstance(request, Read):
            self._to_read.append(request)
            return
        self._waiting.append(request)
        reading = [s.request.id for s in self._running.values() if s.only_reads]
        for read in (*reading, *(read.id for read in self._to_read)):
            self.cancel(read)

    def cancel(self, request: str) -> None:
        """End a request now; what it produced is sent with its Done. Unknown ids are ignored."""
        for waiting in list(self._waiting):
            if waiting.id == request:
                self._waiting.remove(waiting)
                self._send_unstarted(request, waiting.produced)
        for read in list(self._to_read):
            if read.id == request:
                self._to_read.remove(read)
                self._send_unstarted(request)
        for sequence in self._running.values():
            if sequence.request.id == request:
                sequence.finish("cancelled")
        self._retire()

    def _send_unstarted(self, request: str, produced: tuple[int, ...] = ()) -> None:
        self._send(Done(request, "cancelled", Tally(), produced, cache=self._cache.use))

    def forget(self) -> None:
        """Make way for somebody else who is going to use the slots."""
        self._cache.forget()

    def save(self, request: str) -> None:
        """Write what is cached of named sessions to disk; answered with Saved or Failed."""
        try:
            files, written = self._cache.save(self._running)
        except GemmaLocalError as error:
            self._send(Failed(request, str(error)))
            return
        self._send(Saved(request, files, written, self._cache.use))

    def turn(self) -> None:
        """Do one slice of prefill and one step of decoding, as far as there is any to do.

        Raises Aborted when a pass was stopped from outside; look at the commands, then go on.
        """
        self._admit()
        running = [s for s in self._running.values() if not s.is_finished]
        prefilling = next((s for s in running if s.to_prefill), None)
        decoding = [s for s in running if not s.to_prefill]
        if prefilling is not None:
            self._guarded([prefilling], lambda: self._prefill(prefilling))
        if decoding:
            self._guarded(decoding, lambda: self._decoder.step(decoding))
        self._report()
        self._retire()

    def _guarded(self, sequences: list[Sequence], work: Callable[[], None]) -> None:
        try:
            work()
        except DecodeFailed as error:
            for sequence in sequences:
                self._send(Failed(sequence.request.id, str(error)))
                self._release(sequence)

    def _prefill(self, sequence: Sequence) -> None:
        meter = sequence.meter
        before = meter.prefill_seconds
        self._decoder.prefill(sequence)
        self._slice_seconds = meter.prefill_seconds - before
        longest = self._longest(sequence.request, sequence.prompt_length, sequence.limits)
        self._cache.advance(sequence, longest)
        total = sequence.prompt_length + len(sequence.request.produced)
        self._send(Prefill(sequence.request.id, sequence.pos, total, meter.reused_tokens))

    # ------------------------------------------------------------------------------ admission

    def _admit(self) -> None:
        while len(self._running) < len(self._slots):
            if self._waiting:
                request: Generate | Read = self._waiting.popleft()
            elif self._to_read and not self._running:
                request = self._to_read.popleft()
            else:
                return
            try:
                if isinstance(request, Read) and self._has_read(request):
                    continue
                sequence = self._start(request)
            except GemmaLocalError as error:
                self._send(Failed(request.id, str(error)))
                continue
            self._running[sequence.slot] = sequence
            if sequence.tokens_left is not None and sequence.tokens_left <= 0:
                sequence.finish("length")

    def _has_read(self, request: Read) -> bool:
        """Answer a Read of what is cached already: it must not cut off what follows there."""
        tokens = self._encoder.ids(request.prompt)
        _draft, limits = self._pair.choose(None, request.exact)
        if not tokens or not self._cache.holds(tokens, exact=limits.are_exact):
            return False
        tally = Tally(prompt_tokens=len(tokens), reused_tokens=len(tokens))
        cache = self._cache.use
        self._send(Done(request.id, "read", tally, (), exact=limits.are_exact, cache=cache))
        return True

    def _start(self, request: Generate | Read) -> Sequence:
        only_reads = isinstance(request, Read)
        if isinstance(request, Read):
            request = Generate(
                request.id, request.prompt, exact=request.exact, session=request.session
            )
        prompt = self._encoder.ids(request.prompt)
        context = self._decoder.target.options.context
        known = len(prompt) + len(request.produced)
        if not prompt:
            raise GemmaLocalError("the prompt is empty; write something to answer")
        if known >= context:
            raise GemmaLocalError(
                f"the prompt has {known} tokens and the context holds {context}; shorten the "
                f"prompt or start with --ctx {_round_up(known + 512)}"
            )
        vocabulary = self._decoder.target.model.vocabulary
        foreign = next((t for t in prompt if not 0 <= t < vocabulary.size), None)
        if foreign is not None:
            raise GemmaLocalError(f"the prompt contains token {foreign}, which does not exist")
        draft, limits = self._pair.choose(request.draft, request.exact)
        tokens = [*prompt, *request.produced]
        grammar = (
            Grammar(self._decoder.target.model, request.grammar, request.produced)
            if request.grammar
            else None
        )
        sampler = Sampler(
            request.sampling, vocabulary.suppressed, prompt=tokens, constraint=grammar
        )
        output = Output(
            vocabulary,
            request.stop,
            request.produced,
            watch_loops=not request.ignore_end,
            opens_thought=request.opens_thought,
        )
        markers = {} if request.ignore_end else vocabulary.markers
        thoughts = ThoughtBudget(request, output.channel, markers, context - len(prompt))
        # Last, because it changes the cache: a request that is refused must not.
        slot = self._cache.begin(
            tokens,
            request.session,
            (number for number in self._slots if number not in self._running),
            exact=limits.are_exact,
            end=self._longest(request, len(prompt), limits),
        )
        sequence = Sequence(slot.number, request, prompt, sampler, output, thoughts, draft, limits)
        sequence.pos = sequence.meter.reused_tokens = len(slot.cached)
        sequence.origin = slot.origin
        sequence.partings = (slot.parting, _parting(prompt, vocabulary.markers))
        sequence.only_reads = only_reads
        return sequence

    def _longest(self, request: Generate, prompt: int, limits: Limits) -> int:
        """Tokens that a request may have in the cache at most, those of drafts included."""
        context = self._decoder.target.options.context
        return min(prompt + (request.max_tokens or context), context) + limits.rows

    # -------------------------------------------------------------------------------- reports

    def _report(self) -> None:
        now = time.perf_counter()
        for sequence in self._running.values():
            request = sequence.request.id
            if now - self._sent_delta.get(request, 0.0) >= DELTA_SECONDS:
                delta = sequence.output.take(request)
                if delta is not None:
                    self._sent_delta[request] = now
                    self._send(delta)
            if now - self._sent_stats.get(request, now) >= STATS_SECONDS:
                self._send(Stats(request, sequence.tally()))
                self._sent_stats[request] = now
            self._sent_stats.setdefault(request, now)

    def _retire(self) -> None:
        for sequence in list(self._running.values()):
            if sequence.is_finished:
                delta = sequence.output.take(sequence.request.id)
                if delta is not None:
                    self._send(delta)
                self._release(sequence)
                self._send(
                    Done(
                        sequence.request.id,
                        sequence.reason or "",
                        sequence.tally(),
                        tuple(sequence.output.ids),
                        sequence.end_token,
                        sequence.detail,
                        exact=sequence.limits.are_exact,
                        cache=self._cache.use,
                    )
                )

    def _release(self, sequence: Sequence) -> None:
        self._cache.keep(sequence)
        del self._running[sequence.slot]
        self._sent_delta.pop(sequence.request.id, None)
        self._sent_stats.pop(sequence.request.id, None)


def _parting(prompt: list[int], markers: dict[str, int]) -> int:
    """Where the prompt of the next turn may part from this one.

    At its end, or before a thought that is opened there: past thoughts are left out of prompts.
    """
    opening = markers.get("<|channel>")
    last = range(len(prompt) - 1, max(len(prompt) - 1 - _OPENING, 0), -1)
    return next((i for i in last if prompt[i] == opening), len(prompt))


def _round_up(tokens: int) -> int:
    return -(-tokens // 1024) * 1024
