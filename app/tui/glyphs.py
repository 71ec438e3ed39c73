"""The symbols that the screens are drawn with, and when plain ASCII has to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One symbol for each purpose. All are one cell wide unless it says otherwise."""

    bullets: tuple[str, ...]
    """Of lists, by depth; the last one stays for all that is deeper."""
    todo: str
    done: str
    """Items of task lists; the same number of cells."""
    quote: str
    """The bar at the left of what is quoted."""
    rule: str
    """A line across, repeated."""
    wrapped: str
    """Before the rest of a line of code that was too long."""
    prompt: str
    shell_prompt: str
    person: str
    answer: str
    notice: str
    """In the gutter, before what the person, the model and the app say."""
    cursor: str
    """Before the message that the keyboard is at."""
    closed: str
    open: str
    """Before something that can be unfolded, and something that is."""
    output: str
    """Before what belongs to the line above."""
    tick: str
    cross: str
    refused: str
    stopped: str
    """How something ended."""
    warning: str
    dot: str
    """Between short facts on one line."""
    ellipsis: str
    """What was left out; its width is its own."""
    jump: str
    """There is more below."""
    up: str
    down: str
    left: str
    right: str
    enter: str
    """Keys."""
    spinner: tuple[str, ...]
    """Frames of something that goes on."""
    bar: tuple[str, ...]
    """A bar's last cell, from nothing to all of it, and between as finely as can be drawn."""
    bar_empty: str
    """The part of a bar that is not filled."""
    columns: tuple[str, ...]
    """Columns of a small chart, from the lowest to the highest."""
    shades: tuple[str, ...]
    """Fillings that differ without colour, for the parts of a stacked bar."""
    vertical: str
    horizontal: str
    top_left: str
    top_right: str
    bottom_left: str
    bottom_right: str
    cross_line: str
    """Frames and axes."""


UNICODE: Final = Glyphs(
    bullets=("∙", "◦", "‣"),
    todo="☐",
    done="✓",
    quote="▎",
    rule="─",
    wrapped="↳",
    prompt="\u276f",
    shell_prompt="!",
    person="\u276f",
    answer="∙",
    notice="∙",
    cursor="▌",
    closed="▸",
    open="▾",
    output="⎿",
    tick="✓",
    cross="✗",
    refused="⊘",
    stopped="▬",
    warning="!",
    dot="⋅",
    ellipsis="…",
    jump="⇣",
    up="⇡",
    down="⇣",
    left="⇠",
    right="⇢",
    enter="⏎",
    spinner=tuple("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"),
    bar=(" ", *"▏▎▍▌▋▊▉█"),
    bar_empty="─",
    columns=tuple("▁▂▃▄▅▆▇█"),
    shades=tuple("█▓▒░"),
    vertical="│",
    horizontal="─",
    top_left="╭",
    top_right="╮",
    bottom_left="╰",
    bottom_right="╯",
    cross_line="┼",
)
"""One cell wide in every terminal: nothing that a font may draw as an emoji, and of the characters
that East Asian terminals may draw wide only lines, blocks and the ellipsis."""

ASCII: Final = Glyphs(
    bullets=("*", "-", "+"),
    todo="[ ]",
    done="[x]",
    quote="|",
    rule="-",
    wrapped="\\",
    prompt=">",
    shell_prompt="!",
    person=">",
    answer="*",
    notice="*",
    cursor="|",
    closed="+",
    open="-",
    output="|",
    tick="+",
    cross="x",
    refused="/",
    stopped="=",
    warning="!",
    dot="|",
    ellipsis="...",
    jump="v",
    up="^",
    down="v",
    left="<",
    right=">",
    enter="<",
    spinner=tuple("|/-\\"),
    bar=(" ", "-", "=", "#"),
    bar_empty=".",
    columns=tuple("_.-=+*#"),
    shades=tuple("#=+."),
    vertical="|",
    horizontal="-",
    top_left="+",
    top_right="+",
    bottom_left="+",
    bottom_right="+",
    cross_line="+",
)
"""For terminals that cannot show more."""


def glyphs_for(setting: str, encoding: str | None, env: Mapping[str, str]) -> Glyphs:
    """The symbols for ``setting`` "unicode", "ascii" or "auto".

    "auto" looks at the ``encoding`` of the output and at TERM in ``env``: the console of Linux and
    dumb terminals have few symbols even where the locale is UTF-8.
    """
    match setting:
        case "unicode":
            return UNICODE
        case "ascii":
            return ASCII
        case _:
            is_utf8 = (encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
            return UNICODE if is_utf8 and env.get("TERM") not in ("linux", "dumb") else ASCII
