"""What charts are drawn with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.style import Style

_PLAIN: Final = Style()


@dataclass(frozen=True, slots=True)
class Ink:
    """Styles by what they are for. ``faint`` is for scales and for what is empty; ``parts`` tell
    the parts of a stacked bar from each other, beside their fillings."""

    text: Style = _PLAIN
    strong: Style = _PLAIN
    muted: Style = _PLAIN
    faint: Style = _PLAIN
    heading: Style = _PLAIN
    bar: Style = _PLAIN
    good: Style = _PLAIN
    warning: Style = _PLAIN
    error: Style = _PLAIN
    parts: tuple[Style, ...] = (_PLAIN,)
