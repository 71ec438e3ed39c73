"""A pair in this process, and texts that are dictated to it with drafts that are known to be right
or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Tokens
from contextlib import contextmanager
from dataclasses import dataclass

from gemma_local.engine.client import new_id
from gemma_local.engine.messages import Done, Event, Failed, Generate, Load, Sampling, Tally
from gemma_local.engine.pair import Pair
from gemma_local.engine.scheduler import Scheduler
from gemma_local.engine.sequence import Sequence
from gemma_local.models.prompt import Ids
from tests.bench.pace.coins import Coins
from tests.bench.pace.dictated import Dictated
from tests.bench.pace.oracle import Oracle

GREEDY = Sampling(temperature=0.0, seed=0)


@dataclass(frozen=True)
class Outcome:
    """What a run cost. ``own`` are the tokens that the model itself chose, one for each said."""

    tally: Tally
    said: tuple[int, ...]
    own: tuple[int, ...]

    @property
    def seconds_per_pass(self) -> float:
        return self.tally.decode_seconds / self.tally.passes


class Rig:
    """Decodes one request after the other, all of them ``exact`` or not."""

    def __init__(self, pair: Pair, *, exact: bool | None) -> None:
        self.pair = pair
        self.vocabulary = pair.decoder.target.model.vocabulary
        self.exact = exact
        self._events: list[Event] = []
        self._scheduler = Scheduler(pair, self._events.append)
        self._sampler: Dictated | None = None
        self._sequence: Sequence | None = None
        decoder = pair.decoder
        self._oracle = decoder.drafter = Oracle(decoder.drafter)
        self._prefill, decoder.prefill = decoder.prefill, self._meet  # type: ignore[method-assign]

    def read(self, prompt: Tokens[int]) -> None:
        """Have a prompt in the cache, so that all runs on it find the same there: a token that is
        read alone differs in its last bits from one that is read with others."""
        self._run(prompt, 1, 0, None)

    def dictate(
        self,
        prompt: Tokens[int],
        text: Tokens[int],
        coins: Coins,
        draft: int | None,
        *,
        passes: int | None = None,
    ) -> Outcome:
        """Have the model say ``text``, its drafter being right where ``coins`` say so; all of it,
        or as much as so many passes yield."""
        sampler = Dictated(text)
        self._oracle.know(text, coins)
        self._sampler = sampler
        try:
            done = self._run(prompt, len(text), draft, passes)
        finally:
            self._sampler = None
            self._oracle.forget()
        return Outcome(done.tally, done.tokens, tuple(sampler.own))

    def answer(self, prompt: Tokens[int], tokens: int, draft: int | None) -> Outcome:
        """Have the model say what it wants to, with its drafter as it is."""
        done = self._run(prompt, tokens, draft, None)
        return Outcome(done.tally, done.tokens, done.tokens)

    def _run(self, prompt: Tokens[int], tokens: int, draft: int | None, passes: int | None) -> Done:
        request = Generate(
            new_id(),
            (Ids(tuple(prompt)),),
            GREEDY,
            max_tokens=tokens,
            draft=draft,
            exact=self.exact,
            ignore_end=True,
        )
        self._events.clear()
        self._sequence = None
        self._scheduler.submit(request)
        while not self._scheduler.is_idle:
            self._scheduler.turn()
            if passes is not None and self._passes >= passes:
                self._scheduler.cancel(request.id)
        match self._events[-1]:
            case Done() as done:
                return done
            case Failed() as failed:
                raise SystemExit(failed.message)
        raise AssertionError("a request ends with Done or Failed")

    @property
    def _passes(self) -> int:
        """Passes on the request that runs, or ran last."""
        return self._sequence.meter.passes if self._sequence is not None else 0

    def _meet(self, sequence: Sequence, **how: bool) -> None:
        """Before anything is chosen for a sequence, have it say what is dictated."""
        self._sequence = sequence
        if self._sampler is not None:
            sequence.sampler = self._sampler
        self._prefill(sequence, **how)


@contextmanager
def loaded(load: Load, *, exact: bool | None) -> Iterator[Rig]:
    """Load a pair here, and free it in the end."""
    pair = Pair.load(load, lambda _event: None)
    try:
        yield Rig(pair, exact=exact)
    finally:
        pair.close()
