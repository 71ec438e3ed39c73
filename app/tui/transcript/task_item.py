"""A small task and what came of it, which the model does not read later."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style

from gemma_local.app.counted import counted
from gemma_local.app.quick_tasks import Shown
from gemma_local.app.reply_choices import reply_choices
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.markdown import code_blocks, render_markdown
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines.run import Run
from gemma_local.app.tui.lines.shown import shown
from gemma_local.app.tui.lines.wrap import wrap
from gemma_local.app.tui.transcript.item import Item, rows_of
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.one_line import one_line
from gemma_local.app.words_diff import changes, words_diff


class TaskItem(Item):
    """A line that says what is done, and below it the result: text, changes, or answers to choose
    from. While it comes it is plain text."""

    def __init__(self, label: str, shown_as: Shown, before: str) -> None:
        """``label`` is the task and what it works on; ``before`` the text that it is given."""
        super().__init__()
        self._label = label
        self._shown = shown_as
        self._before = before
        self._text = ""
        self._note = ""
        self._is_live = True

    # ----------------------------------------------------------------------------------- growing

    def feed(self, text: str) -> None:
        """More of the result."""
        self._text += text
        self._change()

    def finish(self, text: str, note: str) -> None:
        """The whole result, "" if there is none; ``note`` says why, or what else is to be said."""
        self._text, self._note, self._is_live = text, note, False
        self._change()

    @property
    def choices(self) -> Sequence[str]:
        """The answers to choose from, if that is what they are."""
        return reply_choices(self._text) if self._shown == "choices" and self._text else ()

    # --------------------------------------------------------------------------------------- item

    def mark(self, look: Look) -> tuple[str, Style]:
        return look.glyphs.notice, look.palette.muted

    def code(self) -> Sequence[str]:
        if self._is_live:
            return ()
        return self.choices or [block.text for block in code_blocks(self._text)]

    def plain(self) -> str:
        return self._text or self._label

    def estimate(self, width: int) -> int:
        return 2 + rows_of(self._text, width)

    def _paint(self, width: int, look: Look) -> Sequence[Line]:
        palette, glyphs = look.palette, look.glyphs
        facts = [self._label]
        if not self._is_live and self._shown == "changes" and self._text:
            count = changes(words_diff(self._before, self._text))
            facts.append(counted(count, "change") if count else "nothing to correct")
        facts += [self._note] if self._note else []
        label = f" {glyphs.dot} ".join(facts)
        lines = [one_line([(label, palette.muted)], width, glyphs.ellipsis)]
        if self._text:
            lines += [EMPTY, *self._result(width, look)]
        return lines

    def _result(self, width: int, look: Look) -> Sequence[Line]:
        palette = look.palette
        if self._is_live:
            return render_plain(self._text, width, palette.text)
        match self._shown:
            case "changes":
                styles = {
                    "same": palette.text,
                    "removed": palette.removed + Style(strike=True),
                    "added": palette.added + Style(underline=True),
                }
                runs = words_diff(self._before, self._text)
                return wrap([(shown(run.text), styles[run.kind]) for run in runs], width)
            case "choices":
                lines: list[Line] = []
                for number, choice in enumerate(self.choices, start=1):
                    first: list[Run] = [(f"{number} ", palette.bullet)]
                    lines += [EMPTY] if lines else []
                    lines += render_plain(
                        choice, width, palette.text, first=first, rest=[("  ", palette.text)]
                    )
                return lines
            case _:
                return render_markdown(self._text, width, palette, look.glyphs)
