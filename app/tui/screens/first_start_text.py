"""The words of the first page, and the ways that it offers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from gemma_local.app.sessions.titles import one_line
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import cut
from gemma_local.app.tui.screens.columns import Column, Row
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.pocket import pair

if TYPE_CHECKING:
    from gemma_local.app.offers import Offer
    from gemma_local.app.readiness import Readiness

_NAMED: Final = 3
"""Files that are named on the page."""

COLUMNS: Final = (
    Column("", most=8),
    Column("", grows=True),
    Column("", right=True),
)
"""Of the ways: a key, what it does, and what is to be said of that."""


def ways_of(found: Readiness) -> Iterator[Row]:
    """What can be chosen, each with its key."""
    suited = suited_of(found)
    if suited is not None and suited.path is not None:
        yield Row("suited", ("Enter", f"Start with {suited.name}", "is here"))
    elif suited is not None:
        yield Row("suited", ("Enter", f"Fetch {suited.name}", human_bytes(suited.bytes)))
    if found.sizes:
        fitting = sum(offer.fits for offer in found.sizes)
        sizes = "Choose another size" if suited is not None else "See what each size needs"
        yield Row("size", ("s", sizes, f"{fitting} of {len(found.sizes)} fit"))
    count = len(found.here)
    yield Row(
        "file", ("f", "Use a file that is here", f"{count} found" if count else "by its path")
    )
    if found.builtin is not None:
        yield Row("builtin", ("g", "Start on the small guide", "at once"))
    yield Row("quit", ("q", "Quit", ""))


def nothing_known(problem: str) -> Readiness:
    """What is left where looking around failed: what comes along, and a path that is typed."""
    from gemma_local.app.readiness import Readiness

    guide = pair()
    return Readiness((), builtin=guide[0] if guide is not None else None, troubles=(problem,))


def first_way(found: Readiness) -> str | None:
    """The row to begin on, None for the first: what must be fetched is of no use without a
    network."""
    must_fetch = found.suited is None or found.suited.path is None
    return "file" if must_fetch and found.why_nothing_comes and found.here else None


def suited_of(found: Readiness) -> Offer | None:
    """What to begin with, if it can be loaded."""
    return found.suited if found.suited is not None and found.suited.fits else None


def why_none(found: Readiness) -> Iterator[str]:
    """That nothing fits, and how much is missing."""
    yield found.why
    short = [offer for offer in found.sizes if offer.missing]
    if short:
        least = min(short, key=lambda offer: offer.missing)
        yield (
            f"{least.name}, which lacks least, needs {human_bytes(least.missing)} more: close "
            "other programs and start again, or use a smaller file."
        )


def sentence(text: str) -> str:
    """``text`` with a capital and a full stop."""
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def pair_words(offer: Offer) -> str:
    """What suits the machine, and how it comes here."""
    drafter = " with its drafter" if offer.has_drafter else ""
    if offer.path is not None:
        return f"{offer.name}{drafter}, which is here ({offer.where})"
    return f"Gemma 4 {offer.name}{drafter}, a download of {human_bytes(offer.bytes)}"


def here_words(offers: Sequence[Offer], glyphs: Glyphs) -> str:
    """The first of what is here, a line for each."""
    lines = []
    for offer in offers[:_NAMED]:
        speed = f", {offer.speed_words} tokens/s" if offer.speed_words else ""
        name = cut(one_line(offer.name), 30, glyphs.ellipsis)
        lines.append(f"{name}, {offer.fit_words}{speed}")
    if len(offers) > _NAMED:
        lines.append(f"and {len(offers) - _NAMED} more")
    return "\n".join(lines)
