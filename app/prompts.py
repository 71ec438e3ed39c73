"""From a conversation to the prompt that a particular model reads.

A writer keeps no state that matters: the same messages give the same prompt. Prompts grow: the
next one begins with all that was read and said for this one, token for token, so that none of it
has to be computed again. Writing an answer down as text and tokenising that would often give other
tokens than the model chose, so answers are written as the tokens themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from gemma_local.models import chat_format
from gemma_local.models.chat_format import Rendering, Section
from gemma_local.models.errors import BadModelFile
from gemma_local.models.message import Message, Opening, Tool
from gemma_local.models.prompt import Ids, Piece, Text
from gemma_local.models.target import TargetFacts
from gemma_local.models.untrusted_text import marked

if TYPE_CHECKING:
    from gemma_local.models.guest_template import GuestTemplate


class PromptWriter(Protocol):
    """Writes prompts for one model. Both methods may raise BadModelFile.

    Messages may hold calls and results although ``supports_tools`` is off, from an earlier model;
    ``tools`` must then be empty.
    """

    @property
    def supports_tools(self) -> bool:
        """Whether the model can be offered tools."""

    @property
    def supports_thinking(self) -> bool:
        """Whether ``thinking`` makes a difference."""

    def write(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
    ) -> Rendering:
        """The prompt for an answer to the last message, the user's or a tool's."""

    def history(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
    ) -> Rendering:
        """What the prompt will begin with when the user writes again; empty if that is unknown."""


def prompt_writer(target: TargetFacts, *, raw: bool = False) -> PromptWriter:
    """The writer for a model; ``raw``: no template, every message is a text to be continued.

    Raises:
        BadModelFile: the model has no template and ``raw`` is off.
    """
    if raw:
        return RawWriter()
    if target.is_gemma4:
        # The small sizes, those with per-layer embeddings, must not be primed with a thought.
        return GemmaWriter(primes_empty_thought=not target.has_per_layer_embeddings)

    from gemma_local.models.guest_template import read_guest_template

    return GuestWriter(read_guest_template(target.path))


class GemmaWriter:
    """Gemma 4's format, written by us."""

    supports_tools: Final = True
    supports_thinking: Final = True

    def __init__(self, *, primes_empty_thought: bool) -> None:
        self._primes_empty_thought = primes_empty_thought

    def write(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
    ) -> Rendering:
        return chat_format.render(
            messages,
            tools=tools,
            thinking=thinking,
            primes_empty_thought=self._primes_empty_thought,
        )

    def history(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
    ) -> Rendering:
        return chat_format.render_history(messages, tools=tools, thinking=thinking)


@dataclass(frozen=True, slots=True)
class _Answer:
    """Where a past answer stands in a rendered text, and the tokens that it was."""

    start: int
    end: int
    ids: Ids
    message: int


@dataclass(frozen=True, slots=True)
class _Written:
    """A prompt as the template writes it, and the answers found in it."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    thinking: bool
    text: str
    answers: tuple[_Answer, ...]


class GuestWriter:
    """Another model's format, written by the template in its file.

    A past answer is written as its tokens where the text of the prompt that it answered is
    followed by its own text; else, as the template has it.
    """

    def __init__(self, template: GuestTemplate) -> None:
        self._template = template
        # The last prompt: the next one mostly begins with it, and is then rendered just once.
        self._last: _Written | None = None

    @property
    def supports_tools(self) -> bool:
        return self._template.supports_tools

    @property
    def supports_thinking(self) -> bool:
        return self._template.supports_thinking

    def write(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
    ) -> Rendering:
        written = self._written(tuple(messages), tuple(tools), thinking)
        self._last = written
        sections = self._sections(written, len(written.text), len(messages) - 1)
        return Rendering(sections, _opening(written.text))

    def history(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
    ) -> Rendering:
        more = (*messages, Message("user", _PROBE))
        try:
            written = self._written(more, tuple(tools), thinking)
        except BadModelFile:
            return Rendering(())
        # Up to a special token, which no text behind it can change.
        end = self._template.specials.last_end(written.text.rpartition(_PROBE)[0])
        return Rendering(self._sections(written, end, len(messages) - 1))

    def _written(
        self, messages: tuple[Message, ...], tools: tuple[Tool, ...], thinking: bool
    ) -> _Written:
        """Render the prompt of each past answer that is not known yet, then this one's."""
        written = self._known(messages, tools, thinking)
        first = len(written.messages) if written else 0
        # Calls and thoughts are written in the template's words: only plain answers are looked for.
        for end in range(first + 1, len(messages)):
            if _is_plain_answer(messages[end]) and messages[end - 1].role in ("user", "tool"):
                # It may be refused here where the whole conversation is not, after a compaction.
                with suppress(BadModelFile):
                    written = self._render(messages, end, tools, thinking, written)
        if written is None or len(written.messages) < len(messages):
            written = self._render(messages, len(messages), tools, thinking, written)
        return written

    def _render(
        self,
        messages: tuple[Message, ...],
        end: int,
        tools: tuple[Tool, ...],
        thinking: bool,
        before: _Written | None,
    ) -> _Written:
        """The prompt of ``messages`` up to the index ``end``; ``before`` is that of fewer."""
        text = self._template.render(messages[:end], tools=tools, thinking=thinking)
        answers = self._answers(before, text, messages) if before else ()
        return _Written(messages[:end], tools, thinking, text, answers)

    def _known(
        self, messages: tuple[Message, ...], tools: tuple[Tool, ...], thinking: bool
    ) -> _Written | None:
        """The last prompt, if these messages go on from it."""
        last = self._last
        if last is None or (last.tools, last.thinking) != (tools, thinking):
            return None
        return last if messages[: len(last.messages)] == last.messages else None

    def _answers(
        self, before: _Written, text: str, messages: tuple[Message, ...]
    ) -> tuple[_Answer, ...]:
        """The answers known in the prompt before that stand in ``text`` as well, and its own."""
        shared = _shared(before.text, text)
        kept = tuple(answer for answer in before.answers if answer.end <= shared)
        start, index = len(before.text), len(before.messages)
        answer = messages[index]
        if shared < start or not _is_plain_answer(answer):
            return kept
        for text_said in (answer.text, answer.text.strip()):
            said = marked(text_said, self._template.specials)
            if said and text.startswith(said, start):
                ids = Ids(answer.spoken.tokens if answer.spoken else ())
                return (*kept, _Answer(start, start + len(said), ids, index))
        return kept

    def _sections(self, written: _Written, end: int, last: int) -> tuple[Section, ...]:
        """What the template writes between answers, in one section with the messages there, and
        each answer in one of its own; up to the index ``end`` of the text."""
        sections: list[Section] = []
        at = 0
        for answer in written.answers:
            if answer.end > end:
                break
            between = self._template.pieces(written.text[at : answer.start])
            sections.append(Section("message", between, answer.message - 1))
            sections.append(Section("message", (answer.ids,), answer.message))
            at = answer.end
        if rest := self._template.pieces(written.text[at:end]):
            sections.append(Section("message", rest, last if last >= 0 else None))
        return tuple(sections)


class RawWriter:
    """No format at all; the engine puts a BOS in front if the model wants one.

    A system message has no place in a text that is continued, and is left out.
    """

    supports_tools: Final = False
    supports_thinking: Final = False

    def write(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
    ) -> Rendering:
        return self.history(messages)

    def history(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
    ) -> Rendering:
        return Rendering(
            tuple(
                Section("message", (_as_it_stands(message),), index)
                for index, message in enumerate(messages)
                if message.role != "system"
            )
        )


_PROBE: Final = "\ufdd1"
"""A user's message that is like no other, to see where one is written."""


def _as_it_stands(message: Message) -> Piece:
    if message.role == "assistant" and message.spoken is not None:
        return Ids(message.spoken.tokens)
    return Text(message.text)


def _is_plain_answer(message: Message) -> bool:
    spoken = message.spoken
    is_plain = spoken is not None and not spoken.thoughts and not spoken.opening
    return message.role == "assistant" and is_plain and not message.calls and not message.thought


def _shared(one: str, other: str) -> int:
    """Length of the longest common beginning."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _opening(text: str) -> Opening:
    """What the end of a prompt in a ``<think>`` format wrote of the model's turn."""
    end = text.rstrip()
    if end.endswith("<think>"):
        return "thought"
    return "empty_thought" if end.endswith("</think>") else ""
