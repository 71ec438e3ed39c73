"""A reply of Gemma 4 as it streams in: which part of it is thought, answer, or a tool's call.

The model writes (Google's prompt-formatting page for Gemma 4)::

    <|channel>thought\\n ... <channel|>answer<|tool_call>call:name{...}<tool_call|>

Each marker is one token, and only the token counts: text that spells a marker stays text. Nothing
that the model says is lost, however it misplaces its markers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gemma_local.models.call_source import QUOTE
from gemma_local.models.message import Opening, Tool
from gemma_local.models.reply_record import (
    AnswerText,
    CallEnd,
    CallText,
    Part,
    ThoughtText,
)
from gemma_local.models.split_reply import SplitReply
from gemma_local.models.tool_call import read_calls

__all__ = ["AnswerText", "CallEnd", "CallText", "Part", "Reply", "ThoughtText"]

_THOUGHT: Final = "<|channel>"
_END_THOUGHT: Final = "<channel|>"
_CALL: Final = "<|tool_call>"
_END_CALL: Final = "<tool_call|>"

_CHANNEL_NAME: Final = re.compile(r" {0,8}[a-z_]{1,24} {0,8}\n")
_MAY_BE_NAME: Final = re.compile(r" {0,8}[a-z_]{0,24} {0,8}")
_ONLY_NAME: Final = re.compile(r" {0,8}thought {0,8}")
_LIKE_A_CALL: Final = re.compile(r"\s*(?:call\s*:|:?\s*[A-Za-z_][\w.:-]*\s*[({])")


class Reply(SplitReply):
    """A reply of Gemma 4."""

    def __init__(
        self, markers: Mapping[str, int], tools: Sequence[Tool] = (), *, opening: Opening = ""
    ) -> None:
        """``markers`` are the vocabulary's control tokens with their ids: one that it lacks never
        comes. ``opening`` is what the prompt wrote at the start of the model's turn."""
        super().__init__(tools, opening)
        self._names = {token: text for text, token in markers.items()}
        self._start = 0
        self._name: str | None = None
        self._begins = True
        self._call = _OpenCall()
        if opening == "thought":
            self._place = "thought"

    def feed(self, token: int, piece: str) -> list[Part]:
        """Take the next token and ``piece``, what became printable with it.

        The piece of a marker is its own text or nothing, behind text that was still open.
        """
        marker = self._names.get(token)
        if marker is None:
            self._tokens.append(token)
            return self._text(piece)
        parts = self._text(piece.removesuffix(marker))
        self._tokens.append(token)
        return parts + self._marker(marker)

    def finish(self, rest: str = "", *, truncated: bool = False) -> list[Part]:
        parts = self._text(rest)
        if self._place == "call":
            parts += self._end_call(ended=False, truncated=truncated)
        elif self._place == "thought":
            parts += self._end_thought(len(self._tokens))
        return parts + self._record.finish(truncated=truncated)

    def _open_thought(self) -> tuple[int, int] | None:
        is_open = self._place == "thought" and len(self._tokens) > self._start
        return (self._start, len(self._tokens)) if is_open else None

    def _text(self, text: str) -> list[Part]:
        if not text:
            return []
        if self._place == "answer":
            return self._record.say(text)
        if self._place == "call":
            return self._call.add(text)
        if self._name is not None:
            self._name += text
            if _MAY_BE_NAME.fullmatch(self._name):
                return []
            text, self._name = _without_name(self._name), None
        return self._think(text)

    def _think(self, text: str) -> list[Part]:
        parts = self._record.think(text, begins=self._begins)
        self._begins = self._begins and not parts
        return parts

    def _marker(self, marker: str) -> list[Part]:
        if self._place == "call":
            return self._marker_in_call(marker)
        if marker == _THOUGHT:
            return self._begin_thought()
        if marker == _END_THOUGHT and self._place == "thought":
            return self._end_thought(len(self._tokens))
        if marker == _CALL:
            # A thought that is still open was forgotten.
            parts = self._end_thought(len(self._tokens) - 1) if self._place == "thought" else []
            parts += self._record.interrupt()
            self._place = "call"
            self._call = _OpenCall()
            return parts
        return []

    # --------------------------------------------------------------------------------- thoughts

    def _begin_thought(self) -> list[Part]:
        if self._place == "thought":
            parts = self._flush_name()
        else:
            parts = self._record.interrupt()
            self._place = "thought"
            self._start = len(self._tokens) - 1
        self._name, self._begins = "", True
        return parts

    def _end_thought(self, end: int) -> list[Part]:
        parts = self._flush_name()
        if end > self._start:
            self._thoughts.append((self._start, end))
        self._place = "answer"
        self._begins = True
        return parts

    def _flush_name(self) -> list[Part]:
        name, self._name = self._name, None
        return self._think(_without_name(name)) if name else []

    # ------------------------------------------------------------------------------------ calls

    def _marker_in_call(self, marker: str) -> list[Part]:
        call = self._call
        if marker == _END_CALL:
            return self._end_call(ended=True)
        if call.aside is not None:
            if marker == _END_THOUGHT:
                return self._thought_in_call(len(self._tokens))
            if marker == QUOTE:
                # Thoughts hold no quote tokens: this is the call itself.
                return call.take_aside_back() + call.quote()
            if marker != _CALL:
                return []
        if marker == QUOTE:
            return call.quote()
        if call.is_in_string:
            return call.add(marker)
        if marker == _THOUGHT:
            call.aside = []
            self._start = len(self._tokens) - 1
        elif marker == _END_THOUGHT:
            call.repair("thought markers in the call")
        elif marker == _CALL:
            parts = self._settle_aside(len(self._tokens) - 1)
            if _LIKE_A_CALL.match(call.text):
                call.repair("missing end marker")
                parts += self._end_call(ended=True)
                self._place = "call"
                self._call = _OpenCall()
            else:
                call.begin_again()
            return parts
        return []

    def _settle_aside(self, end: int) -> list[Part]:
        """An unclosed thought in a call was the call itself if there is nothing else."""
        if self._call.aside is None:
            return []
        if self._call.text.strip():
            return self._thought_in_call(end)
        return self._call.take_aside_back()

    def _thought_in_call(self, end: int) -> list[Part]:
        text = _without_name("".join(self._call.aside or ()))
        self._call.aside = None
        self._call.repair("thought in the call")
        self._thoughts.append((self._start, end))
        return self._record.think(text, begins=True)

    def _end_call(self, *, ended: bool, truncated: bool = False) -> list[Part]:
        call = self._call
        parts = self._settle_aside(len(self._tokens) - ended)
        self._place = "answer"
        if not call.raw.strip():
            return parts
        if not ended and not truncated:
            call.repair("missing end marker")
        calls = read_calls(
            call.segments if call.text.strip() else [call.before],
            self._tools,
            ended=ended,
            truncated=truncated,
            repairs=call.repairs,
        )
        calls = (replace(calls[0], raw=call.before + calls[0].raw), *calls[1:])
        return parts + self._record.call(calls)


class _OpenCall:
    """The text of a call that is being written, cut at the quote tokens.

    ``aside`` is the text behind a thought's marker in it, until it is clear what that is;
    ``before`` is text between a doubled marker and the next.
    """

    def __init__(self) -> None:
        self._segments: list[list[str]] = [[]]
        self.aside: list[str] | None = None
        self.before = ""
        self.repairs: list[str] = []

    @property
    def segments(self) -> list[str]:
        return ["".join(texts) for texts in self._segments]

    @property
    def text(self) -> str:
        """All of it but what came before a doubled marker."""
        return QUOTE.join(self.segments)

    @property
    def raw(self) -> str:
        return self.before + self.text

    @property
    def is_in_string(self) -> bool:
        return len(self._segments) % 2 == 0

    def add(self, text: str) -> list[Part]:
        if self.aside is not None:
            self.aside.append(text)
            return []
        self._segments[-1].append(text)
        return [CallText(text)]

    def quote(self) -> list[Part]:
        self._segments.append([])
        return [CallText(QUOTE)]

    def take_aside_back(self) -> list[Part]:
        text = _without_name("".join(self.aside or ()))
        self.aside = None
        self.repair("thought markers in the call")
        return self.add(text) if text else []

    def begin_again(self) -> None:
        """A second marker: what stands before it is no call."""
        self.before = self.raw
        self._segments = [[]]
        self.repair("doubled call marker")

    def repair(self, what: str) -> None:
        if what not in self.repairs:
            self.repairs.append(what)


def _without_name(text: str) -> str:
    """A thought without the first line, if that is the name of its channel."""
    name = _CHANNEL_NAME.match(text)
    if name is not None:
        return text[name.end() :]
    return "" if _ONLY_NAME.fullmatch(text) else text
