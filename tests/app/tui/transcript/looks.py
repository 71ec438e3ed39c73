"""How things look in tests."""

from __future__ import annotations

from dataclasses import replace

from gemma_local.app.tui.glyphs import UNICODE
from gemma_local.app.tui.palette import Palette
from gemma_local.app.tui.themes import DARK
from gemma_local.app.tui.transcript.look import Look

LOOK = Look(Palette.of(DARK.to_color_system().generate(), dark=True, ansi=False), UNICODE)
OPEN = replace(LOOK, thoughts=True)
TINTED = replace(LOOK, tint=True)
