"""Random histories of requests, for tests of what is cached between them.

Conversations go on, are edited, answered anew, lose a thought, are interrupted by side requests and
by one another, are read ahead, cancelled, saved and loaded again. The pairs have random weights and
two layers, a sliding one of 32 tokens and a full one, and their prompts are read in slices of 64
tokens: a ring of 256 cells, that a conversation of some hundred tokens wraps around.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gemma_local.engine import pair
from gemma_local.engine.messages import Generate, Read
from gemma_local.engine.runtime.context import Floats
from gemma_local.engine.scheduler import Scheduler
from gemma_local.models.prompt import Ids, Prompt
from tests.engine.running import Reply, Runner, ask, running
from tests.ggufs import Pair, Random, build_shallow

WINDOW = 32
SLICE = 64
RING = 256
CONTEXT = 640
ACTS = (
    *("go on", "go on", "edit", "answer anew", "drop a thought", "aside", "aside at length"),
    *("switch", "read ahead", "cancel", "restart"),
)


def window_pair(kind: str, folder: Path, tensor_type: str = "F16", window: int = WINDOW) -> Pair:
    """A random pair whose layers all count, and whose drafter is right about every second time."""
    # Attention is what a pass takes longest for here, and few heads do for what is cached.
    shape: dict[str, Any] = {"window": window, "heads": 2, "drafter_heads": 2}
    if tensor_type in ("Q4_K", "Q6_K"):
        # Whole blocks of 256, and a cache as large as with the others.
        shape |= {"heads": 4, "drafter_heads": 4, "head_dim_sliding": 64, "kv_heads_sliding": 1}
    if kind == "moe":
        # All of them: a router that must choose turns the last bit of a sum into another expert.
        shape |= {"experts_used": 4}
    return build_shallow(kind, Random(pull=15.0), folder, tensor_type=tensor_type, **shape)


@contextmanager
def in_short_slices(files: Pair, **load: object) -> Iterator[Runner]:
    """A pair whose prompts are read in slices of 64 tokens, as those of large models are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair, "slice_tokens", lambda *_args, **_more: SLICE)
        with running(files, **{"context": CONTEXT, **load}) as runner:
            assert runner.pair.choose(3, exact=True)[1].ring == RING
            yield runner


def restart(runner: Runner) -> None:
    """What a new process starts with: nothing but what is on disk."""
    for slot in runner.scheduler._cache._slots:
        slot.clear()
    runner.scheduler = Scheduler(runner.pair, runner.events.append)


def lies_in_order(runner: Runner, number: int = 0) -> bool:
    """Whether the window's cells lie where the slot says, as a raw copy of them shows."""
    slot = runner.scheduler._cache._slots[number]
    state = runner.pair.decoder.target.state(number, window_only=True)
    # Magic, sequence, streams; the cells of sequence 0 come first.
    count = int(state[12:16].view("<u4")[0])
    positions = state[16 : 16 + 12 * count].view("<i4")[::3].tolist()
    assert sorted(positions) == list(range(len(slot.cached) - count, len(slot.cached)))
    return bool(positions == sorted(positions, key=lambda p: (p - slot.origin) % RING))


def answer(runner: Runner, request: Generate) -> tuple[Reply, list[Floats]]:
    """Run a request; its reply, and the logits that each of its tokens was chosen from."""
    rows: list[Floats] = []
    decoder = runner.pair.decoder
    decoder.observer = lambda _sequence, row: rows.append(row.copy())
    try:
        [reply] = runner.run(request)
    finally:
        decoder.observer = None
    return reply, rows[: len(reply.end.tokens)]


def ids(tokens: list[int]) -> Prompt:
    return (Ids(tuple(tokens)),)


@dataclass
class Conversation:
    """``known`` is all that was said, ``prompt`` what was known before the last answer."""

    session: str
    known: list[int]
    prompt: list[int] = field(default_factory=list)


class History:
    """Acts out one history on a runner, request by request."""

    def __init__(self, seed: int, runner: Runner, *, exact: bool, draft: int) -> None:
        self._random = random.Random(seed)
        self._runner = runner
        self._exact = exact
        self._draft = draft
        self._seed = seed
        self._conversations: list[Conversation] = []
        self._current = self._open()

    def acts(self, count: int, longest_answer: int) -> Iterator[tuple[str, Generate]]:
        """So many requests; tell the answer to each with ``answered`` before the next."""
        for _ in range(count):
            act = self._random.choice(ACTS)
            tokens, session = self._tokens(act)
            if len(tokens) > CONTEXT - longest_answer - 16:
                tokens = tokens[: self._random.randrange(100, 400)]
            self._asked = tokens, not act.startswith("aside")
            most = self._random.randrange(1, longest_answer + 1)
            yield act, self._request("a", tokens, session, max_tokens=most)

    def answered(self, reply: Reply) -> None:
        """Take down what was said."""
        tokens, counts = self._asked
        if counts:
            self._current.prompt = tokens
            self._current.known = [*tokens, *reply.end.tokens]

    def _request(self, name: str, tokens: list[int], session: str, **more: Any) -> Generate:
        return ask(
            name, prompt=ids(tokens), session=session, exact=self._exact, draft=self._draft,
            ignore_end=True, **more,
        )  # fmt: skip

    def _open(self) -> Conversation:
        session = f"{self._seed}.{len(self._conversations)}"
        conversation = Conversation(session, self._new(20, 300))
        conversation.prompt = conversation.known
        self._conversations.append(conversation)
        return conversation

    def _new(self, least: int, most: int) -> list[int]:
        count = self._random.randrange(least, most + 1)
        return [self._random.randrange(60, 140) for _ in range(count)]

    def _tokens(self, act: str) -> tuple[list[int], str]:
        """The prompt that an act leads to, and its session."""
        here = self._current
        known = here.known
        match act:
            case "edit":
                kept = known[: self._random.randrange(1, len(known))]
                return [*kept, *self._new(1, 40)], here.session
            case "answer anew":
                return here.prompt, here.session
            case "drop a thought":
                said = known[len(here.prompt) :]
                rest = said[self._random.randrange(len(said) + 1) :]
                return [*here.prompt, *rest, *self._new(1, 30)], here.session
            case "aside":
                return [*known[:5], *self._new(20, 60)], ""
            case "aside at length":
                return [*known, *self._new(10, 30)], ""
            case "switch":
                self._open()
                self._current = self._random.choice(self._conversations)
                return [*self._current.known, *self._new(1, 5)], self._current.session
            case "read ahead" | "cancel":
                return self._interrupted(act, [*known, *self._new(1, 150)]), here.session
            case "restart":
                self._runner.scheduler.save("s")
                restart(self._runner)
        return [*known, *self._new(1, 60)], here.session

    def _interrupted(self, act: str, tokens: list[int]) -> list[int]:
        """Begin to read or to answer ``tokens``, stop at some time; a prompt that goes on there."""
        tokens = tokens[: CONTEXT - 120]
        scheduler = self._runner.scheduler
        if act == "cancel":
            scheduler.submit(self._request("b", tokens, self._current.session))
        else:
            scheduler.submit(Read("b", ids(tokens), self._current.session, self._exact))
        for _ in range(self._random.randrange(1, 7)):
            scheduler.turn()
        scheduler.cancel("b")
        return [*tokens, *self._new(1, 3)]
