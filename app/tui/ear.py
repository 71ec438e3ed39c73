"""What the desk hears of an answer while it is made, told on as news."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gemma_local.app.tui.news import Died, News, Notice, Piece, TaskPiece
from gemma_local.engine.messages import Delta, Event
from gemma_local.models.reply import AnswerText, CallText, Part, ThoughtText


class Ear:
    """The listener of the conversation's answers."""

    def __init__(self, tell: Callable[[News], None]) -> None:
        self._tell = tell

    def event(self, event: Event) -> None:
        self._tell(event)

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        for part, is_drafted in zip(parts, drafted, strict=True):
            match part:
                case ThoughtText(text):
                    self._tell(Piece("thought", text, 1, is_drafted))
                case AnswerText(text):
                    self._tell(Piece("answer", text, 1, is_drafted))
                case CallText(text):
                    self._tell(Piece("call", text, 1, is_drafted))

    def died(self, why: str) -> None:
        self._tell(Died(why))

    def notice(self, sentence: str) -> None:
        self._tell(Notice(sentence))


class TaskEar(Ear):
    """The listener of the answer to a small task."""

    def __init__(self, tell: Callable[[News], None], task: int) -> None:
        super().__init__(tell)
        self._task = task

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        for part, is_drafted in zip(parts, drafted, strict=True):
            if isinstance(part, AnswerText):
                self._tell(TaskPiece(self._task, part.text, is_drafted))
