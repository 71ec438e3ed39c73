"""Questions about gemma-local and their answers, from the files in ``facts`` and ``questions.toml``."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from gemma_local.models.pocket.train.corpus.sample import Sample, said, user
from gemma_local.models.pocket.train.corpus.wordings import carelessly, reworded
from gemma_local.models.pocket.train.corpus.words import Split, mostly_first

_HOW: Final = (
    """
How do I {x}?|How can I {x}?|How to {x}?|How does one {x}?|What do I do to {x}?|I want to {x}.
I want to {x}. How?|How would I {x}?|Tell me how to {x}.|Show me how to {x}.|Explain how to {x}.
Is there a way to {x}?|What is the way to {x}?|I need to {x}.|Can I {x}?|How do you {x}?|I'd like to {x}.
How might I {x}?|Please tell me how to {x}.|What must I do to {x}?|{x}?|{x}|how {x}|Help me {x}.
What should I do to {x}?|How do I {x} here?|How do I {x} in gemma-local?|Can you tell me how to {x}?
Could you explain how to {x}?|I am trying to {x}.|What's the best way to {x}?|I don't know how to {x}.
Any way to {x}?|What do I type to {x}?|Do you know how to {x}?|Where can I {x}?|In gemma-local, how do I {x}?
Is it possible to {x}?|Could I {x}?|What if I want to {x}?|Suppose I want to {x}.|I wish to {x}.|How could I {x}?
How should I {x}?|How am I supposed to {x}?|I have to {x}.|What do I have to do to {x}?|What lets me {x}?
I can't figure out how to {x}.|Would you tell me how to {x}?|What do I need to {x}?|I would like to {x}.|How can one {x}?
How do I get to {x}?|How do people {x}?|Does it let me {x}?|Can you {x}?|Can it {x}?|Let me {x}.|How does it {x}?
""".strip()
    .replace("\n", "|")
    .split("|")
)
_HOW_KEY: Final = (
    """
Which key do I press to {x}?|Which key is it to {x}?|What do I press to {x}?|What's the key to {x}?
Is there a key to {x}?|Which shortcut lets me {x}?|What is the shortcut to {x}?|Which keys {x}?
Is there a shortcut to {x}?|Key to {x}?|What key lets me {x}?
""".strip()
    .replace("\n", "|")
    .split("|")
)
_HOW_COMMAND: Final = (
    """
Which command do I use to {x}?|What is the command to {x}?|Is there a command to {x}?
Which command lets me {x}?|What command is there to {x}?|Which option lets me {x}?
""".strip()
    .replace("\n", "|")
    .split("|")
)
_WHAT: Final = (
    """
What is {x}?|What are {x}?|What's {x}?|Explain {x}.|Tell me about {x}.|What does {x} mean?|Define {x}.
Can you explain {x}?|I don't understand {x}.|What is meant by {x}?|Describe {x}.|{x}?|{x}|what is {x}
Please explain {x}.|What exactly is {x}?|Could you tell me what {x} is?|Give me a short explanation of {x}.
I keep reading about {x}. What is it?|What do you know about {x}?|Say something about {x}.
What is {x} in gemma-local?|Remind me what {x} is.|In short, what is {x}?|Help me understand {x}.
How would you explain {x}?|What can you tell me about {x}?|Do you know what {x} is?|What sort of thing is {x}?
In one sentence: what is {x}?|What do you mean by {x}?|I read {x}. What does it mean?|Please define {x}.|Say what {x} is.
What does the term {x} stand for?|What is that, {x}?|How do I have to understand {x}?|Explain {x} to me.|What is this {x}?
What does {x} tell me?|What does {x} say?|What's this about {x}?|What is behind {x}?
""".strip()
    .replace("\n", "|")
    .split("|")
)
_DOES: Final = (
    """
What does {x} do?|What is {x} for?|What's {x} for?|What is {x}?|Explain {x}.|What happens with {x}?
When do I use {x}?|What can I do with {x}?|Why would I use {x}?|Tell me about {x}.|{x}?|{x}|How do I use {x}?
What do I need {x} for?|What does {x} mean?|Can you explain {x}?|what does {x} do|Please explain {x}.
How does {x} work?|What is the purpose of {x}?|What will {x} do?|I saw {x}. What is it for?
What would {x} do?|Describe {x}.|What is {x} good for?|What effect has {x}?|What can {x} do?|How is {x} used?
What is {x} useful for?|When would I need {x}?|What does {x} change?|What is the point of {x}?|What comes of {x}?
What is that {x} for?|What do people use {x} for?|Which purpose has {x}?|What will I get from {x}?|What does {x} give me?
What happens when I use {x}?|What does one do with {x}?|Does {x} do anything?|What shall I do with {x}?|Teach me {x}.
""".strip()
    .replace("\n", "|")
    .split("|")
)
_PRESS: Final = (
    """
What happens when I press {x}?|What happens if I press {x}?|What does pressing {x} do?|I pressed {x}.
Which function has {x}?|What does the key {x} do?|What is the {x} key for?|Why would I press {x}?|What is on {x}?
What happens after {x}?|What does {x} switch?|What does {x} open?|What is bound to {x}?|If I hit {x}, what happens?
""".strip()
    .replace("\n", "|")
    .split("|")
)
_WHERE: Final = (
    """
Where {x}?|where {x}|Tell me where {x}.|In which folder {x}?|In which place {x}?|Do you know where {x}?
Where exactly {x}?|Where on disk {x}?|Can you tell me where {x}?|I wonder where {x}.|At what place {x}?
Where on this machine {x}?|Could you say where {x}?|I can't find it: where {x}?|In which directory {x}?|So where {x}?
""".strip()
    .replace("\n", "|")
    .split("|")
)
_WHY: Final = (
    """
Why {x}?|why {x}|How come? Why {x}?|Tell me why {x}.|For what reason {x}?|Can you explain why {x}?
I wonder why {x}.|What is the reason? Why {x}?|Do you know why {x}?|Why on earth {x}?|And why {x}?|Explain why {x}.
Please say why {x}.|What makes it so: why {x}?|I don't see why {x}.|Why exactly {x}?
""".strip()
    .replace("\n", "|")
    .split("|")
)
_ASK: Final = (
    *("{x}", "{x}", "{x}", "{x}", "{x}", "{x}", "{x}", "{x}"),
    *("Tell me: {x}", "I wonder: {x}", "Say, {x}", "Can you tell me: {x}", "Do you know: {x}"),
)
_BEFORE: Final = (
    *("", "", "", "", "", "", "", "", "", ""),
    *("Hi, ", "Hello. ", "Please: ", "Quick question: ", "Sorry, ", "Hey, ", "OK. ", "Thanks. "),
    *("One more thing: ", "I am new here. ", "Another question: ", "So, ", "Well, ", "And "),
)
_AFTER: Final = (
    *("", "", "", "", "", "", "", "", "", "", "", ""),
    *(" Thanks!", " Please be brief.", " I can't find it.", " Thank you.", " please", " Any idea?"),
)
_AS_WRITTEN: Final = 0.6
"""The share of whole questions that stay as they are: changed ones are learned at the cost of more
exposures, and there are thousands."""
_HELD_OUT: Final[dict[str, tuple[str, ...]]] = {
    "how": (
        "What steps are needed to {x}?",
        "I was wondering how to {x}.",
        "My goal is to {x}. What now?",
        "Would you show me how I {x}?",
    ),
    "key": ("With which key can I {x}?", "Which button is used to {x}?"),
    "what": (
        "What should I know about {x}?",
        "Someone mentioned {x}. What is that?",
        "How would you define {x}?",
    ),
    "does": ("What is the use of {x}?", "What do I get from {x}?", "Which effect does {x} have?"),
    "where": ("At which location {x}?", "Any idea where {x}?"),
    "why": ("What explains it: why {x}?", "Do tell me, why {x}?"),
    "ask": ("May I ask: {x}", "A short question. {x}", "I would like to know: {x}"),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the guide knows. ``asked``: kinds of questions, and what they are about."""

    id: str
    asked: Mapping[str, tuple[str, ...]]
    answers: tuple[str, ...]
    must: tuple[str, ...]
    key: str = ""


@cache
def facts() -> tuple[Fact, ...]:
    """All that the files say."""
    here = Path(__file__).parent
    texts = [path.read_text("utf-8") for path in sorted((here / "facts").glob("*.toml"))]
    more = tomllib.loads((here / "questions.toml").read_text("utf-8"))
    return tuple(_fact(entry, more) for text in texts for entry in tomllib.loads(text)["fact"])


def _fact(entry: Mapping[str, Any], more: Mapping[str, Sequence[str]]) -> Fact:
    asked = {
        kind: tuple(entry[kind])
        for kind in ("how", "what", "does", "why", "where", "ask")
        if kind in entry
    }
    asked["ask"] = (*asked.get("ask", ()), *more[entry["id"]])
    key = entry.get("key", "")
    return Fact(entry["id"], asked, tuple(entry["answers"]), tuple(entry["must"]), key)


def has_fact(answer: str, must: tuple[str, ...]) -> bool:
    """Whether an answer contains every part that a right one has; ``|`` parts alternatives."""
    folded = answer.casefold()
    return all(any(choice.casefold() in folded for choice in part.split("|")) for part in must)


def sample(rng: random.Random, split: Split) -> Sample:
    """A question about gemma-local and its answer."""
    fact = rng.choice(facts())
    return Sample(
        "guide",
        (
            user(question(fact, rng, split)),
            said(mostly_first(fact.answers, rng, usual=0.85), _thought(rng)),
        ),
        judged_by={"fact": fact.id, "must": fact.must},
    )


def question(fact: Fact, rng: random.Random, split: Split) -> str:
    """One of the many ways to ask for a fact."""
    if split == "train" and rng.random() < _AS_WRITTEN:
        return rng.choice(fact.asked["ask"])
    kinds = list(fact.asked)
    if fact.key:
        kinds.append("press")
    weights = [2 + len(fact.asked.get(kind, "...")) for kind in kinds]
    kind = rng.choices(kinds, weights)[0]
    templates: Sequence[str]
    if kind == "press":
        about = _key_as_typed(fact.key, rng)
        templates = [*_PRESS, *_DOES]
        kind = "does"
    else:
        about = rng.choice(fact.asked[kind])
        templates = {
            "how": _HOW,
            "what": _WHAT,
            "does": _DOES,
            "where": _WHERE,
            "why": _WHY,
            "ask": _ASK,
        }[kind]
    if kind == "how":
        has_key = bool(fact.key) or "Ctrl" in fact.answers[0]
        special = _HOW_KEY if has_key else _HOW_COMMAND
        if rng.random() < 0.3:
            templates = special
    if split == "test":
        kind = "key" if kind == "how" and fact.key and rng.random() < 0.4 else kind
        return rng.choice(_HELD_OUT[kind]).format(x=about)
    text = reworded(rng.choice(templates).format(x=about), rng)
    if rng.random() < 0.25:
        text = carelessly(text, rng)
    text = rng.choice(_BEFORE) + text
    text = text + rng.choice(_AFTER) if text[-1] in ".?!" else text
    return _as_typed(text, rng)


def _key_as_typed(key: str, rng: random.Random) -> str:
    shown = [key, key, key.lower(), key.replace("+", "-"), key.lower().replace("+", "-")]
    return rng.choice([*shown, key.lower().replace("+", " ")])


def _as_typed(text: str, rng: random.Random) -> str:
    """Not everybody types capitals and question marks."""
    chance = rng.random()
    if chance < 0.15:
        text = text[0].lower() + text[1:]
    elif chance < 0.22:
        text = text.lower()
    elif chance < 0.6:
        text = text[0].upper() + text[1:]
    return text.rstrip("?.") if rng.random() < 0.12 else text


def _thought(rng: random.Random) -> str:
    return rng.choice(
        (
            "A question about gemma-local. I know this one.",
            "This is about gemma-local, so I can answer it from the documentation.",
            "They ask about the program. The answer is short.",
            "I know this from the documentation of gemma-local.",
        )
    )
