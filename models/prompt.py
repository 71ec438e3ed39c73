"""A prompt before tokenising: pieces that say who wrote them.

The distinction is a safety boundary. ``Control`` names one control token and can only be written by
us. ``Text`` came from a person, a file or a tool and must never become a control token, whatever it
contains. ``Markup`` is the output of a guest model's own template, where markers and text arrive
mixed in one string. ``Ids`` are tokens that were already decided, such as an answer that is being
continued.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Control:
    """One control token, by its exact text, for example ``<|turn>``."""

    token: str


@dataclass(frozen=True, slots=True)
class Text:
    """Untrusted text: tokenised so that no control token can come out of it."""

    text: str


@dataclass(frozen=True, slots=True)
class Markup:
    """A rendered template: markers in it are meant to be control tokens."""

    text: str


@dataclass(frozen=True, slots=True)
class Ids:
    """Token ids, taken as they are."""

    ids: tuple[int, ...]


Piece: TypeAlias = Control | Text | Markup | Ids
Prompt: TypeAlias = tuple[Piece, ...]
