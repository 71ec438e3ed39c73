"""What the desk hears of an answer while it is made, told on as news."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gemma_local.app.agent.events import ToolEvent
from gemma_local.app.assistant import Answered
from gemma_local.app.tui.news import Died, News, Notice, Piece, TaskPiece, Told
from gemma_local.engine.messages import Delta, Event
from gemma_local.models.reply import AnswerText, CallText, Part, ThoughtText


class Ear:
    """The listener of the conversation's answers, and of what tools do between them."""

    def __init__(
        self, tell: Callable[[News], None], on_answered: Callable[[Answered], None]
    ) -> None:
        """``on_answered`` hears of each answer of a turn that has ended."""
        self._tell = tell
        self._on_answered = on_answered

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

    def tool(self, event: ToolEvent) -> None:
        self._tell(event)

    def answered(self, answered: Answered) -> None:
        self._on_answered(answered)

    def told(self, texts: Sequence[str]) -> None:
        self._tell(Told(tuple(texts)))


class TaskEar(Ear):
    """The listener of the answer to a small task."""

    def __init__(self, tell: Callable[[News], None], task: int) -> None:
        super().__init__(tell, lambda _: None)
        self._task = task

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        for part, is_drafted in zip(parts, drafted, strict=True):
            if isinstance(part, AnswerText):
                self._tell(TaskPiece(self._task, part.text, is_drafted))
