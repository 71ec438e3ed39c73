"""What stands within a paragraph: emphasis, links, code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.style import Style

from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.run import Run
from gemma_local.app.tui.lines.shown import shown
from gemma_local.app.tui.palette import Palette

if TYPE_CHECKING:
    from markdown_it.token import Token

_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
_SAFE: Final = ("http://", "https://", "mailto:", "file:")
"""What a click on a link may open."""


class Inline:
    """Turns the tokens of a paragraph into runs."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        self._palette = palette
        self._ascii_only = glyphs is not UNICODE

    def runs(self, tokens: Sequence[Token], base: Style) -> list[Run]:
        """The runs of ``tokens`` over ``base``. A newline in them is a line break that was asked
        for."""
        runs: list[Run] = []
        styles = [base]
        links: list[tuple[str, int]] = []
        for token in tokens:
            match token.type:
                case "text" | "text_special":
                    runs.append((self._shown(token.content), styles[-1]))
                case "code_inline":
                    # Over the base's colour, not under it.
                    code = self._shown(token.content)
                    runs.append((code, styles[-1] + self._palette.code))
                case "softbreak":
                    runs.append((" ", styles[-1]))
                case "hardbreak":
                    runs.append(("\n", styles[-1]))
                case "html_inline":
                    is_break = _BREAK.fullmatch(token.content)
                    text = "\n" if is_break else self._shown(token.content)
                    runs.append((text, styles[-1]))
                case "image":
                    runs += self._image(token, styles[-1])
                case "link_open":
                    address = str(token.attrs.get("href", ""))
                    links.append((address, len(runs)))
                    styles.append(styles[-1] + self._link_style(address))
                case "link_close":
                    styles.pop()
                    address, start = links.pop()
                    said = "".join(text for text, _ in runs[start:])
                    runs += self._address(address, said)
                case "strong_open":
                    styles.append(styles[-1] + self._palette.strong)
                case "em_open":
                    styles.append(styles[-1] + self._palette.emphasis)
                case "s_open":
                    styles.append(styles[-1] + self._palette.struck)
                case "strong_close" | "em_close" | "s_close":
                    styles.pop()
                case _:
                    runs.append((self._shown(token.content), styles[-1]))
        return [run for run in runs if run[0]]

    def _shown(self, text: str) -> str:
        return shown(text, ascii_only=self._ascii_only)

    def _link_style(self, address: str) -> Style:
        link = self._palette.link
        return link + Style(link=address) if address.lower().startswith(_SAFE) else link

    def _address(self, address: str, said: str) -> list[Run]:
        """Where a link leads, unless its text says so: text can promise anything."""
        plain = address.removeprefix("mailto:")
        if not plain or said.strip().rstrip("/") in (address.rstrip("/"), plain.rstrip("/")):
            return []
        return [(f" ({self._shown(plain)})", self._palette.muted)]

    def _image(self, token: Token, style: Style) -> list[Run]:
        address = str(token.attrs.get("src", ""))
        alt = "".join(_plain(child) for child in token.children or ()) or "image"
        shown_alt = (self._shown(alt), style + self._link_style(address))
        return [shown_alt, *self._address(address, alt)]


def _plain(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return token.content or "".join(_plain(child) for child in token.children or ())
