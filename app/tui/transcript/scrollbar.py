"""A scrollbar that is painted when it looks different, and not whenever something is added."""

from __future__ import annotations

from math import ceil
from typing import Self

from textual.geometry import Region
from textual.scrollbar import ScrollBar, ScrollBarRender


class CalmScrollBar(ScrollBar):
    """Textual paints a scrollbar anew with each line that is added to what it scrolls, though in a
    long conversation its thumb moves by an eighth of a cell once in a while. That was a quarter of
    what it costs to show an answer that streams in."""

    _seen: object = None

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        if repaint and not layout and not recompose and self.is_attached:
            looks = self._looks()
            if looks == self._seen:
                return self
            self._seen = looks
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def _looks(self) -> object:
        """All that can be seen of it: its size and colours, and where its thumb begins and ends."""
        bar, size = self.render(), self.size
        assert isinstance(bar, ScrollBarRender)
        if not bar.window_size or not size.height:
            return size, bar.style
        # In parts of a cell, as Textual divides it.
        parts = len(bar.VERTICAL_BARS)
        thumb = max(1, bar.window_size * size.height / bar.virtual_size)
        way = bar.position / (bar.virtual_size - bar.window_size)
        start = int((size.height - thumb) * way * parts)
        return size, bar.style, start, start + ceil(thumb * parts)
