"""Sessions with tools, put together from a question, steps and a report."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from gemma_local.models.message import Message, ToolCall, Value
from gemma_local.models.pocket.train.corpus import workspace
from gemma_local.models.pocket.train.corpus.sample import Sample, head, said, user
from gemma_local.models.pocket.train.corpus.tool_head import Head
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
    templates = (held_out if split == "test" else trained).strip().replace("\n", "|").split("|")
    text = rng.choice(templates)
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


def edit_step(
    rng: random.Random, file: workspace.File, old: str, new: str, *, all_: bool = False
) -> Step:
    """Replaces a text in a file; the result shows the place."""
    arguments: dict[str, Value] = {"path": file.path, "old": old, "new": new}
    if all_:
        arguments["all"] = True
    after = file.text.replace(old, new)
    result = rng.choice(_EDITED).format(path=file.path)
    if rng.random() < 0.7:
        changed = sum(a != b for a, b in zip(file.lines, after.split("\n"), strict=False))
        at = next((n for n, line in enumerate(after.split("\n")) if new in line), 0)
        lines = list(enumerate(after.split("\n"), 1))[max(0, at - 3) : at + 4]
        result = f"{file.path}: changed, +{changed} -{changed}\n"
        result += "\n".join(f"{number}|{line}" for number, line in lines)
    return ("edit", arguments, result, "Now I change the line.")


_EDITED: Final = ("edited {path}", "ok", "1 replacement in {path}", "{path}: changed", "done")


def listed(names: list[str]) -> str:
    """Names as a sentence lists them."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
