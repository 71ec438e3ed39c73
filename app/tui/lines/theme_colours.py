"""The colours of a theme as numbers: mixed, and made readable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.color import Color, ColorParseError

ENOUGH: Final = 4.5
"""The contrast that WCAG 2 asks of text (AA)."""

_DARK: Final = {"foreground": "#e0e0e0", "background": "#121212", "primary": "#57a5e2"}
_LIGHT: Final = {"foreground": "#1f1f1f", "background": "#f5f5f5", "primary": "#004578"}

_NAMES: Final = (
    *("foreground", "primary", "secondary", "accent"),
    *("success", "warning", "error", "surface"),
)

Rgb = tuple[int, int, int]


class ThemeColours:
    """A theme's CSS variables, of which those that are missing or no colours have a stand-in."""

    def __init__(self, variables: Mapping[str, str], *, dark: bool) -> None:
        stand_in = _DARK if dark else _LIGHT
        self._background = _rgb(variables.get("background", "")) or _sure(stand_in["background"])
        self._colours: dict[str, Rgb] = {}
        for name in _NAMES:
            default = (
                self._background
                if name == "surface"
                else _sure(stand_in.get(name, stand_in["primary"]))
            )
            self._colours[name] = _rgb(variables.get(name, "")) or default
        self._colours["background"] = self._background

    def is_apart(self, name: str) -> bool:
        """Whether the colour can be told from the background."""
        return contrast(self._colours[name], self._background) > 1.03

    def blend(self, name: str, strength: float) -> Color:
        """The colour, as far as ``strength`` goes, on the background."""
        return Color.from_rgb(*mix(self._background, self._colours[name], strength))

    def text(
        self,
        name: str,
        *,
        strength: float = 1.0,
        on: Color | None = None,
        contrast: float = ENOUGH,
    ) -> Color:
        """The colour for text on ``on``, or on the background: it has at least that contrast."""
        ground = rgb(on) if on is not None else self._background
        return Color.from_rgb(
            *readable(mix(ground, self._colours[name], strength), ground, contrast)
        )


def rgb(colour: Color) -> Rgb:
    """Red, green and blue, 0 to 255."""
    red, green, blue = colour.get_truecolor()
    return red, green, blue


def mix(ground: Rgb, colour: Rgb, strength: float) -> Rgb:
    """Between ``ground`` (0.0) and ``colour`` (1.0)."""
    red, green, blue = (
        round(low + (high - low) * strength) for low, high in zip(ground, colour, strict=True)
    )
    return red, green, blue


def readable(colour: Rgb, ground: Rgb, enough: float = ENOUGH) -> Rgb:
    """``colour``, moved towards white or black until its contrast to ``ground`` is ``enough``."""
    white, black = (255, 255, 255), (0, 0, 0)
    far = white if contrast(white, ground) > contrast(black, ground) else black
    for step in range(21):
        moved = mix(colour, far, step / 20)
        if contrast(moved, ground) >= enough:
            return moved
    return far


def contrast(one: Rgb, other: Rgb) -> float:
    """Of two colours, as WCAG 2 defines it: 1 to 21."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: Rgb) -> float:
    red, green, blue = (
        part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _rgb(value: str) -> Rgb | None:
    """Of "#rrggbb" or "#rrggbbaa" (whose transparency is left out); None for anything else."""
    if not value.startswith("#"):
        return None
    try:
        return rgb(Color.parse(value[:7].lower()))
    except ColorParseError:
        return None


def _sure(value: str) -> Rgb:
    return rgb(Color.parse(value))
