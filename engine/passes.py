"""Which sequences one pass of the target verifies together, and with how many rows of each.

With a stream of the cache per sequence, llama.cpp computes rows together only if they belong to
sequences that follow on one another and have the same number of rows each
(``llama_batch_allocr::split_equal`` with ``sequential``); any other batch it takes apart into
passes of its own choice, each of which reads all weights again. So a pass here is one that stays
whole: shorter drafts are filled up with rows that are thrown away, or get a pass of their own where
that is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from gemma_local.engine.sequence import Sequence

PassCost = Callable[[int], float]
"""What a pass of so many rows costs, in any unit."""

_PASS: Final = 6
"""What a pass costs besides its rows, in rows: 105 and 18 ms on two AVX2 cores with E2B. On GPUs it
is some 30, which makes little difference: drafts there are about equally long."""


def usual_cost(rows: int) -> float:
    """The cost of a pass in rows, where nothing was measured."""
    return _PASS + rows


@dataclass(frozen=True, slots=True)
class Pass:
    """Sequences in the order of their slots, the draft of each, and the rows that each of them has.

    ``rows`` is the same for all of them: last token, draft, filling.
    """

    sequences: list[Sequence]
    drafts: list[list[int]]
    rows: int

    @property
    def is_exact(self) -> bool:
        return self.sequences[0].limits.are_exact

    def batch(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Tokens, positions, slots, and which rows' logits are wanted, for ``Context.decode``.

        In exact mode those of all: the last matrix, too, must see whole blocks.
        """
        tokens: list[int] = []
        positions: list[int] = []
        slots: list[int] = []
        wanted: list[int] = []
        for sequence, draft in zip(self.sequences, self.drafts, strict=True):
            filling = self.rows - len(draft) - 1
            real = [sequence.last, *draft]
            tokens += [*real, *real[-1:] * filling]
            positions += range(sequence.pos, sequence.pos + self.rows)
            slots += [sequence.slot] * self.rows
            wanted += [1] * len(real) + [int(self.is_exact)] * filling
        return tokens, positions, slots, wanted

    @property
    def first_logits(self) -> list[int]:
        """For each sequence, the index of its first row among those whose logits were wanted."""
        counts = [self.rows if self.is_exact else len(draft) + 1 for draft in self.drafts]
        return [0, *accumulate(counts[:-1])]


def passes_over(
    sequences: list[Sequence],
    drafts: list[list[int]],
    cells_left: list[int],
    most_rows: int,
    cost: PassCost = usual_cost,
) -> Iterator[Pass]:
    """The passes that verify ``drafts[i]`` behind ``sequences[i]``, cheapest together.

    ``cells_left[i]`` are the rows that a pass may have behind ``sequences[i]``, ``most_rows`` the
    rows of one pass at most. Passes come in the order of slots, and each sequence is in one.
    Neighbours that need as many rows as one another share one whatever ``cost`` says, which may
    have been measured in a bad moment: two passes never cost less than one over the same rows.
    """
    order = sorted(range(len(sequences)), key=lambda i: sequences[i].slot)

    def joined(members: list[int]) -> Pass | None:
        return _joined(
            [sequences[i] for i in members],
            [drafts[i] for i in members],
            min(cells_left[i] for i in members),
            most_rows,
        )

    needed = [
        _rows(sequence, len(draft) + 1, cells)
        for sequence, draft, cells in zip(sequences, drafts, cells_left, strict=True)
    ]
    units: list[list[int]] = []
    for i in order:
        is_alike = bool(units) and needed[i] == needed[units[-1][0]]
        if is_alike and joined([*units[-1], i]) is not None:
            units[-1].append(i)
        else:
            units.append([i])
    best: list[tuple[float, int, Pass | None]] = [(0.0, 0, None)]
    for end in range(1, len(units) + 1):
        choices = []
        members: list[int] = []
        for begin in range(end - 1, -1, -1):
            members = [*units[begin], *members]
            one = joined(members)
            if one is None:
                break
            choices.append((best[begin][0] + cost(one.rows * len(members)), begin, one))
        best.append(min(choices, key=lambda choice: choice[0]))
    found: list[Pass] = []
    end = len(units)
    while end:
        _cost, end, last = best[end]
        assert last is not None
        found.append(last)
    yield from reversed(found)


def plain_seconds(
    sequences: list[Sequence], cells_left: list[int], most_rows: int, cost: PassCost
) -> float | None:
    """What a step of these sequences would take if none of them drafted, all its passes together;
    None while pace does not know what such passes ``cost``, in seconds."""
    trackers = [sequence.tracker for sequence in sequences if sequence.draft is None]
    speeds = [tracker.plain_speed for tracker in trackers if tracker is not None]
    known = [speed for speed in speeds if speed]
    if not known or len(known) < len(speeds):
        return None
    if len(sequences) == 1:
        return 1.0 / known[0]
    # Pace knows for each those passes alone that it is in, and it waits for all of them.
    passes = passes_over(sequences, [[] for _ in sequences], cells_left, most_rows, cost)
    return sum(cost(one.rows * len(one.sequences)) for one in passes)


def _joined(
    sequences: list[Sequence], drafts: list[list[int]], cells: int, most_rows: int
) -> Pass | None:
    """One pass over all of these, None if llama.cpp or exactness would have it otherwise."""
    needed = max(map(len, drafts)) + 1
    if len(sequences) == 1:
        return Pass(sequences, drafts, _rows(sequences[0], needed, cells))
    limits = sequences[0].limits
    rows = limits.filled(needed)
    follow = all(two.slot == one.slot + 1 for one, two in pairwise(sequences))
    alike = limits.shares and all(other.limits == limits for other in sequences[1:])
    fits = rows <= cells and rows * len(sequences) <= most_rows
    return Pass(sequences, drafts, rows) if follow and alike and fits else None


def _rows(sequence: Sequence, needed: int, cells: int) -> int:
    """Rows of a sequence that has a pass to itself: before the end of the ring or the context there
    may be no room to fill up."""
    filled = sequence.limits.filled(needed)
    return filled if filled <= cells else needed
