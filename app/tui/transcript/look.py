"""How the transcript looks: what an item needs to know to paint itself, besides its width."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.palette import Palette


@dataclass(frozen=True, slots=True)
class Look:
    """``tint``: tokens that came from the drafter are coloured. ``thoughts``: they are open unless
    the person closes them. ``most``: columns of text at most, however wide the screen is."""

    palette: Palette
    glyphs: Glyphs
    tint: bool = False
    thoughts: bool = False
    most: int = 100
