"""Colours as terminals are told them (SGR)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.color import Color
from rich.style import Style

_ON: Final = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
    9: Style(strike=True),
    21: Style(underline=True),
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False),
    27: Style(reverse=False),
    29: Style(strike=False),
}
"""Blinking is left out, and hidden text is not hidden."""


def after_sgr(style: Style, parameters: str) -> Style:
    """``style`` after the sequence with these parameters, such as "1;31"; what is not known of them
    changes nothing."""
    codes = iter([int(code[:6]) if code else 0 for code in re.split("[;:]", parameters)])
    for code in codes:
        if code == 0:
            style = Style.null()
        elif code in _ON:
            style += _ON[code]
        elif code in (38, 48):
            colour = _extended(codes)
            if colour is not None:
                style += Style(color=colour) if code == 38 else Style(bgcolor=colour)
        elif code == 39:
            style += Style(color="default")
        elif code == 49:
            style += Style(bgcolor="default")
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style += Style(color=Color.from_ansi(code - 30 if code < 90 else code - 82))
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style += Style(bgcolor=Color.from_ansi(code - 40 if code < 100 else code - 92))
    return style


def _extended(codes: Iterator[int]) -> Color | None:
    match next(codes, None):
        case 5:
            number = next(codes, 256)
            return Color.from_ansi(number) if number < 256 else None
        case 2:
            parts = [next(codes, 256) for _ in range(3)]
            if max(parts) < 256:
                return Color.from_rgb(*parts)
    return None
