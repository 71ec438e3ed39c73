"""What fills the context, and the page that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gemma_local.app.context_window import ContextUse
from gemma_local.app.counted import counted
from gemma_local.app.tui.charts.bars import Bar, bars
from gemma_local.app.tui.charts.fit import fit
from gemma_local.app.tui.charts.page import Page
from gemma_local.app.tui.charts.stack import Part, legend, pointer, stack
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.status import figures

_SHOWN: Final = 12
"""Messages in the list of the largest."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A message: ``title`` is its first line, as it is, ``who`` said it; its length in tokens."""

    who: str
    title: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextFacts:
    """What the next prompt consists of. ``cached`` of its tokens need not be read again, None if
    that is not known; ``largest`` are its longest messages."""

    use: ContextUse
    cached: int | None = None
    largest: tuple[Sized, ...] = ()


def context_page(page: Page, facts: ContextFacts | None) -> None:
    """The whole page; without ``facts`` they are still being counted."""
    if facts is None:
        page.text("Counting the tokens of this conversation ...")
        return
    use, window = facts.use, facts.use.window
    page.fact(
        "the next prompt",
        f"{use.prompt:,} of {counted(window.size, 'token')}",
        figures.percent(use.share).strip(),
        style=page.ink.strong,
    )
    if facts.cached is not None:
        new = max(use.prompt - facts.cached, 0)
        page.fact("read already", f"{min(facts.cached, use.prompt):,}", f"{new:,} to be read")
    page.blank()
    parts = _parts(use)
    page.add([Line(stack(parts, window.size, page.width, page.ink, page.glyphs))])
    line = f"compacted at {window.compact_at:,}"
    page.add([pointer(window.compact_at, window.size, line, page.width, page.ink, page.glyphs)])
    page.blank()
    page.add(legend(parts, window.size, page.width, page.ink, page.glyphs))
    page.blank()
    page.text(_outlook(use))
    if facts.largest:
        page.heading("Largest messages", "tokens")
        page.add(_largest(page, facts.largest))


def _parts(use: ContextUse) -> list[Part]:
    kept = max(min(use.window.reply, use.window.size - use.prompt), 0)
    free = max(use.free, 0)
    return [
        Part("system prompt", use.system, f"{use.system:,}"),
        Part("tools", use.tools, f"{use.tools:,}"),
        Part("files", use.files, f"{use.files:,}"),
        Part("conversation", use.history, f"{use.history:,}"),
        Part("kept for the reply", kept, f"{kept:,}"),
        Part("free", free, f"{free:,}", is_free=True),
    ]


def _outlook(use: ContextUse) -> str:
    left = use.window.compact_at - use.prompt
    if left > 0:
        return (
            f"{counted(left, 'token')} more, and old output of tools becomes one line "
            "each; if that is not enough, old messages become a summary. The transcript keeps all."
        )
    return (
        "The line is reached: with the next message, old output of tools becomes one line each, "
        "and if that is not enough, old messages become a summary. The transcript keeps all."
    )


def _largest(page: Page, largest: tuple[Sized, ...]) -> list[Line]:
    shown = sorted(largest, key=lambda one: -one.tokens)[:_SHOWN]
    most = max((one.tokens for one in shown), default=0) or 1
    who = max(len(one.who) for one in shown)
    # Bars have a sixth at least, so that titles may be long.
    label = max(page.width - max(page.width // 6, 8) - 12, 8)
    rows = [
        Bar(
            fit(f"{one.who:<{who}}  {one.title}", label, page.glyphs),
            one.tokens / most,
            f"{one.tokens:,}",
        )
        for one in shown
    ]
    return bars(rows, page.width, page.ink, page.glyphs)
