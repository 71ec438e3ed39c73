"""The colours that the app comes with, and those it offers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual.theme import Theme

DARK: Final = Theme(
    name="gemma-dark",
    primary="#8ab4f8",
    secondary="#b4a7f5",
    accent="#7fcfc4",
    success="#8fcf9c",
    warning="#e3bf7d",
    error="#f0908a",
    foreground="#d5d9e0",
    background="#15171c",
    surface="#1b1e24",
    panel="#23272f",
    dark=True,
    variables={
        "syntax": "gemma-dark",
        "border": "#3a404b",
        "border-blurred": "#2a2f38",
        "scrollbar": "#3a404b",
        "scrollbar-hover": "#4c5463",
        "scrollbar-active": "#8ab4f8",
        "scrollbar-background": "#15171c",
        "scrollbar-background-hover": "#15171c",
        "scrollbar-background-active": "#15171c",
        "scrollbar-corner-color": "#15171c",
        "footer-background": "#15171c",
        "footer-key-foreground": "#8ab4f8",
        "input-selection-background": "#8ab4f8 30%",
    },
)
LIGHT: Final = Theme(
    name="gemma-light",
    primary="#2257b0",
    secondary="#5d49b5",
    accent="#0b6e66",
    success="#1f7036",
    warning="#855700",
    error="#b0261e",
    foreground="#23272f",
    background="#fbfaf7",
    surface="#f2f1ec",
    panel="#e8e6df",
    dark=False,
    variables={
        "syntax": "gemma-light",
        "border": "#c3c0b6",
        "border-blurred": "#dbd8cf",
        "scrollbar": "#c9c6bc",
        "scrollbar-hover": "#aeaaa0",
        "scrollbar-active": "#2257b0",
        "scrollbar-background": "#fbfaf7",
        "scrollbar-background-hover": "#fbfaf7",
        "scrollbar-background-active": "#fbfaf7",
        "scrollbar-corner-color": "#fbfaf7",
        "footer-background": "#fbfaf7",
        "footer-key-foreground": "#2257b0",
        "input-selection-background": "#2257b0 25%",
    },
)
THEMES: Final = (DARK, LIGHT)
"""To be registered by the app; the first is what it starts with."""


def theme_names(available: Iterable[str]) -> list[str]:
    """The names to offer, of those that are ``available``: our own first, then those that use the
    terminal's own colours, then the others by name."""
    names = set(available) | {theme.name for theme in THEMES}
    first = [theme.name for theme in THEMES]
    terminal = sorted(name for name in names if name.startswith("ansi-"))
    return first + terminal + sorted(names.difference(first, terminal))
