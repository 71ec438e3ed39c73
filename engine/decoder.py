"""One step of decoding: draft, verify, accept, roll back.

The target decides every token. A drafted token is kept if the target, given everything before it,
chooses the same one; so drafting changes how many tokens a pass yields, never which.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from gemma_local.engine.commands import LOOKUP_MAX
from gemma_local.engine.drafters import Drafter
from gemma_local.engine.drafters.lookup import Lookup
from gemma_local.engine.pace.pace import Pace
from gemma_local.engine.pace.step import Step
from gemma_local.engine.pace.tracker import Seat
from gemma_local.engine.passes import Pass, passes_over, plain_seconds
from gemma_local.engine.runtime.context import Aborted, Context, DecodeFailed, Floats
from gemma_local.engine.sampler import NotANumber
from gemma_local.engine.sequence import Sequence
from gemma_local.engine.threads import ThreadGovernor

RowObserver = Callable[[Sequence, Floats], None]
"""Hears each row of logits, shape (n_vocab,), before a token is chosen from it."""


class Decoder:
    """Prefills and decodes sequences on a target context with a drafter."""

    def __init__(
        self,
        target: Context,
        drafter: Drafter,
        *,
        wants_activations: bool,
        governor: ThreadGovernor,
        pace: Pace,
    ) -> None:
        self.target = target
        self.drafter = drafter
        self.pace = pace
        self.observer: RowObserver | None = None
        self._wants_activations = wants_activations
        self._governor = governor
        self._ends_turn = target.model.vocabulary.ends_turn

    # ---------------------------------------------------------------------------------- prefill

    def prefill(self, sequence: Sequence, *, in_company: bool = False) -> None:
        """Read the next slice of the prompt; with the last slice comes the first token.

        ``in_company``: others wait meanwhile for their next token. Slices end at multiples of what
        the limits say, where other prompts part from this one, and at the ring's end where there is
        a rule about it, wherever they begin: after the same requests the same prompt is cut the
        same way, so its cache is the same to the last bit. Raises Aborted, DecodeFailed; what was
        read before stays.
        """
        limits, start = sequence.limits, sequence.pos
        grid = limits.short_slice if in_company else limits.slice
        grid = grid or self.target.options.ubatch
        end = min(
            len(sequence.tokens),
            (start // grid + 1) * grid,
            start + self._cells_left(sequence),
            *(parting for parting in sequence.partings if parting > start),
        )
        at_end = end == len(sequence.tokens)
        is_last = at_end and not sequence.only_reads
        n = end - start
        began = time.perf_counter()
        with self._undo_when_aborted([sequence]), self._one_thread_for_one_row(sequence, n):
            self.target.decode(
                sequence.tokens[start:end],
                list(range(start, end)),
                [sequence.slot] * n,
                [0] * (n - 1) + [int(is_last)],
            )
        sequence.pos = end
        sequence.meter.prefilled_tokens += n
        if is_last:
            self._keep_activations(sequence, n - 1)
            self._choose(sequence, self.target.logits[0])
            self._finish_when_full(sequence)
        elif at_end:
            sequence.finish("read")
        sequence.clock = time.perf_counter()
        sequence.meter.prefill_seconds += sequence.clock - began

    # ------------------------------------------------------------------------------------- step

    def step(self, sequences: list[Sequence]) -> None:
        """Move every sequence on by at least one token.

        Raises Aborted, DecodeFailed; every sequence is then where it was before the pass that
        was interrupted.
        """
        began, llama = time.perf_counter(), self.llama_seconds
        lengths = [len(sequence.tokens) for sequence in sequences]
        course = self._plan(sequences)
        drafts, making = self._draft(sequences, course)
        drafting = time.perf_counter() - began
        found = {s.slot: len(course.begun(i)) for i, s in enumerate(sequences)}
        cells = [self._cells_left(sequence) for sequence in sequences]
        most = self.target.options.rows
        plain = plain_seconds(sequences, cells, most, course.pass_seconds)
        passes: list[tuple[int, float]] = []
        for one in passes_over(sequences, drafts, cells, most, course.pass_seconds):
            verified = time.perf_counter()
            self._verify(one)
            self._accept(one, found)
            # Single rows of exact mode are computed with one thread.
            if one.rows > 1 or not one.is_exact:
                passes.append((one.rows * len(one.sequences), time.perf_counter() - verified))
        emitted = [s.tokens[length:] for s, length in zip(sequences, lengths, strict=True)]
        self.pace.learn(course, emitted, passes, making)
        now, llama = time.perf_counter(), self.llama_seconds - llama
        for sequence, own in zip(sequences, emitted, strict=True):
            sequence.meter.count_plain(len(own), plain, began - sequence.clock)
            sequence.meter.draft_seconds += drafting
            sequence.meter.llama_seconds += llama
            # From the end of the last step, so that what happens between steps is not hidden.
            sequence.meter.decode_seconds += now - sequence.clock
            sequence.clock = now

    def _plan(self, sequences: list[Sequence]) -> Step:
        """How the sequences draft in this step."""
        context = max(sequence.pos for sequence in sequences)
        seats = [self._seat(sequence) for sequence in sequences]
        return self.pace.plan(seats, self._governor.threads, context)

    def _draft(self, sequences: list[Sequence], course: Step) -> tuple[list[list[int]], float]:
        """The drafts to verify, and the seconds that the drafter took."""
        began = time.perf_counter()
        made = self.drafter.propose(sequences, course.lengths, course)
        making = time.perf_counter() - began
        for sequence, length in zip(sequences, course.lengths, strict=True):
            if length:
                sequence.meter.mtp.seconds += making
        return course.settle(made), making

    def _seat(self, sequence: Sequence) -> Seat:
        """What pace has to know of a sequence before a step."""
        if sequence.tracker is None:
            sequence.tracker = self.pace.track()
        limits, room = sequence.limits, self.draft_room(sequence)
        seat = Seat(sequence.tracker, room, sequence.draft, limits.block, limits.shares)
        seat.slot = sequence.slot
        if sequence.draft is None and self.pace.bounds.lookup_max:
            self._look_up(sequence, seat)
        return seat

    def _look_up(self, sequence: Sequence, seat: Seat) -> None:
        """Find out how the text went on where its end occurred before."""
        began = time.perf_counter()
        lookup = sequence.lookup
        if lookup is None:
            lookup = sequence.lookup = Lookup(sequence.tokens)
        else:
            lookup.extend(sequence.tokens[sequence.looked_up :])
        sequence.looked_up = len(sequence.tokens)
        match = lookup.match()
        if match is not None:
            longest = max(1, min(self.pace.bounds.lookup_max, seat.room))
            tokens = lookup.continuation(match, longest)
            end = next((n for n, token in enumerate(tokens, 1) if self._ends_turn(token)), None)
            seat.match, seat.continuation = match.length, tokens[:end]
        sequence.meter.lookup.seconds += time.perf_counter() - began

    def draft_room(self, sequence: Sequence) -> int:
        """The longest draft that is of use and in bounds for a sequence now."""
        room = min(LOOKUP_MAX, sequence.limits.rows - 1)
        if sequence.draft is not None:
            room = min(room, sequence.draft)
        if sequence.tokens_left is not None:
            # A pass emits one more token than it accepts.
            room = min(room, sequence.tokens_left - 1)
        # Real rows must not be where a row on its own could not have been filled up.
        cells = self._cells_left(sequence) - (sequence.limits.block - 1)
        return max(min(room, cells - 1), 0)

    def _cells_left(self, sequence: Sequence) -> int:
        """Rows that a pass may have before it meets the context's end or the ring's."""
        left = self.target.options.context - sequence.pos
        ring = sequence.limits.ring
        return min(left, ring - (sequence.pos - sequence.origin) % ring) if ring else left

    @property
    def llama_seconds(self) -> float:
        """Time spent inside llama.cpp so far."""
        return self.target.llama_seconds + self.drafter.llama_seconds

    def _verify(self, one: Pass) -> None:
        """One pass of the target over the last token and the draft of each."""
        batch = one.batch()
        rows = len(batch[0])
        began = time.perf_counter()
        single = self._one_thread_for_one_row(one.sequences[0], rows)
        with self._undo_when_aborted(one.sequences), single:
            self.target.decode(*batch)
        now = time.perf_counter()
        if rows > 1 or not one.is_exact:
            # Single rows of exact mode tell nothing about the threads that others have.
            self._governor.observe(rows, now - began, now)
        for sequence in one.sequences:
            sequence.meter.verify_seconds += now - began

    def _accept(self, one: Pass, found: dict[int, int]) -> None:
        """Keep of each draft what the target chooses itself, and the target's next token.

        ``found``: by slot, how many tokens at the beginning of its draft are from the text.
        """
        logits = self.target.logits
        members = zip(one.sequences, one.drafts, one.first_logits, strict=True)
        for place, (sequence, draft, first) in enumerate(members):
            emitted = sequence.emitted
            accepted = 0
            for proposed in draft:
                if not self._choose(sequence, logits[first + accepted], proposed):
                    break
                accepted += 1
                if sequence.is_finished:
                    break
            else:
                self._choose(sequence, logits[first + accepted])
            emitted = sequence.emitted - emitted
            sequence.meter.count_pass(len(draft), accepted, emitted, found[sequence.slot])
            self._keep_activations(sequence, place * one.rows + accepted)
            self._roll_back(sequence, accepted, one.rows)

    def _choose(self, sequence: Sequence, row: Floats, proposed: int | None = None) -> bool:
        """Emit the target's token for a row; True if it is the ``proposed`` one."""
        if self.observer is not None:
            self.observer(sequence, row)
        token = sequence.thoughts.forced(sequence.emitted)
        if token is None:
            forbidden = sequence.thoughts.forbidden(sequence.emitted)
            if forbidden is not None:
                row[forbidden] = -np.inf
            try:
                token = sequence.sampler.choose(row, sequence.emitted)
            except NotANumber:
                sequence.finish("nan", "the model's output stopped being numbers")
                return False
            if proposed not in (None, token) and sequence.sampler.tolerates(row, proposed):
                token = proposed
        agrees = token == proposed
        sequence.emit(token, ends_turn=self._ends_turn(token), drafted=agrees)
        return agrees

    def _roll_back(self, sequence: Sequence, accepted: int, rows: int) -> None:
        """Forget rows of rejected tokens, of a token that ended the turn, and filling."""
        computed = sequence.pos + rows
        sequence.pos = min(sequence.pos + accepted + 1, len(sequence.tokens))
        if sequence.pos < computed:
            self.target.truncate(sequence.slot, sequence.pos)
        self._finish_when_full(sequence)

    def _finish_when_full(self, sequence: Sequence) -> None:
        if sequence.pos >= self.target.options.context:
            sequence.finish("context")

    def _keep_activations(self, sequence: Sequence, row: int) -> None:
        if self._wants_activations:
            sequence.activations = self.target.nextn[row].copy()

    @contextmanager
    def _one_thread_for_one_row(self, sequence: Sequence, rows: int) -> Iterator[None]:
        """Compute an exact pass of a single row with one thread.

        llama.cpp shares the keys that a single row attends to out among its threads once there are
        512 (``use_split_kv_path`` in ``ggml-cpu/ops.cpp``), so its sums depend on their number,
        which changes with what else the machine does. Few exact passes have one row: those before
        the ring's end.
        """
        if rows > 1 or not sequence.limits.are_exact:
            yield
            return
        self.target.set_threads(1)
        try:
            yield
        finally:
            self.target.set_threads(self._governor.threads)

    @contextmanager
    def _undo_when_aborted(self, sequences: list[Sequence]) -> Iterator[None]:
        """Remove what an interrupted pass left in the cache. This is safe with the small
        sliding-window cache: only cells that fell out of the window were overwritten."""
        try:
            yield
        except (Aborted, DecodeFailed):
            for sequence in sequences:
                self.target.truncate(sequence.slot, sequence.pos)
            raise
