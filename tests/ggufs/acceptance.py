"""Drafting and verifying a script in plain Python: what an engine must count, known in advance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.ggufs.chain import OTHER, Chain, drafter_chain, target_chain
from tests.ggufs.script import Script
from tests.ggufs.vocabulary import EOG


@dataclass(frozen=True)
class Drafter:
    """Where the drafter is wrong: after every n-th piece, and after the pieces with these indices.

    Pieces are counted from 0 through all segments; ``wrong_every=4`` errs after pieces 3, 7, 11 ...
    Beware of a period of draft length + 1: the errors can then all fall on tokens that the target
    adds by itself, and everything drafted is right.
    """

    wrong_every: int = 0
    wrong_after: frozenset[int] = frozenset()

    def wrong(self, script: Script) -> frozenset[int]:
        """Indices of the pieces after which the drafter proposes WRONG."""
        count = sum(len(part.pieces) for part in script.segments)
        every = range(self.wrong_every - 1, count, self.wrong_every) if self.wrong_every else ()
        return frozenset(every) | self.wrong_after


@dataclass
class Acceptance:
    """Counts of one greedy reply. ``passes`` are decode calls of the target after the prefill."""

    tokens: list[str] = field(default_factory=list)
    passes: int = 0
    drafted_by_position: list[int] = field(default_factory=list)
    accepted_by_position: list[int] = field(default_factory=list)

    @property
    def drafted(self) -> int:
        return sum(self.drafted_by_position)

    @property
    def accepted(self) -> int:
        return sum(self.accepted_by_position)

    @property
    def rate(self) -> float:
        return self.accepted / self.drafted if self.drafted else 0.0


def expected_acceptance(
    script: Script,
    draft_length: int,
    max_tokens: int,
    drafter: Drafter | None = None,
    *,
    prompt: Iterable[str] = (OTHER, OTHER),
    prompt_tokens: int = 0,
    context: int | None = None,
) -> Acceptance:
    """Simulate a greedy reply of at most ``max_tokens`` tokens (the end token counts as one).

    The rule: the prefill gives the first token. Then, with ``last`` sampled but not yet decoded,
    draft up to ``draft_length`` tokens, stopping after a drafted end token; decode last and drafts
    in one target pass; emit the drafts that agree and one token of the target's own (none after an
    end token). A draft is never longer than can be used: at most max_tokens - emitted - 1, and all
    its rows must fit ``context`` cells, of which the prompt has taken ``prompt_tokens``.

    ``prompt`` names the last two tokens of the prompt where that matters (see ``Segment.after``). A
    script that ends in NAN stops at the row whose logits are NaN, in the pass that has this row;
    the drafter's logits are NaN from there on, too, so nothing is drafted after that token.
    """
    target = target_chain(script)
    proposals = drafter_chain(script, (drafter or Drafter()).wrong(script))
    history = list(prompt)
    result = Acceptance([], 0, [0] * draft_length, [0] * draft_length)

    def emit(token: str) -> bool:
        """Append a token; False once the reply is over."""
        history.append(token)
        result.tokens.append(token)
        return token not in EOG and len(result.tokens) < max_tokens

    going = emit(target.greedy(history[-2], history[-1]))
    while going:
        cells_used = prompt_tokens + len(result.tokens) - 1
        room = max_tokens - len(result.tokens) - 1
        if context is not None:
            if cells_used >= context:
                break
            room = min(room, context - cells_used - 1)
        drafts = _draft(proposals, target.nan, history, min(draft_length, room))
        result.passes += 1
        for place in range(len(drafts)):
            result.drafted_by_position[place] += 1
        # One row more than drafts: the last one has nothing to agree with.
        for place, draft in enumerate([*drafts, None]):
            if history[-1] in target.nan:
                return result
            own = target.greedy(history[-2], history[-1])
            going = emit(own)
            if own != draft:
                break
            result.accepted_by_position[place] += 1
            if not going:
                break
    return result


def _draft(chain: Chain, nan: frozenset[str], history: list[str], length: int) -> list[str]:
    before, token = history[-2:]
    drafts: list[str] = []
    while len(drafts) < length and token not in nan:
        before, token = token, chain.greedy(before, token)
        drafts.append(token)
        if token in EOG:
            break
    return drafts
