"""The colours that programs ask for, as the theme has them.

A program knows sixteen colours by number and believes that the background is black. Their usual
values are garish on most themes, and some cannot be read: blue on black, yellow on white. So the
sixteen become the theme's own, and whatever else is asked for is moved until it can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rich.color import Color, ColorType
from rich.style import Style

from gemma_local.app.tui.lines.theme_colours import Rgb, ThemeColours, mix, readable, rgb

_HUES: Final = ("error", "success", "warning", "primary", "secondary", "accent")
"""Red, green, yellow, blue, magenta, cyan."""
_BRIGHT: Final = 0.4
"""How far towards the text's colour the bright ones are."""
_GROUND: Final = 0.34
"""How much of a colour a background is."""


@dataclass(frozen=True, slots=True)
class ProgramColours:
    """What a theme makes of them: ``text`` on ``ground``, and black to white, then the bright
    ones."""

    ground: Rgb
    text: Rgb
    sixteen: tuple[Rgb, ...]

    @classmethod
    def of(cls, theme: ThemeColours) -> ProgramColours:
        """Those of a theme. Black and white are shades of its text, whether it is dark or not."""
        ground = rgb(theme.blend("background", 1.0))
        text = rgb(theme.text("foreground"))
        hues = [rgb(theme.text(name)) for name in _HUES]
        bright = [readable(mix(hue, text, _BRIGHT), ground) for hue in hues]
        black, grey, white = (
            rgb(theme.text("foreground", strength=strength, contrast=enough))
            for strength, enough in ((0.45, 4.0), (0.66, 4.5), (0.85, 4.5))
        )
        return cls(ground, text, (black, *hues, white, grey, *bright, text))


@lru_cache(maxsize=1024)
def themed(style: Style, colours: ProgramColours) -> Style:
    """``style`` as a program asked for it, in colours of the theme; without those that it leaves
    as they are."""
    ground, ink = _asked(style.bgcolor), _asked(style.color)
    behind = colours.ground if ground is None else _behind(ground, colours)
    plain = style.without_color
    if ink is None and ground is None:
        return plain
    front = colours.text if ink is None else _named(ink, colours)
    painted = Color.from_rgb(*readable(front, behind))
    return plain + Style(color=painted, bgcolor=None if ground is None else Color.from_rgb(*behind))


def _asked(colour: Color | None) -> Color | None:
    """The colour, None if it is the terminal's own."""
    return None if colour is None or colour.is_default else colour


def _named(colour: Color, colours: ProgramColours) -> Rgb:
    number = colour.number
    if colour.type is not ColorType.TRUECOLOR and number is not None and number < 16:
        return colours.sixteen[number]
    return rgb(colour)


def _behind(colour: Color, colours: ProgramColours) -> Rgb:
    """A background: of the sixteen a trace of it, else what was asked for."""
    named = _named(colour, colours)
    number = colour.number
    if colour.type is ColorType.TRUECOLOR or number is None or number >= 16:
        return named
    return mix(colours.ground, named, _GROUND)
