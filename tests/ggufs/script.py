"""What a scripted pair says: pieces of text in order, and which token follows which.

A script is a Markov chain over tokens: the model looks at the last token (and, where that is not
enough, at the one before it), so the text depends on the context through the real graph but is
known in advance. ``chain.py`` works the chain out, ``scripted.py`` puts it into weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.ggufs.vocabulary import CONTROL, WRONG

# As an ``end``: the logits are NaN from the last piece's token on.
NAN = "NaN"

Piece = str | Mapping[str, float]
# Alternatives at one place of a script: (token text, probability) with the likeliest first.
Options = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Segment:
    """A run of tokens the model says once it has begun.

    ``end`` is a token name (``<turn|>``, ``<eos>``, ``<|tool_response>``, or any other), NAN, or
    the index of the piece to go back to. ``after`` is the prompt's last token that starts this
    segment (or its last two, separated by nothing: ("thought", "\\n")); None starts it after any
    other token.
    """

    pieces: tuple[Options, ...]
    end: str | int
    after: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Script:
    """One or more segments; build it with :func:`script` and :meth:`then`."""

    segments: tuple[Segment, ...]
    prompt_end: tuple[str, ...] = ("\n",)

    def then(
        self,
        pieces: Sequence[Piece],
        *,
        after: str | tuple[str, str],
        end: str | None = "<turn|>",
        loop_to: int | None = None,
    ) -> Script:
        """This script with one more segment, said when the prompt ends in ``after``.

        ``after="<tool_response|>"`` is the answer once a tool has reported.
        """
        names = (after,) if isinstance(after, str) else after
        segment = _segment(pieces, end, loop_to, names)
        return replace(self, segments=(*self.segments, segment))

    @property
    def text(self) -> str:
        """What the first segment prints when decoded greedily, once through."""
        return printed([options[0][0] for options in self.segments[0].pieces])

    @property
    def tokens(self) -> list[str]:
        """The tokens of the first segment, decoded greedily once through, with the end token."""
        segment = self.segments[0]
        said = [options[0][0] for options in segment.pieces]
        return [*said, segment.end] if isinstance(segment.end, str) and segment.end != NAN else said

    @property
    def names(self) -> set[str]:
        """Every token the script can say or waits for."""
        names = {name for part in self.segments for options in part.pieces for name, _ in options}
        names |= {
            part.end for part in self.segments if isinstance(part.end, str) and part.end != NAN
        }
        return names | {name for part in self.segments for name in part.after or ()}


def script(
    pieces: Sequence[Piece],
    *,
    end: str | None = "<turn|>",
    loop_to: int | None = None,
    prompt_end: tuple[str, ...] = ("\n",),
) -> Script:
    """A script of one segment.

    Each piece is one token: a control or user-defined token by its name, ``<0xE2>`` for a byte,
    else a NORMAL token of exactly that text (any length). A mapping {piece: probability} is a place
    where the target may say one of several; greedy decoding takes the likeliest, and all of them
    lead to the next piece. ``end`` is the token that follows the last piece, or NAN; ``loop_to``
    instead goes back to that piece for ever.

    ``prompt_end`` names tokens that may be a prompt's last: a piece equal to one of these still
    does not keep the script from starting at its beginning.
    """
    return Script((_segment(pieces, end, loop_to, None),), prompt_end)


def pieces_of(text: str, size: int = 4) -> list[str]:
    """Cut text into pieces of ``size`` characters, lengthening one that would repeat another.

    The last piece may join the one before it, for the same reason.
    """
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = start + size
        while text[start:end] in pieces and end < len(text):
            end += 1
        piece = text[start:end]
        if piece in pieces:
            piece = pieces.pop() + piece
        pieces.append(piece)
        start = end
    return pieces


def printed(tokens: Sequence[str]) -> str:
    """The text of tokens given by name; control tokens print nothing."""
    out = bytearray()
    for name in tokens:
        if len(name) == 6 and name.startswith("<0x") and name.endswith(">"):
            out.append(int(name[3:5], 16))
        elif name not in CONTROL:
            out += name.encode()
    return out.decode(errors="replace")


def _segment(
    pieces: Sequence[Piece], end: str | None, loop_to: int | None, after: tuple[str, ...] | None
) -> Segment:
    if loop_to is None and end is None:
        raise ValueError("a script needs an end token or a piece to loop to")
    if not pieces:
        raise ValueError("a script needs at least one piece")
    if loop_to is not None and not 0 <= loop_to < len(pieces):
        raise ValueError(f"loop_to={loop_to} is not one of the {len(pieces)} pieces")
    if any(WRONG in ([piece] if isinstance(piece, str) else piece) for piece in pieces):
        raise ValueError(f"{WRONG!r} is what a drafter says where it errs, and no script may")
    finish = end if loop_to is None else loop_to
    assert finish is not None
    return Segment(tuple(_options(piece) for piece in pieces), finish, after)


def _options(piece: Piece) -> Options:
    if isinstance(piece, str):
        return ((piece, 1.0),)
    total = sum(piece.values())
    if not piece or min(piece.values()) <= 0:
        raise ValueError("alternatives need a positive probability each")
    ordered = sorted(piece.items(), key=lambda item: -item[1])
    return tuple((name, share / total) for name, share in ordered)
