"""What a prompt with tools begins with."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from gemma_local.models.message import Tool
from gemma_local.models.pocket.train.corpus.words import (
    PEOPLE,
    Split,
    pick,
    word,
)
from gemma_local.models.pocket.train.tools import BRIEF_TOOLS, TERSE_RULES, TERSE_TOOLS
from gemma_local.models.pocket.train.tools import tools as make_tools


@dataclass(frozen=True, slots=True)
class Head:
    """What a prompt begins with: the same for many sessions."""

    system: str = TERSE_RULES
    tools: tuple[Tool, ...] = TERSE_TOOLS
    thinking: bool = False


def make_head(rng: random.Random, split: Split) -> Head:
    """A beginning: mostly what the program says itself, else as other programs have it."""
    thinking = rng.random() < 0.12
    if rng.random() < 0.75:
        return Head(thinking=thinking)
    folder = f"/home/{pick(rng, PEOPLE, split).lower()}/{word(rng, split)}"
    text = rng.choice(_SYSTEM).format(folder=folder)
    tools = TERSE_TOOLS
    chance = rng.random()
    if chance < 0.3:
        tools = BRIEF_TOOLS
    elif chance < 0.5:
        tools = make_tools(*rng.choice(((37, 5), (150, 20), (300, 50))))
    if rng.random() < 0.2:
        tools = tuple(rng.sample(tools, len(tools)))
    return Head(text, tools, thinking)


_SYSTEM: Final = (
    *("", "", ""),
    "You are gemma-local, a coding agent. Workspace: {folder}",
    "You are a coding agent. The workspace is {folder}.",
    "You are gemma-local. You work in {folder}. Use the tools.",
    "You are a helpful assistant.",
    "You are a careful coding assistant. Read a file before you change it.",
    "Workspace: {folder}\nWork step by step and report briefly.",
    "You are gemma-local, an assistant that runs on this machine. Use tools to read and change "
    "files in {folder}. Be brief.",
)
