"""The held-out sets: new names, new phrasings, and questions written by hand."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, Literal

from gemma_local.models.pocket.train.corpus import (
    attached,
    everyday,
    guide,
    helpers,
    off_ground,
    project,
    repeating,
    small_talk,
    tool_head,
    tool_sessions,
)
from gemma_local.models.pocket.train.corpus.sample import Sample, said, user

_SEED: Final = "held out"


@cache
def questions_by_hand() -> tuple[tuple[str, str], ...]:
    """Pairs of a fact's id and a question, from ``held_out_guide.toml``."""
    place = Path(guide.__file__).with_name("held_out_guide.toml")
    found = tomllib.loads(place.read_text("utf-8"))["questions"]
    return tuple((fact, question) for fact, questions in found.items() for question in questions)


def guide_by_hand() -> list[Sample]:
    """All questions that were written by hand."""
    facts = {fact.id: fact for fact in guide.facts()}
    return [
        Sample(
            "guide",
            (user(question), said(facts[fact].answers[0])),
            judged_by={"fact": fact, "must": facts[fact].must},
        )
        for fact, question in questions_by_hand()
    ]


def calls(
    name: str,
    count: int,
    make: Callable[[random.Random, Literal["test"], tool_head.Head], Sample],
    *,
    first: int = 1,
) -> list[Sample]:
    """Sessions with tools, each up to one of its calls, of the ``first`` task or of a later one."""
    rng = random.Random(f"{_SEED}/{name}")
    found: list[Sample] = []
    while len(found) < count:
        session = make(rng, "test", tool_head.make_head(rng, "test"))
        steps = [step for step in tool_sessions.steps(session) if _tasks(step) >= first]
        if steps:
            found.append(rng.choice(steps))
    return found


def _tasks(sample: Sample) -> int:
    return sum(message.role == "user" for message in sample.messages)


_MAKERS: Final[dict[str, Callable[[random.Random, Literal["test"]], Sample]]] = {
    "guide_phrasing": guide.sample,
    "off_ground": off_ground.sample,
    "python": helpers.sample,
    "snippet": helpers.snippet,
    "attached": attached.sample,
    "proofread": everyday.proofread,
    "shorten": everyday.shorten,
    "replies": everyday.replies,
    "summarize": everyday.summarize,
    "repeating": repeating.sample,
    "small_talk": small_talk.sample,
}
SIZES: Final = {
    "guide": 100,
    "guide_phrasing": 100,
    "tools": 100,
    "later_tools": 50,
    "python": 50,
    "off_ground": 50,
    "snippet": 50,
    "attached": 40,
    "proofread": 40,
    "shorten": 40,
    "replies": 20,
    "summarize": 20,
    "repeating": 20,
    "small_talk": 10,
}


def held_out(name: str, count: int | None = None) -> list[Sample]:
    """A set by its name, at its usual size; always the same samples."""
    count = SIZES[name] if count is None else count
    if name == "guide":
        every = guide_by_hand()
        return random.Random(f"{_SEED}/guide").sample(every, min(count, len(every)))
    if name == "tools":
        return calls(name, count, tool_sessions.sample)
    if name == "later_tools":
        return calls("later tools", count, project.conversation, first=3)
    rng = random.Random(f"{_SEED}/{name}")
    return [_MAKERS[name](rng, "test") for _ in range(count)]
