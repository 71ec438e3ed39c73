"""Documents in rows of equal length, ready for a pass."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from gemma_local.models.pocket.train.corpus import copying, mix, tool_head
from gemma_local.models.pocket.train.corpus.sample import Document, Sample, documents
from gemma_local.models.pocket.train.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Rows:
    """Several documents a row, [B, T] each; ``begin`` [1, H] is what all of them begin with.

    ``spoken`` is True where the token is the model's own, ``senseless`` where a text has no sense
    but to be copied; ``segments`` numbers the documents, -1 where there is none.
    """

    begin: Tensor | None
    tokens: Tensor
    segments: Tensor
    positions: Tensor
    spoken: Tensor
    senseless: Tensor

    @property
    def beginning(self) -> int:
        return 0 if self.begin is None else self.begin.shape[1]

    @property
    def count(self) -> int:
        """Tokens that a pass computes."""
        return self.tokens.numel() + self.beginning


TOOLS_LENGTH: Final = 768
"""Of a row with tools, in tokens: room for five tasks in one conversation."""


@dataclass(frozen=True, slots=True)
class Format:
    """Rows and their length, without tools and with."""

    plain: tuple[int, int] = (8, 256)
    tools: tuple[int, int] = (2, TOOLS_LENGTH)
    copying: float = 0.25
    """The share of samples without tools that are nothing but copying."""


def step_rows(step: int, seed: int, part: int, tokenizer: Tokenizer, format_: Format) -> Rows:
    """What is learned in a step, always the same for the same numbers: without tools (part 0) or
    with (part 1)."""
    rng = random.Random(f"{seed}/{step}/{part}")
    if part == 0:

        def make() -> Sample:
            if rng.random() < format_.copying:
                return copying.sample(rng, tokenizer.pieces)
            return mix.plain(rng)

        return pack(_documents(make, tokenizer), *format_.plain)
    begin = tool_head.make_head(rng, "train")
    source = _documents(lambda: mix.with_tools(rng, begin), tokenizer)
    return pack(source, *format_.tools, shares=True)


def _documents(make: Callable[[], Sample], tokenizer: Tokenizer) -> Iterator[Document]:
    while True:
        yield from documents(make(), tokenizer)


def pack(source: Iterator[Document], count: int, length: int, *, shares: bool = False) -> Rows:
    """``count`` rows of ``length`` tokens, filled with documents one behind the other.

    ``shares``: the documents have their beginning in common, which is kept apart.
    """
    rows: list[list[tuple[Document, int]]] = []
    begin: Sequence[int] = ()
    room, row, misses = length, [], 0
    while len(rows) < count:
        document = next(source)
        skip = document.shared if shares else 0
        begin = document.ids[:skip]
        size = len(document.ids) - skip
        if size > length:
            continue
        if size <= room:
            row.append((document, skip))
            room -= size
        else:
            misses += 1
        if misses == 5 or room < 20:
            rows.append(row)
            room, row, misses = length, [], 0
    shape = (count, length)
    tokens, segments = torch.zeros(shape, dtype=torch.long), torch.full(shape, -1)
    positions, spoken = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.bool)
    senseless = torch.zeros(shape, dtype=torch.bool)
    for number, documents_ in enumerate(rows):
        at = 0
        for segment, (document, skip) in enumerate(documents_):
            end = at + len(document.ids) - skip
            tokens[number, at:end] = torch.tensor(document.ids[skip:])
            segments[number, at:end] = segment
            positions[number, at:end] = torch.arange(skip, len(document.ids))
            spoken[number, at:end] = torch.tensor(document.spoken[skip:])
            senseless[number, at:end] = document.kind == copying.KIND
            at = end
    head = torch.tensor([begin]) if shares and len(begin) else None
    return Rows(head, tokens, segments, positions, spoken, senseless)
