"""Is drafted decoding the same as plain decoding here, to the last bit?

Decodes a prompt greedily twice with the loaded pair and compares the logits of every emitted token.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gemma_local.engine.encoding import Encoder
from gemma_local.engine.messages import Generate, Sampling, Verified, Verify
from gemma_local.engine.output import Output
from gemma_local.engine.pair import Pair
from gemma_local.engine.runtime.context import Floats
from gemma_local.engine.sampler import Sampler
from gemma_local.engine.sequence import Sequence
from gemma_local.engine.thoughts import ThoughtBudget
from gemma_local.models.errors import GemmaLocalError

_TOP: Final = 64


@dataclass(slots=True)
class Trace:
    """Per emitted token: a digest of its whole row of logits, and the row's largest entries."""

    tokens: list[int] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    top_ids: list[NDArray[np.int64]] = field(default_factory=list)
    top_logits: list[Floats] = field(default_factory=list)
    drafted: int = 0
    accepted: int = 0

    def note(self, row: Floats) -> None:
        """Record a row, shape (n_vocab,), before anything changes it."""
        self.digests.append(hashlib.blake2b(row.tobytes(), digest_size=16).digest())
        ids = np.argpartition(row, -min(_TOP, row.size))[-_TOP:]
        ids = ids[np.argsort(-row[ids], kind="stable")]
        self.top_ids.append(ids)
        self.top_logits.append(row[ids])


def compare(pair: Pair, command: Verify) -> Verified:
    """Decode ``command.prompt`` plain and with drafting, and report what differs.

    Rows are compared up to the first token that differs: after it the texts are different texts.
    """
    plain = _trace(pair, command, draft=0)
    drafted = _trace(pair, command, draft=command.draft)
    pairs = list(zip(plain.tokens, drafted.tokens, strict=False))
    first = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    if first is None and len(plain.tokens) != len(drafted.tokens):
        first = len(pairs)
    rows = min(len(plain.digests), len(drafted.digests))
    if first is not None:
        rows = min(rows, first + 1)
    differing = [i for i in range(rows) if plain.digests[i] != drafted.digests[i]]
    largest = max((_distance(plain, drafted, i) for i in differing), default=0.0)
    margin = None
    if first is not None and first < len(plain.top_logits):
        margin = float(plain.top_logits[first][0] - plain.top_logits[first][1])
    return Verified(
        id=command.id,
        rows=rows,
        differing_rows=len(differing),
        tokens=len(plain.tokens),
        equal_text=first is None,
        first_difference=first,
        margin=margin,
        drafted=drafted.drafted,
        accepted=drafted.accepted,
        largest_difference=largest,
    )


def _distance(plain: Trace, drafted: Trace, i: int) -> float:
    """Largest distance between two rows, over the entries that are near the top of both."""
    ids, left, right = np.intersect1d(
        plain.top_ids[i], drafted.top_ids[i], assume_unique=True, return_indices=True
    )
    if not len(ids):
        return float("inf")
    return float(np.abs(plain.top_logits[i][left] - drafted.top_logits[i][right]).max())


def _trace(pair: Pair, command: Verify, draft: int) -> Trace:
    decoder = pair.decoder
    vocabulary = decoder.target.model.vocabulary
    prompt = Encoder(vocabulary).ids(command.prompt)
    context = decoder.target.options.context
    if len(prompt) + 1 >= context:
        raise GemmaLocalError(f"the prompt has {len(prompt)} tokens, the context only {context}")
    request = Generate(
        command.id, command.prompt, Sampling(temperature=0.0), command.tokens, ignore_end=True
    )
    trace = Trace()
    output = Output(vocabulary, (), (), watch_loops=False)
    sequence = Sequence(
        0,
        request,
        prompt,
        Sampler(request.sampling, vocabulary.suppressed),
        output,
        # Without markers: no thought is cut short where logits are compared.
        ThoughtBudget(request, output.channel, {}, context),
        *pair.choose(draft, command.exact),
    )
    decoder.target.truncate(0, 0)
    decoder.observer = lambda _sequence, row: trace.note(row)
    try:
        while sequence.to_prefill:
            decoder.prefill(sequence)
        while not sequence.is_finished:
            decoder.step([sequence])
    finally:
        decoder.observer = None
        decoder.target.truncate(0, 0)
    tally = sequence.tally()
    trace.tokens = sequence.output.ids
    trace.drafted, trace.accepted = tally.drafted, tally.accepted
    return trace
