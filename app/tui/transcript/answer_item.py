"""What the model said: its thought and its answer, while they come and afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from rich.style import Style

from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.run import Run
from gemma_local.app.tui.lines.shown import shown_line
from gemma_local.app.tui.lines.wrap import wrap
from gemma_local.app.tui.transcript.answer_text import AnswerText
from gemma_local.app.tui.transcript.item import Item, Passage, rows_of
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.thought import Thought
from gemma_local.models.message import Message

ENDINGS: Final[Mapping[str, str]] = {
    "partial": "not finished",
    "stopped": "stopped",
    "cancelled": "stopped",
    "length": "cut off: the limit of tokens is reached",
    "context": "cut off: the context is full",
    "loop": "ended: the model repeats itself",
    "nan": "ended: what the model computes is no longer a number",
    "failed": "broken off",
}
"""How an answer ended, for the reasons and states that are worth a word."""

_ALARMING: Final = frozenset({"length", "context", "loop", "nan", "failed"})


class AnswerItem(Item):
    """A thought, folded to one line unless the look or the person says otherwise, and an answer in
    Markdown. There is nothing to see of it before the first piece comes."""

    def __init__(
        self, *, entry: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(entry=entry)
        self._thought = Thought(clock)
        self._answer = AnswerText()
        self._is_live = True
        self._state = ""
        self._footer = ""
        self._opened: bool | None = None
        self._opens_thoughts = False

    @classmethod
    def of(
        cls,
        message: Message,
        *,
        entry: int | None = None,
        state: str = "",
        footer: str = "",
        tokens: int = 0,
        seconds: float | None = None,
        spans: Iterable[tuple[int, int]] = (),
    ) -> AnswerItem:
        """An answer that was kept. ``state`` and ``footer`` are as in ``finish``, ``tokens`` and
        ``seconds`` those of the thought, ``spans`` what of the text the drafter proposed."""
        item = cls(entry=entry)
        item._thought.keep(message.thought, tokens, seconds)
        at = 0
        for start, end in spans:
            item._answer.feed(message.text[at:start])
            item._answer.feed(message.text[start:end], drafted=True)
            at = end
        item._answer.feed(message.text[at:])
        item.finish(state, footer)
        return item

    # ----------------------------------------------------------------------------------- growing

    @property
    def is_live(self) -> bool:
        """Whether more may come."""
        return self._is_live

    def feed_thought(self, text: str, tokens: int = 1) -> None:
        """More of the thought, which took ``tokens``."""
        self._thought.feed(text, tokens)
        self._change()

    def feed_answer(self, text: str, drafted: bool = False) -> None:
        """More of the answer; ``drafted``: the drafter proposed it and the target accepted."""
        self._thought.end()
        self._answer.feed(text, drafted=drafted)
        self._change()

    def finish(self, state: str = "stop", footer: str = "") -> None:
        """That was all. ``state`` is the reason of the engine's ``Done`` or the state of an entry,
        ``footer`` what was measured."""
        self._thought.end()
        self._answer.finish()
        self._is_live = False
        self._state, self._footer = state, footer
        self._change()

    # ---------------------------------------------------------------------------------------- item

    def forget(self) -> None:
        super().forget()
        self._answer.forget()

    def mark(self, look: Look) -> tuple[str, Style]:
        if self._thought:
            return self._thought.mark(look, is_open=self._is_open)
        return look.glyphs.answer, look.palette.muted

    def toggle(self) -> bool:
        if not self._thought:
            return False
        self._opened = not self._is_open
        self._change()
        return True

    def tick(self) -> bool:
        is_thinking = not self._thought.is_over
        if is_thinking:
            self._change()
        return is_thinking

    def code(self) -> Sequence[str]:
        return [block.text for block in self._answer.code()]

    def plain(self) -> str:
        """The answer; the thought if there is nothing else."""
        return self._answer.text or self._thought.text

    def passages(self) -> Sequence[Passage]:
        thought = Passage(self._thought.text, is_folded=not self._is_open)
        return thought, Passage(self._answer.text)

    def estimate(self, width: int) -> int:
        thought = self._thought.estimate(width, is_open=self._is_open) if self._thought else 0
        answer = rows_of(self._answer.text, width)
        last = bool(self._ending or self._footer)
        return thought + answer + bool(thought and answer) + last + bool(last and answer)

    def _paint(self, width: int, look: Look) -> Sequence[Line]:
        self._opens_thoughts = look.thoughts
        lines: list[Line] = []
        if self._thought:
            lines += self._thought.lines(width, look, is_open=self._is_open)
        answer = self._answer.lines(width, look)
        lines += [EMPTY, *answer] if lines and answer else answer
        return lines + self._last_line(width, look)

    @property
    def _is_open(self) -> bool:
        return self._opens_thoughts if self._opened is None else self._opened

    @property
    def _ending(self) -> str:
        return ENDINGS.get(self._state, "")

    def _last_line(self, width: int, look: Look) -> list[Line]:
        palette, glyphs = look.palette, look.glyphs
        facts: list[Run] = []
        if self._ending:
            is_alarming = self._state in _ALARMING
            facts.append((self._ending, palette.warning if is_alarming else palette.muted))
        if self._footer:
            facts.append((shown_line(self._footer), palette.faint))
        if len(facts) > 1:
            facts.insert(1, (f" {glyphs.dot} ", palette.faint))
        if not facts:
            return []
        lines = wrap(facts, width)
        return [EMPTY, *lines] if self._answer else lines
