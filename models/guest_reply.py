"""A reply of another model as it streams in: its thought, answer and calls, found by their tags.

Guests have no marker tokens in common, so tags are found in the text: ``<think>...</think>`` in
front of the answer, and ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>`` in it (the
Hermes form, which Qwen and many others were trained with).
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from typing import Final

from gemma_local.models.message import Opening, Tool
from gemma_local.models.reply import Reply
from gemma_local.models.reply_record import CallText, Part
from gemma_local.models.split_reply import SplitReply
from gemma_local.models.tool_call import read_calls

_THINK: Final = "<think>"
_END_THINK: Final = "</think>"
_CALL: Final = "<tool_call>"
_END_CALL: Final = "</tool_call>"


class GuestReply(SplitReply):
    """A reply of a model that is not Gemma 4."""

    def __init__(
        self, markers: Mapping[str, int], tools: Sequence[Tool] = (), *, opening: Opening = ""
    ) -> None:
        """As for ``Reply``; a guest's ``markers`` mean nothing, its text does."""
        super().__init__(tools, opening)
        self._held = ""
        self._call: list[str] = []
        self._ends: list[int] = []
        self._read = 0
        self._thought_at: int | None = None
        self._begins = self._is_behind_tag = True
        self._has_answered = False
        self._has_thought = opening == "empty_thought"
        if opening == "thought":
            self._place = "thought"
            self._thought_at = 0
            self._has_thought = True

    def feed(self, token: int, piece: str) -> list[Part]:
        self._tokens.append(token)
        self._ends.append((self._ends[-1] if self._ends else 0) + len(piece))
        return self._take(piece)

    def finish(self, rest: str = "", *, truncated: bool = False) -> list[Part]:
        parts = self._take(rest)
        held, self._held = self._held, ""
        parts += self._text(held)
        if self._place == "call":
            parts += self._end_call(ended=False, truncated=truncated)
        elif self._thought_at is not None:
            self._end_thought(self._read)
        return parts + self._record.finish(truncated=truncated)

    def _open_thought(self) -> tuple[int, int] | None:
        # A token that a tag shares with other text belongs to the thought.
        if self._thought_at is None or not self._tokens:
            return None
        return self._token_at(self._thought_at), len(self._tokens)

    def _take(self, piece: str) -> list[Part]:
        text = self._held + piece
        parts: list[Part] = []
        while True:
            found = [(at, tag) for tag in self._tags if (at := text.find(tag)) >= 0]
            if not found:
                break
            at, tag = min(found)
            blank = not text[:at].strip()
            parts += self._text(text[:at])
            if tag == _THINK and (self._has_answered or not blank):
                # Behind the beginning of an answer it is text about thinking.
                parts += self._text(tag)
            else:
                parts += self._tag(tag)
            text = text[at + len(tag) :]
        keep = max(_overlap(text, tag) for tag in self._tags)
        self._held = text[len(text) - keep :]
        return parts + self._text(text[: len(text) - keep])

    @property
    def _tags(self) -> tuple[str, ...]:
        """The tags that mean something here."""
        if self._place == "thought":
            return (_END_THINK,)
        if self._place == "call":
            return (_END_CALL,)
        if self._has_answered:
            return (_CALL,) if self._has_thought else (_CALL, _END_THINK)
        return (_THINK, _CALL) if self._has_thought else (_THINK, _CALL, _END_THINK)

    def _text(self, text: str) -> list[Part]:
        self._read += len(text)
        if not text:
            return []
        if self._place == "thought":
            # A line break right behind the tag belongs to the tag.
            text = text.removeprefix("\n") if self._is_behind_tag else text
            self._is_behind_tag = False
            if not text:
                return []
            begins, self._begins = self._begins, False
            return self._record.think(text, begins=begins)
        if self._place == "call":
            self._call.append(text)
            return [CallText(text)]
        self._has_answered = self._has_answered or bool(text.strip())
        return self._record.say(text)

    def _tag(self, tag: str) -> list[Part]:
        start = self._read
        self._read += len(tag)
        if tag == _END_CALL:
            return self._end_call(ended=True)
        if tag == _END_THINK:
            # Without a beginning: the template wrote that, or the model forgot it.
            self._has_thought = True
            if self._place == "thought":
                self._end_thought(self._read)
            return []
        parts = self._record.interrupt()
        if tag == _THINK:
            self._place, self._thought_at, self._has_thought = "thought", start, True
            self._begins = self._is_behind_tag = True
        else:
            self._place, self._call = "call", []
            self._has_answered = True
        return parts

    def _end_thought(self, end: int) -> None:
        assert self._thought_at is not None
        first = self._token_at(self._thought_at)
        last = bisect.bisect_left(self._ends, end) + 1
        if end > self._thought_at:
            self._thoughts.append((first, min(last, len(self._tokens))))
        self._thought_at = None
        self._place = "answer"

    def _end_call(self, *, ended: bool, truncated: bool = False) -> list[Part]:
        raw = "".join(self._call)
        self._place = "answer"
        if not raw.strip():
            return []
        repairs = [] if ended or truncated else ["missing end tag"]
        return self._record.call(
            read_calls(
                [raw], self._tools, ended=ended, truncated=truncated, as_json=True, repairs=repairs
            )
        )

    def _token_at(self, offset: int) -> int:
        """The token that printed the character at ``offset``."""
        return bisect.bisect_right(self._ends, offset)


def reply_for(
    is_gemma4: bool,
    markers: Mapping[str, int],
    tools: Sequence[Tool] = (),
    opening: Opening = "",
) -> SplitReply:
    """What splits a model's replies."""
    kind = Reply if is_gemma4 else GuestReply
    return kind(markers, tools, opening=opening)


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that ``tag`` begins with, shorter than ``tag``."""
    longest = min(len(text), len(tag) - 1)
    return next((n for n in range(longest, 0, -1) if tag.startswith(text[-n:])), 0)
