"""What a person chose on the command line. The field defaults are the defaults of the options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

MOST_ALTERNATIVES: Final = 16
"""Answers to one prompt."""
MOST_ATTEMPTS: Final = 8
"""At one task; more only cost more."""


@dataclass(kw_only=True, slots=True)
class PairOptions:
    """Which pair to load and how; shared by every command that loads one.

    ``drafter`` is "auto", "none" or a path; ``exact`` is "auto", "on" or "off". ``ctx`` 0,
    ``threads`` 0, ``gpu_layers`` -1 and ``kv_type`` None leave the choice to the plan.
    """

    model: str | None = None
    drafter: str = "auto"
    exact: str = "auto"
    ctx: int = 0
    threads: int = 0
    gpu_layers: int = -1
    kv_type: str | None = None


@dataclass(kw_only=True, slots=True)
class AnswerOptions(PairOptions):
    """Options of ``gemma-local`` itself: one answer, or a chat when there is no prompt.

    ``draft`` None is "auto", 0 is "off". Sampling values that are None take the model's default.
    ``think`` None is "off", 0 is "on", else the most tokens of a thought. ``go_on`` continues the
    last conversation of this folder, ``resume`` the one with this id; "" asks which. ``plain``
    chats line by line, without the screens. ``allow`` are rules as ``--allow`` has them, ``mode``
    is one of ``agent.consent``; with either a prompt is done with tools, in ``max_calls`` calls at
    most, 0 for the usual number. ``best`` attempts are made at it, 0 for just doing it, and judged
    by the command ``judge``, "" for the project's usual one; ``take`` the best. ``n`` answers are
    given to one prompt.
    """

    prompt: str | None = None
    system: str | None = None
    raw: bool = False
    think: int | None = None
    go_on: bool = False
    resume: str | None = None
    save: bool = True
    plain: bool = False
    allow: list[str] = field(default_factory=list)
    mode: str | None = None
    max_calls: int = 0
    best: int = 0
    judge: str = ""
    take: bool = False
    n: int = 1
    output: str = "text"
    stats: bool = False
    draft: int | None = None
    max_tokens: int = 0
    stop: list[str] = field(default_factory=list)
    seed: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    lenience: float = 0.0


@dataclass(kw_only=True, slots=True)
class BenchOptions(PairOptions):
    """Options of ``gemma-local bench``. ``raw_tokens`` 0 means the built-in prompts. ``simulate``
    names profiles to simulate in place of measuring, none means all; None: it is measured."""

    draft: tuple[int, ...] = (1, 2, 3, 4, 6, 8)
    kinds: tuple[str, ...] = ()
    tokens: int = 64
    repeat: int = 3
    raw_tokens: int = 0
    simulate: list[str] | None = None
    json: bool = False


@dataclass(kw_only=True, slots=True)
class VerifyOptions(PairOptions):
    """Options of ``gemma-local verify``, which runs both modes: ``exact`` has no effect there."""

    draft: tuple[int, ...] = (2, 3, 4, 6)
    prompts: str | None = None
    raw: bool = False
    tokens: int = 64
    json: bool = False


@dataclass(kw_only=True, slots=True)
class BatchOptions(AnswerOptions):
    """Options of ``gemma-local batch``; those of an answer hold for lines that say nothing else.

    ``file`` has the questions, "-" is standard input; answers go to ``out``, "" is standard output.
    ``parallel`` 0 leaves the number at once to the plan.
    """

    file: str = ""
    out: str = ""
    parallel: int = 0
    stop_on_error: bool = False
