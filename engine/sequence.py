"""One conversation in the KV cache while a request runs on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gemma_local.engine.messages import Generate, PaceTally, Tally
from gemma_local.engine.meter import Meter
from gemma_local.engine.output import Output
from gemma_local.engine.pace.tracker import Tracker
from gemma_local.engine.runtime.context import Floats
from gemma_local.engine.sampler import Sampler
from gemma_local.engine.thoughts import ThoughtBudget

if TYPE_CHECKING:
    # Drafters work on sequences.
    from gemma_local.engine.drafters.lookup import Lookup


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the passes on a sequence.

    ``rows``: most rows of one verifying pass. ``ring``: cells of the sliding-window cache that a
    pass must not run across the end of, 0 = no such rule. Crossing it and rolling back leaves the
    cells in another order, and floating-point sums with them.

    ``block``: passes are filled up to a multiple of so many rows, with rows that are thrown away.
    llama.cpp multiplies some matrices by one kernel for a few rows and by another for blocks of
    rows, whose results differ in the last bits; with this rule every row takes the second. Before
    the end of the ring or the context, where there is no room to fill up, rows go one by one,
    drafting or not.

    ``shares``: passes may be shared with other sequences. Slices of a prompt end at multiples of
    ``slice`` tokens, 0: of the ubatch, and of ``short_slice`` while others wait for their next
    token. In exact mode both are the same, since a row's last bits may depend on how many are
    computed with it.
    """

    rows: int
    ring: int = 0
    block: int = 1
    shares: bool = True
    slice: int = 0
    short_slice: int = 0

    @property
    def are_exact(self) -> bool:
        """Whether passes have one shape, so that the draft length cannot change a bit."""
        return self.block > 1

    def filled(self, rows: int) -> int:
        """Rows of a pass that has ``rows`` real ones, when there is room to fill it up."""
        return -(-rows // self.block) * self.block


class Sequence:
    """The state that drafting and verifying work on.

    ``tokens`` is everything known: prompt, then emitted tokens. The first ``pos`` of them are in
    the KV cache. While decoding exactly one is not: the token sampled last, ``tokens[pos]``.
    ``activations`` are the target's at position ``pos - 1``, the one that produced it, shape
    (n_embd,). ``clock`` is when the last pass on it ended, in seconds of ``perf_counter``.

    ``origin`` is the position that belongs into cell 0 of the sliding-window ring. ``partings``
    are where other prompts part from this one, or may: slices of the prompt end there.
    ``longest`` is how many tokens it may have in the cache at most, those of drafts included.
    ``only_reads``: nothing is chosen, the sequence ends with its prompt.

    ``draft`` is the length of drafts that was asked for, None where it is left to pace: then
    ``tracker`` has what pace knows of this text, and ``lookup`` where it repeats itself, both from
    the first step on; the first ``looked_up`` tokens are in that.
    """

    def __init__(
        self,
        slot: int,
        request: Generate,
        prompt: list[int],
        sampler: Sampler,
        output: Output,
        thoughts: ThoughtBudget,
        draft: int | None,
        limits: Limits,
    ) -> None:
        self.slot = slot
        self.request = request
        self.tokens = [*prompt, *request.produced]
        self.prompt_length = len(prompt)
        self.pos = 0
        self.origin = 0
        self.partings: tuple[int, ...] = ()
        self.longest = 0
        self.only_reads = False
        self.activations: Floats | None = None
        self.sampler = sampler
        self.output = output
        self.thoughts = thoughts
        self.draft = draft
        self.limits = limits
        self.tracker: Tracker | None = None
        self.lookup: Lookup | None = None
        self.looked_up = 0
        self.meter = Meter(prompt_tokens=len(prompt))
        self.reason: str | None = None
        self.end_token: int | None = None
        self.detail = ""
        self.clock = 0.0

    @property
    def emitted(self) -> int:
        """Tokens given to the client, those of an interrupted attempt included."""
        return len(self.output.ids)

    @property
    def to_prefill(self) -> int:
        """Tokens that are known but not in the cache, while the prompt is being read."""
        return 0 if self.emitted > len(self.request.produced) else len(self.tokens) - self.pos

    @property
    def kept(self) -> int:
        """Tokens that may stay in the cache, the same number whatever was drafted.

        The token that ends the output (a stop string, a loop) is in the cache if it was drafted
        and is not if it was not.
        """
        is_open = self.emitted > len(self.request.produced) and self.end_token is None
        return min(self.pos, len(self.tokens) - 1) if is_open else self.pos

    @property
    def last(self) -> int:
        """The token sampled last, not yet in the cache."""
        return self.tokens[self.pos]

    @property
    def is_finished(self) -> bool:
        return self.reason is not None

    @property
    def tokens_left(self) -> int | None:
        """Tokens that may still be emitted, None without a limit."""
        limit = self.request.max_tokens
        return limit - self.emitted if limit else None

    def finish(self, reason: str, detail: str = "") -> None:
        if self.reason is None:
            self.reason = reason
            self.detail = detail
            self.output.finish()

    def emit(self, token: int, *, ends_turn: bool, drafted: bool) -> None:
        """Append a chosen token and find out whether it is the last one."""
        if ends_turn and not self.request.ignore_end:
            self.end_token = token
            self.finish("stop")
            return
        self.tokens.append(token)
        self.sampler.accept(token)
        reason = self.output.add(token, drafted=drafted)
        if reason is not None:
            self.finish(reason, self.output.stop_string or "")
        elif self.tokens_left == 0:
            self.finish("length")

    def tally(self) -> Tally:
        pace = None
        if self.draft is None:
            pace = self.tracker.tally() if self.tracker is not None else PaceTally()
            # Of the whole answer: pace knows it for the company that there is at the moment.
            pace = replace(pace, plain_speed=self.meter.plain_speed)
        return self.meter.tally(self.emitted, pace)
