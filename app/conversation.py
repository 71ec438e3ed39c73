"""What was said so far, and the prompt that it makes."""

from __future__ import annotations

from gemma_local.app.prompts import PromptWriter
from gemma_local.models.chat_format import Message
from gemma_local.models.prompt import Prompt


class Conversation:
    """Messages in turn, the user's and the model's.

    ``ask`` begins a turn; ``keep`` or ``withdraw`` ends it.
    """

    def __init__(self, writer: PromptWriter, system: str | None = None) -> None:
        self._writer = writer
        self._system = [Message("system", system)] if system else []
        self._messages = list(self._system)
        self._read: Prompt = ()
        self._answer: tuple[int, ...] = ()
        self._asked: Prompt = ()

    def ask(self, text: str) -> Prompt:
        """The prompt for the answer to ``text``. Raises BadModelFile if the template fails."""
        messages = [*self._messages, Message("user", text)]
        if self._read:
            self._asked = self._writer.next(self._read, self._answer, messages)
        else:
            self._asked = self._writer.first(messages)
        self._messages = messages
        return self._asked

    def keep(self, text: str, tokens: tuple[int, ...]) -> None:
        """The turn is over and was answered like this."""
        self._messages.append(Message("assistant", text))
        self._read, self._answer = self._asked, tokens

    def withdraw(self) -> None:
        """Nothing was answered: the question is taken back, lest two stand in a row."""
        self._messages.pop()

    def clear(self) -> None:
        """Start over, with the same instructions."""
        self._messages = list(self._system)
        self._read, self._answer = (), ()
