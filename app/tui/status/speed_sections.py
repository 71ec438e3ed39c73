"""The sections of the page of figures about speed: what it was, and what it is due to."""

from __future__ import annotations

from typing import Final

from gemma_local.app.counted import counted
from gemma_local.app.drafting_report import by_place
from gemma_local.app.durations import duration
from gemma_local.app.plain_speed import Gain
from gemma_local.app.speed_log import Answer, SpeedLog
from gemma_local.app.tui.charts.bars import Bar, bars
from gemma_local.app.tui.charts.columns import columns
from gemma_local.app.tui.charts.page import Page
from gemma_local.app.tui.charts.stack import Part, legend, stack
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.status import figures
from gemma_local.app.tui.status.fields import gain_figure
from gemma_local.app.tui.status.measured import Measured
from gemma_local.app.tui.status.pace_section import parked_fact, source_facts
from gemma_local.engine.messages import Tally
from gemma_local.models.pocket import ABOUT_SPEED, is_pocket

_HEIGHT: Final = 5
"""Rows of a chart."""
_SCALE: Final = 4
"""Half the cells that a chart's scale takes, and some more."""
_PARTS: Final = 60
_PART_SECONDS: Final = 0.5
"""Columns of an answer's course at most, and how long each is at least: a shorter one would show
single passes."""
_ROWS: Final = 8
"""Answers in the table."""
_ORDINALS: Final = ("1st", "2nd", "3rd")


def speed_section(page: Page, measured: Measured) -> None:
    """The answer that is coming, or the last one: how fast, and what drafting did for it."""
    log, tally = measured.log, measured.log.tally
    which = "this answer" if log.is_decoding else "the last answer"
    page.heading("Speed", which if tally is not None else "")
    if tally is None:
        page.text("Nothing was answered yet.")
        return
    speed = log.tokens_per_second if log.is_decoding else tally.tokens_per_second
    page.fact(
        "now" if log.is_decoding else "speed",
        f"{speed or 0.0:.1f} tokens/s",
        f"{counted(tally.emitted_tokens, 'token')} in {duration(tally.decode_seconds)}",
        style=page.ink.strong,
    )
    if measured.ready is not None and is_pocket(measured.ready.name):
        page.fact("drafting gains", "passes", f"this is the small guide: {ABOUT_SPEED}")
    else:
        gain_fact(page, tally, measured.gain)
    acceptance_facts(page, tally)
    parked_fact(page, tally.pace if log.is_decoding else None)
    count = min(int(tally.decode_seconds / _PART_SECONDS), _PARTS)
    course = log.course.parts(count) if log.course is not None else []
    if len(course) > 1:
        page.blank()
        page.text("tokens/s in the course of it")
        under = ("0 s", duration(tally.decode_seconds))
        page.add(columns(course, page.width, _HEIGHT, page.ink, page.glyphs, under=under))


def answers_section(page: Page, log: SpeedLog) -> None:
    """One answer beside the other."""
    if len(log.answers) < 2:
        return
    page.heading("Answers", f"{log.ended} in this session")
    page.text("tokens/s of each")
    speeds = [answer.tally.tokens_per_second for answer in log.answers]
    # As many as can be told apart.
    speeds = speeds[-(page.width // 2 - _SCALE) :]
    under = (str(log.ended - len(speeds) + 1), str(log.ended))
    page.add(columns(speeds, page.width, _HEIGHT, page.ink, page.glyphs, under=under))
    page.blank()
    _table(page, log)


def gain_fact(page: Page, tally: Tally, gain: Gain | None) -> None:
    """How much drafting gains, and how that is known."""
    if gain is not None:
        how = "measured" if gain.measured else "estimated"
        mark = "" if gain.measured else "about "
        page.fact(
            "drafting gains",
            gain_figure(gain.percent, measured=gain.measured),
            f"plain decoding {how} at {mark}{gain.plain:.1f} tokens/s",
            style=page.ink.good if gain.percent >= 0 else page.ink.warning,
        )
    elif tally.drafted:
        page.fact("drafting gains", "not known", "there is nothing to compare it with yet")


def acceptance_facts(page: Page, tally: Tally) -> None:
    """Acceptance and tokens per pass, where something was drafted."""
    if tally.acceptance is None or tally.tokens_per_pass is None:
        return
    page.fact(
        "acceptance",
        figures.percent(tally.acceptance).strip(),
        f"{tally.accepted:,} of {counted(tally.drafted, 'token')} drafted",
    )
    passes = f"in {counted(tally.passes, 'pass', 'passes')} of the target"
    page.fact("tokens per pass", f"{tally.tokens_per_pass:.2f}", passes)


def drafting_section(page: Page, measured: Measured) -> None:
    """Acceptance, in all and by place, tokens per pass, and where the time went."""
    tally = measured.log.drafting
    if not tally.drafted:
        if measured.ready is not None and measured.log.session.passes:
            page.heading("Drafting")
            is_loaded = measured.ready.drafter is not None
            page.text("Nothing was drafted." if is_loaded else "No drafter is loaded.")
        return
    page.heading("Drafting", "all answers with drafts")
    acceptance_facts(page, tally)
    source_facts(page, measured.log.sources)
    page.blank()
    page.text("accepted by place in the draft")
    page.add(_positions(page, tally))
    _time(page, tally)


def _positions(page: Page, tally: Tally) -> list[Line]:
    rows = [
        Bar(
            ordinal(int(place)) if place.isdigit() else place,
            accepted / drafted,
            figures.percent(accepted / drafted).strip(),
            f"of {drafted:,}",
        )
        for place, accepted, drafted in by_place(tally)
    ]
    return bars(rows, page.width, page.ink, page.glyphs)


def ordinal(place: int) -> str:
    """ "1st", "2nd", "3rd", "4th": places behind the 16th are shown together."""
    return _ORDINALS[place - 1] if place <= len(_ORDINALS) else f"{place}th"


def _time(page: Page, tally: Tally) -> None:
    """Where the time of decoding went."""
    whole = tally.decode_seconds
    if whole <= 0:
        return
    rest = max(whole - tally.draft_seconds - tally.verify_seconds, 0.0)
    parts = [
        Part("verifying", tally.verify_seconds, duration(tally.verify_seconds)),
        Part("drafting", tally.draft_seconds, duration(tally.draft_seconds)),
        Part("all else", rest, duration(rest)),
    ]
    page.blank()
    page.text(f"time of decoding, {duration(whole)}")
    page.add([Line(stack(parts, whole, min(page.width, 60), page.ink, page.glyphs))])
    page.add(legend(parts, whole, page.width, page.ink, page.glyphs))


def prompt_section(page: Page, log: SpeedLog) -> None:
    """What was read of prompts, and what did not have to be."""
    reuse = log.reuse
    total = reuse.read + reuse.reused
    if not total:
        return
    page.heading("Prompts", "all answers of this session")
    parts = [
        Part("from the cache", reuse.reused, f"{reuse.reused:,}"),
        Part("read", reuse.read, f"{reuse.read:,}"),
    ]
    page.add([Line(stack(parts, total, min(page.width, 60), page.ink, page.glyphs))])
    page.add(legend(parts, total, page.width, page.ink, page.glyphs))
    page.blank()
    if log.reading_speed is not None:
        page.fact("reading speed", f"{log.reading_speed:.0f} tokens/s")
    page.fact("waited", duration(reuse.read_seconds), "for prompts to be read")
    if reuse.saved_seconds is not None and reuse.reused:
        page.fact(
            "not waited",
            f"about {duration(reuse.saved_seconds)}",
            "what was reused would have taken at that speed",
            style=page.ink.good,
        )


def _table(page: Page, log: SpeedLog) -> None:
    """The last answers in figures, the newest first."""
    header = ("answer", "tokens/s", "tokens", "acceptance", "per pass", "read", "reused", "draft")
    newest = list(log.answers)[-_ROWS:]
    first = log.ended - len(newest) + 1
    rows = [_row(number, answer) for number, answer in enumerate(newest, start=first)]
    page.table(header, rows[::-1])


def _row(number: int, answer: Answer) -> tuple[str, ...]:
    tally = answer.tally
    acceptance, per_pass = tally.acceptance, tally.tokens_per_pass
    return (
        str(number),
        f"{tally.tokens_per_second:.1f}",
        f"{tally.emitted_tokens:,}",
        "-" if acceptance is None else figures.percent(acceptance).strip(),
        "-" if per_pass is None else f"{per_pass:.2f}",
        f"{tally.prefilled_tokens:,}",
        f"{tally.reused_tokens:,}",
        str(answer.longest_draft or "-"),
    )
