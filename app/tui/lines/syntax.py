"""The colours of code: few, so that it stays calm.

Each scheme names what is coloured by the names of Pygments' token types; what is not named looks
like its nearest parent, and in the end like any text in a code block.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rich.color import ANSI_COLOR_NAMES, Color
from rich.style import Style

from gemma_local.app.tui.lines.lexer import TokenType, named_style
from gemma_local.app.tui.lines.theme_colours import readable, rgb


def _scheme(
    comment: str,
    keyword: str,
    string: str,
    number: str,
    name: str,
    kind: str,
    quiet: str,
    removed: str,
) -> Mapping[str, str]:
    """A scheme; ``name`` is for functions, ``kind`` for classes and types, ``quiet`` for signs."""
    return {
        "Comment": f"italic {comment}",
        "Comment.Preproc": keyword,
        "Keyword": keyword,
        "Keyword.Constant": number,
        "Keyword.Type": kind,
        "Operator.Word": keyword,
        "Operator": quiet,
        "Punctuation": quiet,
        "Literal.Number": number,
        "Literal.String": string,
        "Literal.String.Doc": f"italic {comment}",
        "Literal.String.Escape": number,
        "Literal.String.Interpol": number,
        "Literal.Date": number,
        "Name.Function": name,
        "Name.Function.Magic": name,
        "Name.Class": kind,
        "Name.Exception": kind,
        "Name.Namespace": kind,
        "Name.Builtin": name,
        "Name.Builtin.Pseudo": number,
        "Name.Constant": number,
        "Name.Decorator": keyword,
        "Name.Tag": keyword,
        "Name.Attribute": name,
        "Name.Entity": number,
        "Name.Variable": number,
        "Generic.Deleted": removed,
        "Generic.Inserted": string,
        "Generic.Heading": f"bold {keyword}",
        "Generic.Subheading": keyword,
        "Generic.Prompt": keyword,
        "Generic.Output": comment,
        "Generic.Error": removed,
        "Generic.Emph": "italic",
        "Generic.Strong": "bold",
    }


SCHEMES: Final[Mapping[str, Mapping[str, str]]] = {
    "gemma-dark": _scheme(
        comment="#868d99",
        keyword="#b4a7f5",
        string="#9bcfa0",
        number="#e3bf7d",
        name="#8ab4f8",
        kind="#7fcfc4",
        quiet="#a9b0bc",
        removed="#f0908a",
    ),
    "gemma-light": _scheme(
        comment="#6d6f73",
        keyword="#5d49b5",
        string="#1f7036",
        number="#855700",
        name="#2257b0",
        kind="#0b6e66",
        quiet="#555a64",
        removed="#b0261e",
    ),
    "ansi": _scheme(
        comment="dim",
        keyword="magenta",
        string="green",
        number="yellow",
        name="blue",
        kind="cyan",
        quiet="",
        removed="red",
    ),
}


@lru_cache(maxsize=2048)
def syntax_style(token: TokenType, scheme: str, block: Style) -> Style:
    """How ``token`` looks in ``block``, the style of the text around it; see ``Palette.syntax``.

    Its colour is made readable on the block's background, whatever scheme it comes from.
    """
    named = SCHEMES.get(scheme)
    style = _own_style(token, named) if named is not None else _pygments_style(token, scheme)
    if style.color is None or block.bgcolor is None:
        return block + style
    colour = readable(rgb(style.color), rgb(block.bgcolor))
    return block + style + Style(color=Color.from_rgb(*colour))


def _own_style(token: TokenType, scheme: Mapping[str, str]) -> Style:
    for length in range(len(token), 0, -1):
        if (found := scheme.get(".".join(token[:length]))) is not None:
            return Style.parse(found)
    return Style()


def _pygments_style(token: TokenType, scheme: str) -> Style:
    its = named_style(scheme, token)
    if not its:
        return _own_style(token, SCHEMES["gemma-dark"])
    return Style(
        color=_colour(its["color"]),
        bold=its["bold"] or None,
        italic=its["italic"] or None,
        underline=its["underline"] or None,
    )


def _colour(value: str | None) -> Color | None:
    if not value:
        return None
    if value.startswith("ansi"):
        # Pygments says "ansibrightblue".
        name = value.removeprefix("ansi").replace("bright", "bright_")
        return Color.parse(name) if name in ANSI_COLOR_NAMES else None
    return Color.parse(f"#{value}")
