"""All grounds together: single questions, conversations of several turns, sessions with tools."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gemma_local.models.message import Message
from gemma_local.models.pocket.train.corpus import (
    attached,
    everyday,
    guide,
    helpers,
    off_ground,
    project,
    repeating,
    small_talk,
    tool_sessions,
)
from gemma_local.models.pocket.train.corpus.sample import Sample, head
from gemma_local.models.pocket.train.corpus.tool_head import Head
from gemma_local.models.pocket.train.corpus.words import Split

Maker = Callable[[random.Random, Split], Sample]

GROUNDS: Final[dict[str, tuple[Maker, float]]] = {
    "guide": (guide.sample, 150),
    "off_ground": (off_ground.sample, 26),
    "python": (helpers.sample, 44),
    "snippet": (helpers.snippet, 8),
    "attached": (attached.sample, 7),
    "everyday": (everyday.sample, 11),
    "repeating": (repeating.sample, 4),
    "small_talk": (small_talk.sample, 3),
}
_SYSTEM: Final = (
    "You are a helpful assistant.",
    "You are gemma-local, a local assistant.",
    "Be brief.",
    "Answer in one sentence.",
    "You are the guide of gemma-local.",
    "Be friendly and brief.",
)


def plain(rng: random.Random, split: Split = "train") -> Sample:
    """A conversation without tools, of one to four questions."""
    turns = rng.choices((1, 2, 3, 4), (70, 15, 9, 6))[0]
    begin = Head(rng.choice(_SYSTEM) if rng.random() < 0.15 else "", (), rng.random() < 0.13)
    return _conversation(rng, split, begin, turns)


def with_tools(rng: random.Random, begin: Head, split: Split = "train") -> Sample:
    """Sessions with tools: one alone, several on the same files, one behind another or behind a
    question that needs none, or now and then such a question alone."""
    chance = rng.random()
    if chance < 0.15:
        return _conversation(rng, split, begin, 1)
    opened = len(head(begin.system))
    if chance < 0.2:
        before, session = (
            project.conversation(rng, split, begin),
            _conversation(rng, split, begin, 1),
        )
    elif chance < 0.4:
        return project.conversation(rng, split, begin)
    else:
        session = tool_sessions.sample(rng, split, begin)
        if chance < 0.5:
            before = _conversation(rng, split, begin, 1)
        elif chance < 0.65:
            before = tool_sessions.sample(rng, split, begin)
        else:
            return session
    return replace(session, messages=(*before.messages, *session.messages[opened:]))


def _conversation(rng: random.Random, split: Split, begin: Head, turns: int) -> Sample:
    messages: list[Message] = [*head(begin.system)]
    makers, weights = zip(*GROUNDS.values(), strict=True)
    for _ in range(turns):
        sample = rng.choices(makers, weights)[0](rng, split)
        while sample.messages[0].role == "system" and (turns > 1 or begin.tools):
            # The program's own commands are never part of a conversation.
            sample = rng.choices(makers, weights)[0](rng, split)
        if sample.messages[0].role == "system":
            messages = []
        messages += sample.messages
    return replace(sample, messages=tuple(messages), tools=begin.tools, thinking=begin.thinking)
