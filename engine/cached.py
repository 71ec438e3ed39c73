"""What is cached of a conversation, and how much of it another prompt can use."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gemma_local.engine.runtime.context import Bytes

_STRIDE = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The sliding window's keys and values after the first ``position`` tokens.

    ``first`` is the oldest position in it.
    """

    position: int
    first: int
    state: Bytes

    @property
    def bytes(self) -> int:
        return self.state.size


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A prompt whose beginning may be cached.

    ``exact``: only what was computed in exact mode is of use. Where there are several sequences
    that goes for whole slices of ``grid`` tokens only: each row is then computed together with the
    same others, whoever computed them. ``longest``: tokens that the request may have in the cache
    at most.
    """

    tokens: array[int]
    session: str = ""
    exact: bool = False
    grid: int = 1
    longest: int = 0

    def __len__(self) -> int:
        return len(self.tokens)

    def on_grid(self, length: int) -> int:
        """Tokens of the whole slices in ``length``."""
        return length - length % self.grid

    def is_on_grid(self, length: int) -> bool:
        """Whether slices end there."""
        return length % self.grid == 0


@dataclass(frozen=True, slots=True)
class Cut:
    """The first ``length`` tokens can be used, after going back to a checkpoint if one is named."""

    length: int
    checkpoint: int | None = None


@dataclass(slots=True, eq=False)
class Cached:
    """The tokens whose keys and values are held somewhere, and checkpoints on the way to them.

    ``exact``: so many of the tokens were computed in exact mode. ``checkpoints`` are in order of
    position. ``used`` counts up with every use. ``is_saved``: the state on disk is the same.
    """

    tokens: array[int] = field(default_factory=lambda: array("i"))
    exact: int = 0
    session: str = ""
    checkpoints: list[Checkpoint] = field(default_factory=list)
    used: int = 0
    is_saved: bool = False

    def __len__(self) -> int:
        return len(self.tokens)

    def copy(self) -> Cached:
        """The same, to go on differently. The checkpoints' bytes are shared."""
        return Cached(
            self.tokens[:], self.exact, self.session, self.checkpoints[:], self.used, self.is_saved
        )

    def keep(self, length: int) -> None:
        """Forget all behind the first ``length`` tokens."""
        if length < len(self.tokens):
            self.tokens = self.tokens[:length]
            self.is_saved = False
        self.exact = min(self.exact, length)
        self.checkpoints = [c for c in self.checkpoints if c.position <= length]

    def cut(self, wanted: Wanted, can_cut: Callable[[int], bool]) -> Cut:
        """How much of a prompt this serves; ``can_cut`` says whether the window before a length is
        still there."""
        positions = [checkpoint.position for checkpoint in self.checkpoints]
        limit = self.exact if wanted.exact else len(self.tokens)
        return best_cut(self.tokens, limit, positions, wanted, can_cut)

    def thin(self) -> int:
        """Drop the checkpoint that will be missed least; returns its bytes.

        That is the one whose neighbours lie closest together, measured by how far back it is:
        people go back a little more often than far. The newest goes last, and before it the oldest,
        behind the system prompt.
        """
        held = self.checkpoints
        if len(held) <= 2:
            return held.pop(0).bytes
        newest = held[-1].position
        gaps = {
            i: (held[i + 1].position - held[i - 1].position) / (newest - held[i].position)
            for i in range(1, len(held) - 1)
        }
        return held.pop(min(gaps, key=lambda i: gaps[i])).bytes


def best_cut(
    tokens: array[int],
    limit: int,
    checkpoints: Sequence[int],
    wanted: Wanted,
    can_cut: Callable[[int], bool],
) -> Cut:
    """How a prompt can use the first ``limit`` of cached ``tokens``.

    The prompt's last token is always computed again, for its logits and activations. A checkpoint
    still serves for one token less than its own position, because a window reaches back one token
    less than its size from the token that looks.
    """
    shared = min(common_prefix(tokens, wanted.tokens), limit)
    length = wanted.on_grid(min(shared, len(wanted) - 1))
    if length == 0 or can_cut(length):
        return Cut(length)
    usable = (p for p in checkpoints if p <= min(length + 1, shared))
    position = max((p for p in usable if wanted.is_on_grid(min(p, length))), default=0)
    return Cut(min(position, length), position) if position else Cut(0)


def common_prefix(left: array[int], right: array[int]) -> int:
    """Number of tokens with which both begin."""
    most = min(len(left), len(right))
    start = 0
    while start < most and left[start : start + _STRIDE] == right[start : start + _STRIDE]:
        start += _STRIDE
    start = min(start, most)
    return next((i for i in range(start, most) if left[i] != right[i]), most)
