"""Requests in, events out: which sequence does what in the next pass.

One turn of the loop reads one slice of one prompt, then moves every decoding sequence on by a step
in as few passes as llama.cpp allows (``engine.passes``). Prompts take turns, by priority, and their
slices are short while others decode. A prompt that begins like one that is being read waits until
that beginning is there, and gets a copy. Prompts that are only read come last, and make way for
every request. What a request leaves in its slot is kept for those that begin alike
(``engine.prompt_cache``).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from gemma_local.engine.admission import Admission
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
from gemma_local.engine.pair import Pair
from gemma_local.engine.runtime.context import DecodeFailed
from gemma_local.engine.sequence import Sequence
from gemma_local.engine.turns import Turns
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.prompt import Prompt

DELTA_SECONDS: Final = 0.04
"""Time between two deltas of a request: often enough to look like typing, and cheap."""
STATS_SECONDS: Final = 0.25
LONG_SLICE_SECONDS: Final = 1.0
"""A slice of a prompt that is read for later is broken off for a request if it takes longer."""


class Scheduler:
    """Runs requests on the slots of one pair."""

    def __init__(self, pair: Pair, send: Callable[[Event], None]) -> None:
        self._pair = pair
        self._decoder = decoder = pair.decoder
        self._send = send
        self._encoder = Encoder(decoder.target.model.vocabulary)
        self._waiting: list[Admission] = []
        self._to_read: deque[Read] = deque()
        # In the order in which they last had a slice read.
        self._running: dict[int, Sequence] = {}
        self._slots = range(decoder.target.options.sequences)
        self._cache = pair.prompt_cache()
        self._admissions, self._slices = Turns(), Turns()
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

    def runs_beside(self, request: str) -> bool:
        """Whether another request than this one runs. Any thread may ask."""
        return any(s.request.id != request for s in list(self._running.values()))

    def count(self, prompts: tuple[Prompt, ...]) -> tuple[int, ...]:
        """Tokens of each prompt, or part of one. Raises GemmaLocalError as ``Encoder.ids``."""
        return tuple(len(self._encoder.part_ids(prompt)) for prompt in prompts)

    def submit(self, request: Generate | Read) -> None:
        """Queue a request; its fate arrives as events. A Generate ends every Read."""
        if isinstance(request, Read):
            self._to_read.append(request)
            return
        reading = [s.request.id for s in self._running.values() if s.only_reads]
        for read in (*reading, *(read.id for read in self._to_read)):
            self.cancel(read)
        try:
            self._waiting.append(Admission(self._pair, self._encoder, request))
        except GemmaLocalError as error:
            self._send(Failed(request.id, str(error)))

    def cancel(self, request: str) -> None:
        """End a request now; what it produced is sent with its Done. Unknown ids are ignored."""
        for waiting in list(self._waiting):
            if waiting.request.id == request:
                self._waiting.remove(waiting)
                self._send_unstarted(request, waiting.request.produced)
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
        reading = [s for s in running if s.to_prefill]
        decoding = [s for s in running if not s.to_prefill]
        if reading:
            one = self._slices.pick(reading, lambda sequence: sequence.request.priority)
            self._guarded([one], lambda: self._prefill(one, in_company=bool(decoding)))
        if decoding:
            self._guarded(decoding, lambda: self._decoder.step(decoding))
        self._report()
        self._retire()

    def _guarded(self, sequences: list[Sequence], work: Callable[[], None]) -> None:
        try:
            work()
        except DecodeFailed as error:
            for sequence in sequences:
                # One that ended in an earlier pass of the step has not failed.
                if not sequence.is_finished:
                    sequence.output.finish()
                    self._send_rest(sequence)
                    self._send(Failed(sequence.request.id, str(error)))
                    self._release(sequence)

    def _prefill(self, sequence: Sequence, *, in_company: bool) -> None:
        meter = sequence.meter
        before = meter.prefill_seconds
        self._decoder.prefill(sequence, in_company=in_company)
        self._slice_seconds = meter.prefill_seconds - before
        self._running[sequence.slot] = self._running.pop(sequence.slot)
        self._cache.advance(sequence)
        total = sequence.prompt_length + len(sequence.request.produced)
        self._send(Prefill(sequence.request.id, sequence.pos, total, meter.reused_tokens))

    # ------------------------------------------------------------------------------ admission

    def _admit(self) -> None:
        while len(self._running) < len(self._slots):
            ready = [waiting for waiting in self._waiting if not self._awaits_another(waiting)]
            if ready:
                chosen = self._admissions.pick(ready, lambda one: one.request.priority)
                self._waiting.remove(chosen)
                self._start(chosen)
            elif self._to_read and not self._running and not self._waiting:
                self._start_reading(self._to_read.popleft())
            else:
                return

    def _awaits_another(self, waiting: Admission) -> bool:
        """Whether a prompt is being read that begins like this one, further than what there is."""
        follows = False
        for sequence in self._running.values():
            if sequence.to_prefill and not sequence.is_finished:
                # Each is asked: the first that is there can be copied from.
                follows |= self._cache.follows(waiting.wanted, sequence, self._running)
        return follows

    def _start_reading(self, read: Read) -> None:
        request = Generate(
            read.id, read.prompt, draft=read.draft, exact=read.exact, session=read.session
        )
        try:
            admission = Admission(self._pair, self._encoder, request)
        except GemmaLocalError as error:
            self._send(Failed(read.id, str(error)))
            return
        # What is cached already is not read: that would cut off what follows there.
        if not self._cache.holds(admission.wanted):
            self._start(admission, only_reads=True)
            return
        count = len(admission.wanted)
        tally = Tally(prompt_tokens=count, reused_tokens=count)
        exact = admission.limits.are_exact
        self._send(Done(read.id, "read", tally, (), exact=exact, cache=self._cache.use))

    def _start(self, admission: Admission, *, only_reads: bool = False) -> None:
        try:
            sequence = admission.sequence()
        except GemmaLocalError as error:
            self._send(Failed(admission.request.id, str(error)))
            return
        # Last, because it changes the cache: a request that is refused must not.
        admission.place(sequence, self._cache.begin(admission.wanted, self._running))
        sequence.only_reads = only_reads
        self._running[sequence.slot] = sequence
        if sequence.tokens_left is not None and sequence.tokens_left <= 0:
            sequence.finish("length")

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
                self._send_rest(sequence)
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

    def _send_rest(self, sequence: Sequence) -> None:
        """What a request that ends has said since its last delta."""
        delta = sequence.output.take(sequence.request.id)
        if delta is not None:
            self._send(delta)

    def _release(self, sequence: Sequence) -> None:
        self._cache.keep(sequence)
        del self._running[sequence.slot]
        self._sent_delta.pop(sequence.request.id, None)
        self._sent_stats.pop(sequence.request.id, None)
