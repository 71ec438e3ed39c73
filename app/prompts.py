"""From a conversation to the prompt that a particular model reads.

A prompt only ever grows: the next turn's begins with all that was read and answered in this one,
token for token, so that none of it has to be computed again. Writing an answer down as text and
tokenising that would often give other tokens than the model chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from gemma_local.models import chat_format
from gemma_local.models.chat_format import Message
from gemma_local.models.prompt import Control, Ids, Markup, Prompt, Text
from gemma_local.models.target import TargetFacts

if TYPE_CHECKING:
    from gemma_local.models.guest_template import GuestTemplate

Tokens = tuple[int, ...]


class PromptWriter(Protocol):
    """Writes prompts for one model. Both methods may raise BadModelFile."""

    def first(self, messages: Sequence[Message]) -> Prompt:
        """The prompt for an answer to the last message, the user's."""

    def next(self, previous: Prompt, answer: Tokens, messages: Sequence[Message]) -> Prompt:
        """The same, when ``previous`` was answered with the tokens ``answer``.

        ``messages`` is the whole conversation; its last two are that answer and what the user says
        to it.
        """


def prompt_writer(target: TargetFacts, *, raw: bool = False) -> PromptWriter:
    """The writer for a model; ``raw``: no template, every message is a text to be continued.

    Raises:
        BadModelFile: the model has no template and ``raw`` is off.
    """
    if raw:
        return RawWriter()
    if target.is_gemma4:
        # The small sizes, those with per-layer embeddings, must not be primed with a thought.
        return GemmaWriter(empty_thought=not target.has_per_layer_embeddings)

    from gemma_local.models.guest_template import read_guest_template

    return GuestWriter(read_guest_template(target.path))


class GemmaWriter:
    """Gemma 4's format, written by us."""

    def __init__(self, *, empty_thought: bool) -> None:
        self._empty_thought = empty_thought

    def first(self, messages: Sequence[Message]) -> Prompt:
        return chat_format.render(messages, empty_thought=self._empty_thought)

    def next(self, previous: Prompt, answer: Tokens, messages: Sequence[Message]) -> Prompt:
        _bos, *turn = self.first(messages[-1:])
        return (*previous, Ids(answer), Control("<turn|>"), Text("\n"), *turn)


class GuestWriter:
    """Another model's format, written by the template in its file."""

    def __init__(self, template: GuestTemplate) -> None:
        self._template = template

    def first(self, messages: Sequence[Message]) -> Prompt:
        return (Markup(self._template.render(messages)),)

    def next(self, previous: Prompt, answer: Tokens, messages: Sequence[Message]) -> Prompt:
        text = self._template.render(messages)
        read = self._template.render(messages[:-2]) + messages[-2].text
        if not text.startswith(read):
            # The template writes answers in the past differently: it has to be read anew.
            return (Markup(text),)
        return (*previous, Ids(answer), Markup(text[len(read) :]))


class RawWriter:
    """No format at all; the engine puts a BOS in front if the model wants one."""

    def first(self, messages: Sequence[Message]) -> Prompt:
        return (Text(messages[-1].text),)

    def next(self, previous: Prompt, answer: Tokens, messages: Sequence[Message]) -> Prompt:
        return (*previous, Ids(answer), Text(messages[-1].text))
