"""One line above the composer, when there is something to say about keys."""

from __future__ import annotations

from textual.widgets import Static

from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.transcript.transcript import Transcript


class HintLine(Static):
    """Not there while there is nothing to say."""

    DEFAULT_CSS = """
    HintLine { display: none; height: 1; padding: 0 2; color: $text-muted; }
    """

    def __init__(self, glyphs: Glyphs, jump: str, *, id: str | None = None) -> None:  # noqa: A002
        """``jump`` is the key that jumps to the end, as people read it."""
        super().__init__(id=id, markup=False)
        self._glyphs = glyphs
        self._jump = jump
        self._browsing = f" {glyphs.dot} ".join(
            (
                f"{glyphs.up}{glyphs.down} move",
                "Enter open",
                "c copy",
                "C copy code",
                "r rewind",
                "b branch",
                "Esc back",
            )
        )

    def show(self, transcript: Transcript, *, about_to_leave: bool) -> None:
        """Say what fits the moment best."""
        text = ""
        if about_to_leave:
            text = "Ctrl-C again leaves"
        elif transcript.has_focus:
            text = self._browsing
        elif not transcript.at_end:
            unseen = f"{transcript.unseen} new below, " if transcript.unseen else ""
            text = f"{self._glyphs.jump} {unseen}{self._jump} jumps to the end"
        self.update(text)
        self.display = bool(text)
