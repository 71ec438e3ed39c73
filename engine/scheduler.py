"""Requests in, events out: which sequence does what in the next pass.

One turn of the loop reads one slice of one prompt, then moves every decoding sequence on by a
step. A free slot keeps its cache, and a new request takes the slot whose cache begins like its
prompt.
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
    Stats,
    Tally,
)
from gemma_local.engine.output import Output
from gemma_local.engine.pair import Pair
from gemma_local.engine.runtime.context import DecodeFailed
from gemma_local.engine.sampler import Sampler
from gemma_local.engine.sequence import Limits, Sequence
from gemma_local.engine.thoughts import ThoughtBudget
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.prompt import Prompt

DELTA_SECONDS: Final = 0.04
"""Time between two deltas of a request: often enough to look like typing, and cheap."""
STATS_SECONDS: Final = 0.25


class Cache:
    """What a free slot's KV cache holds.

    ``in_order``: the cells of the sliding-window ring were filled in order. Passes without a rule
    about the ring's end may have rolled back across it.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.in_order = True

    def clear(self) -> None:
        """Nothing is cached, or will be when the slot is used."""
        self.tokens = []
        self.in_order = True

    def keep(self, sequence: Sequence) -> None:
        """Remember what a sequence that ends leaves behind."""
        self.tokens = sequence.tokens[: sequence.pos]
        self.in_order = self.in_order and sequence.limits.are_exact


class Scheduler:
    """Runs requests on the slots of one pair."""

    def __init__(self, pair: Pair, send: Callable[[Event], None]) -> None:
        self._pair = pair
        self._decoder = decoder = pair.decoder
        self._send = send
        self._encoder = Encoder(decoder.target.model.vocabulary)
        self._waiting: deque[Generate] = deque()
        self._running: dict[int, Sequence] = {}
        self._caches = [Cache() for _ in range(decoder.target.options.sequences)]
        self._sent_delta: dict[str, float] = {}
        self._sent_stats: dict[str, float] = {}

    @property
    def is_idle(self) -> bool:
        return not self._waiting and not self._running

    def count(self, prompts: tuple[Prompt, ...]) -> tuple[int, ...]:
        """Tokens of each prompt, or part of one. Raises GemmaLocalError as ``Encoder.ids``."""
        return tuple(len(self._encoder.part_ids(prompt)) for prompt in prompts)

    def submit(self, request: Generate) -> None:
        """Queue a request; its fate arrives as events."""
        self._waiting.append(request)

    def cancel(self, request: str) -> None:
        """End a request now; what it produced is sent with its Done. Unknown ids are ignored."""
        for waiting in list(self._waiting):
            if waiting.id == request:
                self._waiting.remove(waiting)
                self._send(Done(request, "cancelled", Tally(), waiting.produced))
        for sequence in self._running.values():
            if sequence.request.id == request:
                sequence.finish("cancelled")
        self._retire()

    def forget(self) -> None:
        """Do not count on what the caches hold: somebody else used them."""
        for slot, cache in enumerate(self._caches):
            cache.clear()
            self._decoder.target.truncate(slot, 0)

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
        self._decoder.prefill(sequence)
        meter = sequence.meter
        total = sequence.prompt_length + len(sequence.request.produced)
        self._send(Prefill(sequence.request.id, sequence.pos, total, meter.reused_tokens))

    # ------------------------------------------------------------------------------ admission

    def _admit(self) -> None:
        while self._waiting and len(self._running) < len(self._caches):
            request = self._waiting.popleft()
            try:
                sequence = self._start(request)
            except GemmaLocalError as error:
                self._send(Failed(request.id, str(error)))
                continue
            self._running[sequence.slot] = sequence
            if sequence.tokens_left is not None and sequence.tokens_left <= 0:
                sequence.finish("length")

    def _start(self, request: Generate) -> Sequence:
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
        slot, reused = self._best_slot(tokens, limits)
        sampler = Sampler(request.sampling, vocabulary.suppressed, prompt=tokens)
        output = Output(
            vocabulary,
            request.stop,
            request.produced,
            watch_loops=not request.ignore_end,
            opens_thought=request.opens_thought,
        )
        markers = {} if request.ignore_end else vocabulary.markers
        thoughts = ThoughtBudget(request, output.channel, markers, context - len(prompt))
        sequence = Sequence(slot, request, prompt, sampler, output, thoughts, draft, limits)
        if not reused:
            self._caches[slot].clear()
        self._decoder.target.truncate(slot, reused)
        sequence.pos = sequence.meter.reused_tokens = reused
        return sequence

    def _best_slot(self, tokens: list[int], limits: Limits) -> tuple[int, int]:
        """The free slot whose cache is of most use for ``tokens``, and how many it saves."""
        free = [slot for slot in range(len(self._caches)) if slot not in self._running]
        saved = ((slot, self._reusable(slot, tokens, limits)) for slot in free)
        return max(saved, key=lambda it: it[1])

    def _reusable(self, slot: int, tokens: list[int], limits: Limits) -> int:
        """How many tokens of a slot's cache can stand as the beginning of ``tokens``.

        The last token is always computed again, for its logits. Going back behind the sliding
        window would be silently wrong (``seq_rm`` says yes although the keys are gone), so the
        window before the cut must still be there. In exact mode the ring's cells must be in
        order, and stay so: once it has wrapped nothing can be cut off.
        """
        cache = self._caches[slot]
        cached = cache.tokens
        limit = min(len(cached), len(tokens) - 1)
        shared = next((i for i in range(limit) if cached[i] != tokens[i]), limit)
        window = self._decoder.target.model.n_swa
        if limits.ring and (
            not cache.in_order or (shared < len(cached) and len(cached) > limits.ring)
        ):
            return 0
        if self._decoder.target.first_position(slot) >= max(1, shared - window):
            return 0
        return shared

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
                self._send(
                    Done(
                        sequence.request.id,
                        sequence.reason or "",
                        sequence.tally(),
                        tuple(sequence.output.ids),
                        sequence.end_token,
                        sequence.detail,
                        exact=sequence.limits.are_exact,
                    )
                )
                self._release(sequence)

    def _release(self, sequence: Sequence) -> None:
        self._caches[sequence.slot].keep(sequence)
        del self._running[sequence.slot]
        self._sent_delta.pop(sequence.request.id, None)
        self._sent_stats.pop(sequence.request.id, None)


def _round_up(tokens: int) -> int:
    return -(-tokens // 1024) * 1024
