"""How far drafts went where that was left to the engine, and where they came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gemma_local.app.counted import counted
from gemma_local.app.drafting_report import acceptance, by_length, gain, parked_share
from gemma_local.app.tui.charts.bars import Bar, bars
from gemma_local.app.tui.charts.page import Page
from gemma_local.app.tui.status import figures
from gemma_local.app.tui.status.fields import gain_figure
from gemma_local.app.tui.status.measured import Measured
from gemma_local.engine.messages import PaceTally, SourceTally
from gemma_local.engine.meter import LOOKUP, MTP

_SOURCES: Final = {MTP: "MTP drafter", LOOKUP: "prompt lookup"}


def source_facts(page: Page, sources: Mapping[str, SourceTally]) -> None:
    """Acceptance by source; the drafter alone is what the other figures tell of."""
    if list(sources) == [MTP]:
        return
    for name, source in sources.items():
        drafts = f"in {counted(source.drafts, 'draft')}"
        page.fact(
            _SOURCES.get(name, name),
            figures.percent(acceptance(source) or 0.0).strip(),
            f"{source.accepted:,} of {counted(source.drafted, 'token')} {drafts}",
        )


def pace_section(page: Page, measured: Measured) -> None:
    """Gain, parking, lengths of drafts, and whether what the drafter states holds."""
    session = measured.log.session
    pace = session.pace
    if pace is None or not any(pace.lengths):
        return
    page.heading("Length of drafts", "all answers that left it open")
    faster = gain(session)
    if faster is not None:
        page.fact(
            "gain",
            gain_figure(faster * 100, measured=True),
            f"plain decoding would have made {pace.plain_speed:.1f} tokens/s",
            style=page.ink.good if faster >= 0 else page.ink.warning,
        )
    page.fact("parked", figures.percent(parked_share(pace)).strip(), _why_parked(pace))
    each = pace.seconds / sum(pace.lengths)
    page.fact("deciding", f"{each * 1e3:.2f} ms", "a pass")
    page.blank()
    page.text("passes by the length of their draft")
    page.add(bars(_lengths(pace), page.width, page.ink, page.glyphs))
    if pace.calibration:
        page.blank()
        page.text("accepted where the drafter stated a probability of about")
        page.add(bars(_calibration(pace), page.width, page.ink, page.glyphs))


def parked_fact(page: Page, pace: PaceTally | None) -> None:
    """Why nothing is drafted just now, if nothing is."""
    if pace is not None and pace.parked_now:
        page.fact("drafts", "parked", pace.reason or "none would pay")


def _why_parked(pace: PaceTally) -> str:
    passes = f"of {counted(sum(pace.lengths), 'pass', 'passes')}"
    return f"{passes}; {pace.reason}" if pace.parked and pace.reason else passes


def _lengths(pace: PaceTally) -> list[Bar]:
    passes = sum(pace.lengths)
    return [
        Bar(
            length if length != "0" else "none",
            count / passes,
            figures.percent(count / passes).strip(),
            counted(count, "pass", "passes"),
        )
        for length, count in by_length(pace)
    ]


def _calibration(pace: PaceTally) -> list[Bar]:
    return [
        Bar(
            figures.percent(stated).strip(),
            accepted,
            figures.percent(accepted).strip(),
            f"of {tokens:,}",
        )
        for stated, accepted, tokens in pace.calibration
    ]
