"""Values in Gemma 4's own notation, as prompt pieces.

``{path:<|"|>a.txt<|"|>,lines:[1,2],strict:true,until:null}``: keys are bare, strings stand raw
between two quote tokens with nothing escaped, the rest is written as in JSON. Whatever came from a
file, a tool or a model is a ``Text`` piece, so that a string that spells a marker stays a string.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gemma_local.models.prompt import Control, Piece, Prompt, Text

QUOTE: Final = Control('<|"|>')
DEEPEST: Final = 64
"""Objects and lists inside one another; what lies deeper is left out, with a word about it."""


def quoted(text: str) -> Prompt:
    """A string between quote tokens."""
    return (QUOTE, Text(text), QUOTE)


def value_pieces(value: object, *, quotes_keys: bool = False, depth: int = 0) -> Prompt:
    """One value: a bool, number, string, list, mapping or None.

    Numbers are written as Python prints them (``-2.5``, ``1e+20``), which JSON reads back; a float
    that is no number is ``null``, as in JavaScript's JSON. Anything else is written as its text.

    Args:
        value: what to write.
        quotes_keys: keys between quote tokens, as the reference template has them in values that
            are part of a declaration.
        depth: how many objects and lists it is in.
    """
    match value:
        case None:
            return (Text("null"),)
        case bool():
            return (Text("true" if value else "false"),)
        case float() if not math.isfinite(value):
            return (Text("null"),)
        case int() | float():
            return (Text(str(value)),)
        case str():
            return quoted(value)
        case Mapping() | Sequence() if depth == DEEPEST:
            return quoted(f"(nested more than {DEEPEST} deep)")
        case Mapping():
            return object_pieces(value, quotes_keys=quotes_keys, depth=depth)
        case Sequence():
            items = (value_pieces(v, quotes_keys=quotes_keys, depth=depth + 1) for v in value)
            return list_pieces(items)
        case _:
            return quoted(str(value))


def object_pieces(
    values: Mapping[str, object], *, quotes_keys: bool = False, depth: int = 0
) -> Prompt:
    """``{key:value,...}``, sorted by key."""
    fields = (
        (
            *(quoted(key) if quotes_keys else (Text(key),)),
            Text(":"),
            *value_pieces(value, quotes_keys=quotes_keys, depth=depth + 1),
        )
        for key, value in sorted_items(values)
    )
    return (Text("{"), *joined(fields), Text("}"))


def list_pieces(items: Iterable[Prompt]) -> Prompt:
    """``[item,...]``."""
    return (Text("["), *joined(items), Text("]"))


def sorted_items(values: Mapping[str, object]) -> list[tuple[str, object]]:
    """Keys and values as Jinja's ``dictsort`` orders them: by key, capitals like small letters."""
    return sorted(((str(k), v) for k, v in values.items()), key=lambda item: item[0].lower())


def joined(parts: Iterable[Prompt]) -> Iterator[Piece]:
    """The pieces of all parts, with commas between the parts."""
    for index, part in enumerate(parts):
        if index:
            yield Text(",")
        yield from part


def merged(pieces: Iterable[Piece]) -> Prompt:
    """The same prompt with texts that touch made one, and without empty ones.

    Each piece is tokenised for itself, so this is what gives a text the tokens that it has in the
    reference's one long string.
    """
    result: list[Piece] = []
    open_texts: list[str] = []
    for piece in pieces:
        if isinstance(piece, Text):
            open_texts.append(piece.text)
            continue
        _close(open_texts, result)
        result.append(piece)
    _close(open_texts, result)
    return tuple(result)


def _close(texts: list[str], result: list[Piece]) -> None:
    if text := "".join(texts):
        result.append(Text(text))
    texts.clear()
