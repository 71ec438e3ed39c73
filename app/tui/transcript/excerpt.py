"""The beginning of a long text, and how much more there is."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.app.counted import counted
from gemma_local.app.tui.transcript.item import rows_of


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``head`` is what is shown, ``rest`` says what is not, "" if nothing."""

    head: str
    rest: str


def excerpt(text: str, width: int, *, show: int, most: int) -> Excerpt:
    """Of a text that takes more than about ``most`` lines of ``width`` cells, about ``show``."""
    if rows_of(text, width) <= most:
        return Excerpt(text, "")
    rows, at = 0, 0
    while rows < show and at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        room = (show - rows) * width
        if end - at > room:
            at += room
            break
        rows += 1 + (end - at) // width
        at = min(end + 1, len(text))
    left = text[at:]
    if lines := left.rstrip("\n").count("\n"):
        return Excerpt(text[:at].rstrip("\n"), f"{counted(lines + 1, 'more line')}")
    return Excerpt(text[:at].rstrip("\n"), f"{counted(len(left), 'more character')}")
