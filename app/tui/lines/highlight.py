"""Code in colours."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gemma_local.app.tui.lines.lexer import language_of_path, tokens_of
from gemma_local.app.tui.lines.run import Run
from gemma_local.app.tui.lines.syntax import syntax_style
from gemma_local.app.tui.palette import Palette

MOST_LINES: Final = 2_000
MOST_CHARACTERS: Final = 100_000
"""Longer code stays plain: colouring takes about 1 ms for 1,000 characters."""

_NAME: Final = re.compile(r"[A-Za-z0-9_+#.-]+")


def language_of(info: str) -> str:
    """The language that a fence's info string names, such as "python" in "{.python} title=a.py"."""
    found = _NAME.search(info.strip())
    return found.group().lstrip(".-").lower() if found else ""


def highlight(code: str, language: str, palette: Palette) -> list[list[Run]]:
    """The lines of ``code`` as runs.

    ``code`` must be fit to be painted (see ``shown``). It stays in one style where the language is
    not known, where it is too long, and where a lexer would change its text.
    """
    return [list(line) for line in _highlighted(code, language, palette)]


def highlight_for_path(code: str, path: str, palette: Palette) -> list[list[Run]]:
    """The lines of ``code`` as runs; the language is that of the file's name."""
    return highlight(code, language_of_path(path), palette)


# A resize paints the same code again, and colouring is most of the work.
@lru_cache(maxsize=64)
def _highlighted(code: str, language: str, palette: Palette) -> tuple[tuple[Run, ...], ...]:
    plain = tuple(((line, palette.code_block),) if line else () for line in code.split("\n"))
    if not language or len(code) > MOST_CHARACTERS or len(plain) > MOST_LINES:
        return plain
    tokens = tokens_of(code, language)
    if tokens is None:
        return plain
    lines: list[tuple[Run, ...]] = []
    line: list[Run] = []
    for token, text in tokens:
        style = syntax_style(token, palette.syntax, palette.code_block)
        first, *others = text.split("\n")
        if first:
            line.append((first, style))
        for other in others:
            lines.append(tuple(line))
            line = [(other, style)] if other else []
    # A lexer ends the last line if the code does not.
    if line or code.endswith("\n"):
        lines.append(tuple(line))
    painted = "\n".join("".join(text for text, _ in runs) for runs in lines)
    return tuple(lines) if painted == code else plain
