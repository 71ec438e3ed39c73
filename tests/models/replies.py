"""Helpers for tests of replies: streams written as text in which markers are tokens."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gemma_local.models.message import Opening, Tool
from gemma_local.models.reply import AnswerText, CallEnd, Part, Reply, ThoughtText
from gemma_local.models.split_reply import SplitReply
from gemma_local.models.tool_call import ParsedCall

PRINTED = (
    *("<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>'),
    *("<|channel>", "<channel|>"),
)
"""Markers that print as their text; the others print nothing."""
SILENT = ("<bos>", "<eos>", "<|turn>", "<turn|>", "<|think|>")
MARKERS = {text: 1000 + 7 * i for i, text in enumerate((*SILENT, *PRINTED))}
_MARKER = re.compile("|".join(re.escape(text) for text in MARKERS))
TEXT_TOKEN = 5


@dataclass(frozen=True)
class Spelled:
    """Text that stays text, whatever it spells."""

    text: str


Items = Sequence["str | Spelled"]
"""A stream: every marker in a ``str`` is a token, a ``Spelled`` is text."""


def stream(*items: str | Spelled) -> list[tuple[int, str]]:
    """Tokens with their pieces, text in one piece."""
    tokens: list[tuple[int, str]] = []
    for item in items:
        if isinstance(item, Spelled):
            tokens.append((TEXT_TOKEN, item.text))
            continue
        at = 0
        for marker in _MARKER.finditer(item):
            if marker.start() > at:
                tokens.append((TEXT_TOKEN, item[at : marker.start()]))
            name = marker[0]
            tokens.append((MARKERS[name], name if name in PRINTED else ""))
            at = marker.end()
        if at < len(item):
            tokens.append((TEXT_TOKEN, item[at:]))
    return tokens


def cut(tokens: Iterable[tuple[int, str]], lengths: Iterable[int]) -> list[tuple[int, str]]:
    """The same stream with its texts in tokens of the given lengths, over and over."""
    sizes = itertools.cycle([*lengths] or [1])
    pieces: list[tuple[int, str]] = []
    for token, piece in tokens:
        if token != TEXT_TOKEN:
            pieces.append((token, piece))
            continue
        at = 0
        while at < len(piece):
            size = max(next(sizes), 0)
            pieces.append((TEXT_TOKEN, piece[at : at + size]))
            at += size
            if not size:
                pieces.append((TEXT_TOKEN, piece[at : at + 1]))
                at += 1
    return pieces


@dataclass(frozen=True)
class Outcome:
    """What a reply came to, however it was cut."""

    thought: str
    answer: str
    calls: tuple[ParsedCall, ...]
    notices: tuple[str, ...]


def run(
    reply: SplitReply,
    tokens: Iterable[tuple[int, str]],
    *,
    rest: str = "",
    truncated: bool = False,
) -> Outcome:
    """Feed a whole stream and check that the parts say the same as the reply."""
    parts: list[Part] = []
    for token, piece in tokens:
        parts += reply.feed(token, piece)
    parts += reply.finish(rest, truncated=truncated)
    assert "".join(p.text for p in parts if isinstance(p, ThoughtText)) == reply.thought
    assert "".join(p.text for p in parts if isinstance(p, AnswerText)) == reply.answer
    assert tuple(p.call for p in parts if isinstance(p, CallEnd)) == reply.calls
    return Outcome(reply.thought, reply.answer, reply.calls, reply.notices)


def said(
    *items: str | Spelled,
    tools: Sequence[Tool] = (),
    opening: Opening = "",
    truncated: bool = False,
) -> Outcome:
    """What Gemma 4 saying ``items`` comes to, the same at two ways to cut it."""
    tokens = stream(*items)
    whole = run(Reply(MARKERS, tools, opening=opening), tokens, truncated=truncated)
    letters = cut(tokens, [1])
    assert run(Reply(MARKERS, tools, opening=opening), letters, truncated=truncated) == whole
    return whole


def called(*items: str | Spelled, tools: Sequence[Tool], truncated: bool = False) -> ParsedCall:
    """The one call that ``items`` hold."""
    outcome = said(*items, tools=tools, truncated=truncated)
    assert len(outcome.calls) == 1, outcome
    return outcome.calls[0]
