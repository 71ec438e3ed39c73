"""What replies have in common, whatever model they are from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

from gemma_local.models.message import Opening, Spoken, Tool
from gemma_local.models.reply_record import Part, Record
from gemma_local.models.tool_call import ParsedCall


class SplitReply(ABC):
    """A reply, fed token by token, and split into thought, answer and calls. The parts that come
    out are for showing; joined they are ``thought`` and ``answer``."""

    def __init__(self, tools: Sequence[Tool], opening: Opening) -> None:
        """``opening`` is what the prompt wrote at the start of the model's turn."""
        self._tools = tools
        self._record = Record(tools)
        self._opening = opening
        self._place: Literal["answer", "thought", "call"] = "answer"
        self._tokens: list[int] = []
        self._thoughts: list[tuple[int, int]] = []

    @property
    def thought(self) -> str:
        """All thoughts, without what marks them."""
        return self._record.thought

    @property
    def answer(self) -> str:
        return self._record.answer

    @property
    def calls(self) -> tuple[ParsedCall, ...]:
        """The calls that are complete, those that were rejected included."""
        return self._record.calls

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person should know about this reply: a sentence each."""
        return self._record.notices

    @property
    def spoken(self) -> Spoken:
        """The tokens as they came, and which of them are thoughts."""
        still_open = self._open_thought()
        thoughts = self._thoughts if still_open is None else [*self._thoughts, still_open]
        return Spoken(tuple(self._tokens), tuple(thoughts), self._opening)

    @abstractmethod
    def feed(self, token: int, piece: str) -> list[Part]:
        """Take the next token and ``piece``, what became printable with it."""

    @abstractmethod
    def finish(self, rest: str = "", *, truncated: bool = False) -> list[Part]:
        """The end of the stream: ``rest`` is text that was still open. ``truncated``: a limit or a
        person ended it, not the model."""

    @abstractmethod
    def _open_thought(self) -> tuple[int, int] | None:
        """The tokens of a thought that has not ended, None if there is none."""
