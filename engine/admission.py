"""From a request to a sequence: what is checked and made before it has a slot."""

from __future__ import annotations

from array import array
from typing import Final

from gemma_local.engine.cached import Wanted
from gemma_local.engine.encoding import Encoder
from gemma_local.engine.messages import Generate
from gemma_local.engine.output import Output
from gemma_local.engine.pair import Pair
from gemma_local.engine.runtime.grammar import Grammar
from gemma_local.engine.sampler import Sampler
from gemma_local.engine.sequence import Sequence
from gemma_local.engine.slot import Slot
from gemma_local.engine.thoughts import ThoughtBudget
from gemma_local.models.errors import GemmaLocalError

_OPENING: Final = 8
"""Tokens at a prompt's end among which an opened thought is looked for."""


class Admission:
    """A request that can be carried out; ``wanted`` is what it asks of the cache."""

    def __init__(self, pair: Pair, encoder: Encoder, request: Generate) -> None:
        """Raises GemmaLocalError for a request that cannot be carried out here."""
        self.request = request
        self._prompt = encoder.ids(request.prompt)
        self._tokens = [*self._prompt, *request.produced]
        self._draft, self.limits = pair.choose(request.draft, request.exact)
        self._context = pair.decoder.target.options.context
        self._model = pair.decoder.target.model
        self._check()
        most = len(self._prompt) + (request.max_tokens or self._context)
        exact = self.limits.are_exact
        self.wanted = Wanted(
            array("i", self._tokens),
            request.session,
            exact=exact,
            grid=(self.limits.slice or 1) if exact else 1,
            longest=min(most, self._context) + self.limits.rows,
        )

    def _check(self) -> None:
        known = len(self._tokens)
        if not self._prompt:
            raise GemmaLocalError("the prompt is empty; write something to answer")
        if known >= self._context:
            raise GemmaLocalError(
                f"the prompt has {known} tokens and the context holds {self._context}; shorten the "
                f"prompt or start with --ctx {_round_up(known + 512)}"
            )
        size, bias = self._model.vocabulary.size, self.request.sampling.logit_bias
        for what, tokens in (("the prompt contains", self._tokens), ("there is a bias for", bias)):
            foreign = next((t for t in tokens if not 0 <= t < size), None)
            if foreign is not None:
                raise GemmaLocalError(f"{what} token {foreign}, which does not exist")

    def sequence(self) -> Sequence:
        """The sequence, in no slot yet. Raises GemmaLocalError for a grammar that is none."""
        request, vocabulary = self.request, self._model.vocabulary
        grammar = (
            Grammar(self._model, request.grammar, request.produced) if request.grammar else None
        )
        sampler = Sampler(
            request.sampling, vocabulary.suppressed, prompt=self._tokens, constraint=grammar
        )
        output = Output(
            vocabulary,
            request.stop,
            request.produced,
            watch_loops=not request.ignore_end,
            opens_thought=request.opens_thought,
        )
        markers = {} if request.ignore_end else vocabulary.markers
        room = self._context - len(self._prompt)
        thoughts = ThoughtBudget(request, output.channel, markers, room)
        return Sequence(
            -1, request, self._prompt, sampler, output, thoughts, self._draft, self.limits
        )

    def place(self, sequence: Sequence, slot: Slot) -> None:
        """Let a sequence go on where the slot stands that was chosen for its prompt."""
        sequence.slot = slot.number
        sequence.pos = sequence.meter.reused_tokens = len(slot.cached)
        sequence.origin = slot.origin
        sequence.longest = self.wanted.longest
        parting = _parting(self._prompt, self._model.vocabulary.markers)
        sequence.partings = (*slot.partings, parting)


def _parting(prompt: list[int], markers: dict[str, int]) -> int:
    """Where the prompt of the next turn may part from this one.

    At its end, or before a thought that is opened there: past thoughts are left out of prompts.
    """
    opening = markers.get("<|channel>")
    last = range(len(prompt) - 1, max(len(prompt) - 1 - _OPENING, 0), -1)
    return next((i for i in last if prompt[i] == opening), len(prompt))


def _round_up(tokens: int) -> int:
    return -(-tokens // 1024) * 1024
