"""Text from outside on its way through another model's chat template.

A template makes one string of its own markers and everybody's text, and the whole of it is
tokenised with markers allowed. So texts are marked before they go in: a character that no text
contains stands where a special token that somebody spelled has to be cut. Wherever the template
puts the text, the mark goes along, and what comes out is cut there.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from gemma_local.models.prompt import Markup
from gemma_local.models.special_texts import SpecialTexts

CUT: Final = "\ufdd0"
"""A noncharacter, which Unicode keeps for uses like this; in a text it becomes U+FFFD."""


def marked(text: str, specials: SpecialTexts) -> str:
    """``text`` with a cut after the first character of each special text in it.

    A cut is also put at an end of it that could complete a special text together with what the
    template writes beside it, inside of any blanks there, which templates strip.
    """
    text = text.replace(CUT, "\ufffd")
    places = {start + 1 for start in specials.starts(text)}
    at_start, at_end = specials.may_touch(text.strip())
    if at_start:
        places.add(len(text) - len(text.lstrip()))
    if at_end:
        places.add(len(text.rstrip()))
    edges = [0, *sorted(places), len(text)]
    return CUT.join(text[start:end] for start, end in pairwise(edges))


def marked_value(value: Any, specials: SpecialTexts) -> Any:
    """The same for every string, also keys, in a value of JSON's types."""
    match value:
        case str():
            return marked(value, specials)
        case dict():
            return {
                marked(str(key), specials): marked_value(inner, specials)
                for key, inner in value.items()
            }
        case list() | tuple():
            return [marked_value(inner, specials) for inner in value]
        case _:
            return value


def cut_pieces(text: str, specials: SpecialTexts) -> tuple[Markup, ...]:
    """What a template made of marked texts, cut where a special text would come about.

    Cuts that prevent nothing are taken out, so that ordinary text keeps its tokens.
    """
    first, *rest = text.split(CUT)
    parts = [first]
    for part in rest:
        if specials.spans(parts[-1], part):
            parts.append(part)
        else:
            parts[-1] += part
    return tuple(Markup(part) for part in parts if part)
