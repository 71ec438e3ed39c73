"""The chain behind a script: for (token before, last token) the wanted logits of the next token.

Linear by construction, because that is what a model without working layers can hold: the logits are
a floor, plus a term for the last token, plus (only where a token has more than one successor) a
memory term for the token before it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.ggufs.script import NAN, Options, Script
from tests.ggufs.vocabulary import WRONG

# Any token that is not part of the chain: all of them behave alike.
OTHER = "(other)"
# Logits before the softcap. The distance between FLOOR and PEAK is what makes sampling at
# temperature 1 as certain as greedy decoding where there are no alternatives.
FLOOR = -20.0
PEAK = 20.0
# What the token before decides: enough for e**-13 after a softcap of 30.
MEMORY = 16.0
# Between a token's successors when the token before is one the script never saw there.
TIE_BREAK = 2.0
SOFTCAP = 30.0


@dataclass(frozen=True)
class Transition:
    """After ``token`` with one of ``contexts`` before it (none: any other) come ``options``."""

    token: str
    contexts: frozenset[str]
    options: Options


@dataclass
class Chain:
    """``last[token][next]`` and ``memory[context][next]``: logits to add up, before the softcap."""

    last: dict[str, dict[str, float]] = field(default_factory=dict)
    memory: dict[str, dict[str, float]] = field(default_factory=dict)
    nan: frozenset[str] = frozenset()

    @property
    def states(self) -> list[str]:
        """Tokens that behave in a way of their own, OTHER first."""
        return [
            OTHER,
            *sorted((set(self.last) | (set(self.memory) - {OTHER}) | self.nan) - {OTHER}),
        ]

    @property
    def contexts(self) -> list[str]:
        """Tokens to remember when they were the one before; OTHER stands for all the rest."""
        return [OTHER, *sorted(set(self.memory) - {OTHER})] if self.memory else []

    def logits(self, before: str, token: str) -> dict[str, float]:
        """Wanted logits (before the softcap) of every candidate above the floor."""
        scores = dict(self.last[token if token in self.last else OTHER])
        for name, bonus in self.memory.get(before if before in self.memory else OTHER, {}).items():
            scores[name] = scores.get(name, FLOOR) + bonus
        return scores

    def greedy(self, before: str, token: str) -> str:
        """The likeliest next token."""
        scores = self.logits(before, token)
        return max(scores, key=lambda name: scores[name])


def target_chain(script: Script, softcap: float = SOFTCAP) -> Chain:
    """What the target says."""
    last_pieces = [part.pieces[-1] for part in script.segments if part.end == NAN]
    nan = frozenset(name for options in last_pieces for name, _ in options)
    return _chain(list(_transitions(script, frozenset())), script, softcap, nan)


def drafter_chain(script: Script, wrong: frozenset[int]) -> Chain:
    """What the drafter proposes: the same, but WRONG after the pieces whose index is in ``wrong``.

    Pieces are counted from 0 through all segments.
    """
    return _chain(list(_transitions(script, wrong)), script, 0.0, frozenset())


def _transitions(script: Script, wrong: frozenset[int]) -> Iterator[Transition]:
    index = -1
    for number, part in enumerate(script.segments):
        start: frozenset[str]
        if number == 0:
            start = frozenset([OTHER, *script.prompt_end])
            yield Transition(OTHER, frozenset(), part.pieces[0])
        else:
            assert part.after
            start = frozenset([part.after[-1]])
            before = frozenset(part.after[:-1])
            yield Transition(part.after[-1], before, part.pieces[0])
        for place, options in enumerate(part.pieces):
            index += 1
            contexts = start if place == 0 else _tokens(part.pieces[place - 1])
            if part.end == place:
                contexts |= _tokens(part.pieces[-1])
            follow: Options
            if place + 1 < len(part.pieces):
                follow = part.pieces[place + 1]
            elif isinstance(part.end, int):
                follow = part.pieces[part.end]
            elif part.end == NAN:
                continue
            else:
                follow = ((part.end, 1.0),)
            if index in wrong:
                follow = ((WRONG, 1.0),)
            for token, _ in options:
                yield Transition(token, contexts, follow)


def _tokens(options: Options) -> frozenset[str]:
    return frozenset(name for name, _ in options)


def _chain(
    transitions: list[Transition], script: Script, softcap: float, nan: frozenset[str]
) -> Chain:
    chain = Chain(nan=nan)
    by_token: dict[str, list[Transition]] = defaultdict(list)
    for transition in transitions:
        by_token[transition.token].append(transition)
    opening = script.segments[0].pieces[0]
    pairs = (part.after[-1] for part in script.segments if part.after and len(part.after) > 1)
    for name in (*script.prompt_end, *pairs):
        # A prompt's last token that the script says, too: but for what is before it there, begin.
        if name in by_token and all(item.contexts for item in by_token[name]):
            by_token[name].insert(0, Transition(name, frozenset(), opening))
    for token, items in by_token.items():
        groups = list(dict.fromkeys(item.options for item in items))
        if len(groups) == 1:
            chain.last[token] = _levels(groups[0], softcap, 0.0)
        else:
            _remember(chain, token, items, softcap)
    return chain


def _remember(chain: Chain, token: str, items: list[Transition], softcap: float) -> None:
    """Successors of a token that has several: the token before decides."""
    usual = next((item for item in items if not item.contexts), items[0])
    levels: dict[str, float] = {}
    deciding: dict[str, Options] = {}
    for item in items:
        levels |= _levels(item.options, softcap, -MEMORY)
        for context in item.contexts or frozenset([OTHER]):
            if deciding.setdefault(context, item.options) != item.options:
                raise ValueError(
                    f"after {context!r} {token!r} the script goes on in two ways; "
                    "join one of these pieces with its neighbour"
                )
            bonus = chain.memory.setdefault(context, {})
            bonus |= {name: MEMORY for name, _ in item.options}
    levels |= _levels(usual.options, softcap, TIE_BREAK - MEMORY)
    chain.last[token] = levels


def _levels(options: Options, softcap: float, shift: float) -> dict[str, float]:
    """Logits before the softcap that give these probabilities after it; ties go to the first."""
    top = softcap * math.tanh(PEAK / softcap) if softcap else PEAK
    levels = {}
    for rank, (name, share) in enumerate(options):
        level = top + math.log(share / options[0][1]) - 0.01 * rank
        levels[name] = (softcap * math.atanh(level / softcap) if softcap else level) + shift
    return levels
