"""What a reply consists of so far, and what a person is told at its end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gemma_local.models.message import Tool
from gemma_local.models.tool_call import ParsedCall, whole_answer_call

NOT_UNDERSTOOD: Final = (
    "The model tried to use a tool but did not say which; what it wrote is shown as its answer."
)
NO_TOOLS: Final = (
    "The model tried to use a tool but has none here; what it wrote is shown as its answer."
)
ONLY_THOUGHT: Final = "The model stopped after its thought and gave no answer; ask it to go on."
CUT_OFF_IN_THOUGHT: Final = (
    "The model was cut off in its thought, before it answered; give it more tokens or ask for less."
)
NOTHING_SAID: Final = "The model ended its turn without a word; ask again."

_JSON_STARTS: Final = tuple(
    f'{{"{key}":'
    for key in ("name", "tool", "tool_name", "function", "type", "arguments", "parameters")
)
_FIRST_VALUE: Final = re.compile(r'\{\s*"(name|tool|tool_name|type)"\s*:\s*"([^"]*)("?)')
_FENCE: Final = re.compile(r"```[A-Za-z_]*")
_HEAD: Final = 200


@dataclass(frozen=True, slots=True)
class ThoughtText:
    """More of the thought."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerText:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class CallText:
    """More of a call, raw, to show that something goes on."""

    text: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    """A call that is complete."""

    call: ParsedCall


Part: TypeAlias = ThoughtText | AnswerText | CallText | CallEnd


class Record:
    """Collects a reply. An answer that may turn out to be a call in bare JSON is held back until
    that is decided, so that nobody sees it as text first."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._thought: list[str] = []
        self._break = False
        self._answer: list[str] = []
        self._calls: list[ParsedCall] = []
        self._notices: list[str] = []
        self._held: list[str] = []
        self._held_head = ""
        self._holds = bool(tools)

    @property
    def thought(self) -> str:
        return "".join(self._thought)

    @property
    def answer(self) -> str:
        return "".join(self._answer)

    @property
    def calls(self) -> tuple[ParsedCall, ...]:
        return tuple(self._calls)

    @property
    def notices(self) -> tuple[str, ...]:
        return tuple(self._notices)

    def think(self, text: str, *, begins: bool = False) -> list[Part]:
        """More of a thought; one that ``begins`` behind another gets a line of its own.

        The line break in front of a thought's end marker belongs to the marker, so one is held
        back until something follows it.
        """
        if not text:
            return []
        breaks = "\n" if self._break or (begins and self._thought) else ""
        text = breaks + text
        self._break = text.endswith("\n")
        text = text.removesuffix("\n")
        if not text:
            return []
        self._thought.append(text)
        return [ThoughtText(text)]

    def say(self, text: str) -> list[Part]:
        """More of the answer."""
        if not text:
            return []
        if not self._holds:
            return self._show(text)
        self._held.append(text)
        if len(self._held_head) < _HEAD:
            self._held_head = (self._held_head + text)[:_HEAD]
            if not _may_be_call(self._held_head, self._tools):
                self._holds = False
                return self._release()
        return []

    def interrupt(self) -> list[Part]:
        """A marker came: what is held is not the whole answer."""
        if self._held_head.strip():
            self._holds = False
        return self._release()

    def call(self, calls: Iterable[ParsedCall]) -> list[Part]:
        """Calls that are complete."""
        new = list(calls)
        self._calls += new
        self._holds = False
        return [CallEnd(call) for call in new]

    def finish(self, *, truncated: bool) -> list[Part]:
        """The end of the reply; ``truncated``: something other than the model ended it."""
        parts = self._finish_held()
        if not self._tools and any(call.name for call in self._calls):
            self._notices.append(NO_TOOLS)
        if self.answer.strip() or any(call.name for call in self._calls):
            return parts
        unread = "\n".join(call.raw for call in self._calls)
        if unread.strip():
            self._notices.append(NOT_UNDERSTOOD)
            return [*parts, *self._show(unread)]
        if self._thought:
            self._notices.append(CUT_OFF_IN_THOUGHT if truncated else ONLY_THOUGHT)
        elif not truncated:
            self._notices.append(NOTHING_SAID)
        return parts

    def _finish_held(self) -> list[Part]:
        call = whole_answer_call("".join(self._held), self._tools) if self._held else None
        if call is None:
            return self._release()
        self._held.clear()
        return self.call([call])

    def _release(self) -> list[Part]:
        text = "".join(self._held)
        self._held.clear()
        self._held_head = ""
        return self._show(text)

    def _show(self, text: str) -> list[Part]:
        if not text:
            return []
        self._answer.append(text)
        return [AnswerText(text)]


def _may_be_call(head: str, tools: Sequence[Tool]) -> bool:
    """Whether an answer that begins like this can be a call in JSON, fenced or not: most JSON,
    such as a package.json with its name, is none."""
    text = head.lstrip()
    if text.startswith("`") or not text:
        fence = _FENCE.match(text)
        if fence is None:
            return "```".startswith(text) and len(head) < _HEAD
        text = text[fence.end() :].lstrip()
    first = _FIRST_VALUE.match(text)
    if first is not None:
        key, value, end = first.groups()
        names = ["function"] if key == "type" else [tool.name for tool in tools]
        return value in names if end else any(name.startswith(value) for name in names)
    compact = "".join(text.split())
    if any(compact.startswith(start) for start in _JSON_STARTS):
        return True
    return len(head) < _HEAD and any(start.startswith(compact) for start in _JSON_STARTS)
