"""Sessions with tools, put together from a question, steps and a report."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Final

from gemma_local.models.message import Message, ToolCall, Value
from gemma_local.models.pocket.train.corpus import workspace
from gemma_local.models.pocket.train.corpus.sample import Sample, head, said, user
from gemma_local.models.pocket.train.corpus.tool_head import Head
from gemma_local.models.pocket.train.corpus.wordings import politely, reworded
from gemma_local.models.pocket.train.corpus.words import Split

Step = tuple[str, Mapping[str, Value], str, str]
"""A tool, its arguments, what it returns, and the thought before the call."""


def session(
    question: str, steps: list[Step], report: str, begin: Head, thought: str = "That is done."
) -> Sample:
    """A session in which each step's result is read before the next."""
    messages: list[Message] = [*head(begin.system), user(question)]
    for name, arguments, result, why in steps:
        messages.append(Message("assistant", thought=why, calls=(ToolCall(name, arguments),)))
        messages.append(Message("tool", result, tool=name))
    messages.append(said(report, thought))
    return Sample("tools", tuple(messages), begin.tools, begin.thinking)


def ask(rng: random.Random, split: Split, trained: str, held_out: str, **slots: str) -> str:
    """A request in one of many wordings, separated by lines or bars, as it may be typed."""
    held = held_out.strip().replace("\n", "|").split("|")
    if split == "test":
        text = rng.choice(held)
    else:
        text = chosen = rng.choice(trained.strip().replace("\n", "|").split("|"))
        if rng.random() < 0.4:
            text = politely(chosen, rng)
        text = _with_others(reworded(text, rng), rng)
        if text in held and held_out != trained:
            text = chosen
    for name, value in slots.items():
        if name in ("file", "folder", "name", "new", "old", "key") and rng.random() < 0.25:
            value = f"`{value}`"
        text = text.replace(f"{{{name}}}", value)
    if split == "train":
        text = rng.choice(("", "", "", "", "", "Please: ", "Hi. ", "Now ", "OK, ")) + text
        if rng.random() < 0.12:
            text = text[0].lower() + text[1:]
        elif rng.random() < 0.5:
            text = text[0].upper() + text[1:]
        if rng.random() < 0.12:
            text = text.rstrip(".?")
    return text


_OTHERS: Final = (
    *(
        "me",
        "us",
        "where",
        "how",
        "the",
        "that",
        "this",
        "there",
        "here",
        "now",
        "also",
        "once more",
    ),
    *("of", "what", "just", "only", "all of", "the thing", "the one called", "the one named", "my"),
    *(
        "quickly",
        "for me",
        "place of",
        "our",
        "your",
        "its",
        "as",
        "exactly",
        "so that",
        "at",
        "by",
    ),
)


def _with_others(text: str, rng: random.Random) -> str:
    """``text`` now and then with words before what it is about that say nothing: those are no part
    of a name, however people put it."""
    if rng.random() < 0.85:
        return text
    places = [found.start() for found in _SLOT.finditer(text)]
    at = rng.choice(places) if places else 0
    return f"{text[:at]}{rng.choice(_OTHERS)} {text[at:]}" if at else text


_SLOT: Final = re.compile(r"(?<= )`?\{")


def edit_step(file: workspace.File, old: str, new: str, *, all_: bool = False) -> Step:
    """Replaces a text in a file; the result shows the place."""
    arguments: dict[str, Value] = {"path": file.path, "old": old, "new": new}
    if all_:
        arguments["all"] = True
    after = file.text.replace(old, new).split("\n")
    changed = [n for n, (a, b) in enumerate(zip(file.lines, after, strict=False)) if a != b]
    count, first, last = len(changed), changed[0], changed[-1]
    spans = file.text.count(old)
    places = f", {spans} places" if spans > 1 else ""
    shown = range(max(0, first - 3), min(len(after), last + 4))
    result = f"{file.path}: changed, +{count} -{count}{places}\n"
    result += "\n".join(f"{n + 1}|{after[n]}" for n in shown)
    return ("edit", arguments, result, "Now I change the line.")


def listed(names: list[str]) -> str:
    """Names as a sentence lists them."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
