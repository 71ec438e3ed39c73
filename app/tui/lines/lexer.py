"""The only door to Pygments, which takes long to import and has no types of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

TokenType: TypeAlias = tuple[str, ...]
"""A kind of token and what it is a kind of, from the general to the special: ("Name", "Class")."""

_NO_STYLE: Final[dict[str, Any]] = {}


def tokens_of(code: str, language: str) -> Iterator[tuple[TokenType, str]] | None:
    """The tokens of ``code``, whose texts make it up; None for a language that is not known."""
    lexer = _lexer(language)
    return lexer.get_tokens(code) if lexer is not None else None


@lru_cache(maxsize=256)
def language_of_path(path: str) -> str:
    """The name of the language that a file's name stands for; empty if it stands for none."""
    from pygments.lexers import (  # type: ignore[import-untyped]
        find_lexer_class_for_filename,
    )

    lexer = find_lexer_class_for_filename(path.replace("\\", "/").rsplit("/", 1)[-1])
    return str(lexer.aliases[0]) if lexer is not None and lexer.aliases else ""


def named_style(scheme: str, token: TokenType) -> dict[str, Any]:
    """What the style of Pygments that is called ``scheme`` says of ``token``: "color" as "rrggbb"
    or "ansired", "bold", "italic", "underline". Empty if there is no such style."""
    from pygments.styles import get_style_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return dict(get_style_by_name(scheme).style_for_token(token))
    except ClassNotFound:
        return _NO_STYLE


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None
