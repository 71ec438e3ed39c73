"""One step of decoding: draft, verify, accept, roll back.

The target decides every token. A drafted token is kept if the target, given everything before it,
chooses the same one; so drafting changes how many tokens a pass yields, never which.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from gemma_local.engine.drafters import Drafter
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
    ) -> None:
        self.target = target
        self.drafter = drafter
        self.observer: RowObserver | None = None
        self._wants_activations = wants_activations
        self._governor = governor
        self._ends_turn = target.model.vocabulary.ends_turn

    # ---------------------------------------------------------------------------------- prefill

    def prefill(self, sequence: Sequence) -> None:
        """Read the next slice of the prompt; with the last slice comes the first token.

        Slices end at multiples of the ubatch size, where other prompts part from this one, and at
        the ring's end where there is a rule about it, wherever they begin: after the same requests
        the same prompt is cut the same way, so its cache is the same to the last bit. Raises
        Aborted, DecodeFailed; what was read before stays.
        """
        ubatch = self.target.options.ubatch
        start = sequence.pos
        end = min(
            len(sequence.tokens),
            (start // ubatch + 1) * ubatch,
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
        drafts = self.drafter.propose(sequences, [self.draft_room(s) for s in sequences])
        drafting = time.perf_counter() - began
        for group, group_drafts in self._groups(sequences, drafts):
            verifying = self._verify(group, group_drafts)
            self._accept(group, group_drafts)
            for sequence in group:
                sequence.meter.verify_seconds += verifying
        now, llama = time.perf_counter(), self.llama_seconds - llama
        for sequence in sequences:
            sequence.meter.draft_seconds += drafting
            sequence.meter.llama_seconds += llama
            # From the end of the last step, so that what happens between steps is not hidden.
            sequence.meter.decode_seconds += now - sequence.clock
            sequence.clock = now

    def draft_room(self, sequence: Sequence) -> int:
        """The longest draft that is of use and in bounds for a sequence now."""
        room = min(sequence.draft, sequence.limits.rows - 1)
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

    def _groups(
        self, sequences: list[Sequence], drafts: list[list[int]]
    ) -> Iterator[tuple[list[Sequence], list[list[int]]]]:
        """Split sequences so that one pass verifies at most as many rows as their limits say.

        Where passes are filled up each sequence has one of its own: llama.cpp cuts a batch of
        unequal sequences into parts, and the last part could be too small.
        """
        group: list[Sequence] = []
        group_drafts: list[list[int]] = []
        rows = 0
        for sequence, draft in zip(sequences, drafts, strict=True):
            is_full = rows + len(draft) + 1 > sequence.limits.rows or sequence.limits.are_exact
            if group and (is_full or group[-1].limits.are_exact):
                yield group, group_drafts
                group, group_drafts, rows = [], [], 0
            group.append(sequence)
            group_drafts.append(draft)
            rows += len(draft) + 1
        yield group, group_drafts

    def _verify(self, sequences: list[Sequence], drafts: list[list[int]]) -> float:
        """One pass of the target over the last token and the draft of each; returns seconds."""
        tokens: list[int] = []
        positions: list[int] = []
        slots: list[int] = []
        for sequence, draft in zip(sequences, drafts, strict=True):
            n = len(draft) + 1
            tokens += (sequence.last, *draft)
            positions += range(sequence.pos, sequence.pos + n)
            slots += [sequence.slot] * n
        missing = sequences[0].limits.filled(len(tokens)) - len(tokens)
        if missing and len(tokens) + missing <= self._cells_left(sequences[0]):
            tokens += tokens[-1:] * missing
            positions += range(positions[-1] + 1, positions[-1] + 1 + missing)
            slots += slots[-1:] * missing
        began = time.perf_counter()
        single = self._one_thread_for_one_row(sequences[0], len(tokens))
        with self._undo_when_aborted(sequences), single:
            self.target.decode(tokens, positions, slots, [1] * len(tokens))
        now = time.perf_counter()
        self._governor.observe(len(tokens), now - began, now)
        return now - began

    def _accept(self, sequences: list[Sequence], drafts: list[list[int]]) -> None:
        """Keep of each draft what the target chooses itself, and the target's next token."""
        logits = self.target.logits
        first = 0
        for sequence, draft in zip(sequences, drafts, strict=True):
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
            sequence.meter.count_pass(len(draft), accepted, sequence.emitted - emitted)
            self._keep_activations(sequence, first + accepted)
            self._roll_back(sequence, accepted, len(draft))
            first += len(draft) + 1

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

    def _roll_back(self, sequence: Sequence, accepted: int, drafted: int) -> None:
        """Forget rows of rejected tokens, of a token that ended the turn, and filling."""
        computed = sequence.pos + sequence.limits.filled(drafted + 1)
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
