"""Tokens of a conversation's prompt, part by part, counted with the model's own tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gemma_local.app.context_window import ContextUse, Window
from gemma_local.app.conversation import FILES, Conversation
from gemma_local.models.chat_format import Rendering
from gemma_local.models.prompt import Prompt, Text

Count = Callable[[Sequence[Prompt]], Sequence[int]]
"""Tokens of each prompt: ``Engine.count``."""


class ContextCounter:
    """Counts what a conversation takes of the context. What was counted before is remembered."""

    def __init__(self, count: Count, window: Window) -> None:
        self._count = count
        self._window = window
        self._known: dict[Prompt, int] = {}

    def use(self, conversation: Conversation) -> ContextUse:
        """What the next prompt consists of. Raises EngineFailed, BadModelFile."""
        sections = _rendering(conversation).sections
        counts = self._counts([section.prompt for section in sections])
        by_kind = {"system": 0, "tools": 0, "message": 0, "opening": 0}
        for section, count in zip(sections, counts, strict=True):
            by_kind[section.kind] += count
        files = sum(self._counts(_file_texts(conversation)))
        messages = by_kind["message"] + by_kind["opening"]
        # Where a text is cut its tokens may come out a few more.
        files = min(files, messages)
        return ContextUse(
            self._window,
            system=by_kind["system"],
            tools=by_kind["tools"],
            files=files,
            history=messages - files,
        )

    def entries(self, conversation: Conversation) -> dict[int, int]:
        """Tokens of each entry that the model reads, by number.

        Exact where the prompt has a section for each message, as Gemma's has; for other models
        those of the text alone. Raises EngineFailed, BadModelFile.
        """
        view = conversation.view()
        sections = _rendering(conversation).sections
        written = {section.message for section in sections if section.message is not None}
        if len(written) >= len(view.messages):
            prompts = [
                (view.numbers[section.message], section.prompt)
                for section in sections
                if section.message is not None
            ]
        else:
            prompts = [
                (number, (Text(message.text),))
                for number, message in zip(view.numbers, view.messages, strict=True)
            ]
        tokens: dict[int, int] = {}
        counts = self._counts([prompt for _, prompt in prompts])
        for (number, _), count in zip(prompts, counts, strict=True):
            tokens[number] = tokens.get(number, 0) + count
        tokens.pop(0, None)
        return tokens

    def prompt(self, prompt: Prompt) -> int:
        """Tokens of one prompt."""
        return self._counts([prompt])[0]

    def _counts(self, prompts: Sequence[Prompt]) -> list[int]:
        new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in self._known]
        counted = self._count(new) if new else ()
        self._known.update(zip(new, counted, strict=True))
        return [self._known[prompt] for prompt in prompts]


def _rendering(conversation: Conversation) -> Rendering:
    if conversation.awaits_answer:
        return conversation.rendering()
    return conversation.history()


def _file_texts(conversation: Conversation) -> list[Prompt]:
    return [
        (Text(entry.message.text[start:end]),)
        for entry in conversation.live
        for start, end in entry.info.get(FILES, ())
    ]
