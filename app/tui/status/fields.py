"""The fields of the status line, each in several lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from gemma_local.app.agent.consent import Mode
from gemma_local.app.durations import time_left
from gemma_local.app.tui.charts.bar import bar_text
from gemma_local.app.tui.charts.fit import fit
from gemma_local.app.tui.charts.sparkline import sparkline
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.status import figures
from gemma_local.app.tui.status.status import COURSE, PairState, Status

Role = Literal["text", "strong", "muted", "faint", "bar", "good", "warning", "error"]
Piece: TypeAlias = tuple[str, Role]


@dataclass(frozen=True)
class Form:
    """One way to write a field."""

    pieces: tuple[Piece, ...]

    @cached_property
    def width(self) -> int:
        """In cells."""
        return sum(cells(text) for text, _ in self.pieces)


@dataclass(frozen=True, slots=True)
class Field:
    """``forms`` from the longest to the shortest. The field with the lowest ``rank`` is the most
    important. ``at_right``: it stands at the right end of the line."""

    rank: int
    forms: tuple[Form, ...]
    at_right: bool = False


MODES: Final[dict[Mode, str]] = {
    "plan": "plan",
    "ask": "ask",
    "edits": "accept edits",
    "auto": "auto",
}
"""What people call the modes."""

_PAIRS: Final[dict[PairState, tuple[str, str, Role]]] = {
    "none": ("no model", "no model", "muted"),
    "no drafter": ("no drafter", "no drafter", "muted"),
    "off": ("drafting off", "no drafts", "muted"),
    "down": ("engine down", "down", "error"),
}
"""States that are worth words: in full, in short, and how they look."""

_DOWN, _ACTIVITY, _CONTEXT, _QUEUE, _MODE, _ACCEPTANCE, _MODEL = range(7)
_PAIR, _PER_PASS, _GAIN, _NOTE, _SPARK, _THINKING, _LABEL = range(7, 14)
"""Ranks."""

_BAR: Final = (12, 6)
_SPARKS: Final = (COURSE, 8)
"""Cells of the small charts, in long and in short."""
_LONGEST: Final = 24
"""Cells of a model's name, and of a note, at most."""


def fields(status: Status, glyphs: Glyphs) -> list[Field]:
    """All that there is to show, from left to right."""
    found: list[Field] = []
    for make in _MAKERS:
        found += make(status, glyphs)
    return found


def _form(*pieces: Piece) -> Form:
    return Form(pieces)


def _clean(text: str, most: int, glyphs: Glyphs) -> str:
    """``text``, which may be anything, in ``most`` cells or fewer."""
    return fit(text, most, glyphs).rstrip()


def _model(status: Status, glyphs: Glyphs) -> Iterator[Field]:
    if status.model:
        forms = (_clean(status.model, most, glyphs) for most in (_LONGEST, _LONGEST // 2))
        yield Field(_MODEL, tuple(_form((text, "text")) for text in forms))


def _pair(status: Status, _: Glyphs) -> Iterator[Field]:
    if status.pair in _PAIRS:
        long, short, role = _PAIRS[status.pair]
        rank = _DOWN if status.pair == "down" else _PAIR
        yield Field(rank, (_form((long, role)), _form((short, role))))


def _loading(status: Status, glyphs: Glyphs) -> Iterator[Field]:
    event = status.loading
    if event is None:
        if status.pair == "loading":
            yield Field(_ACTIVITY, (_form(("loading", "text")),))
        return
    share = figures.percent(event.fraction)
    # As long as the longest of them, lest what follows jumps.
    what = f"loading {event.stage:<7}"
    yield Field(
        _ACTIVITY,
        (
            _form((f"{what} ", "text"), *_bar(event.fraction, _BAR[0], "bar", glyphs),
                  (share, "text")),
            _form((f"{what}{share:>6}", "text")),
            _form((f"loading{share:>6}", "text")),
        ),
    )  # fmt: skip


def _reading(status: Status, _: Glyphs) -> Iterator[Field]:
    reading = status.reading
    if reading is None or not reading.total:
        return
    done, total = figures.tokens(reading.done), figures.tokens(reading.total)
    share = figures.percent(reading.done / reading.total)
    speed, left = "", ""
    if reading.tokens_per_second is not None:
        speed = f", {reading.tokens_per_second:.0f} tokens/s"
    if reading.seconds_left is not None:
        left = f", {time_left(reading.seconds_left)} left"
    yield Field(
        _ACTIVITY,
        (
            _form((f"reading {done} of {total}", "strong"), (f"{speed}{left}", "muted")),
            _form((f"reading {done} of {total}", "strong"), (left, "muted")),
            _form((f"reading{share}", "strong"), (left, "muted")),
            _form((f"reading{share}", "strong")),
        ),
    )


def _speed(status: Status, _: Glyphs) -> Iterator[Field]:
    if status.tokens_per_second is None or _is_busy(status):
        return
    figure = figures.speed(status.tokens_per_second)
    is_live = status.is_decoding
    yield Field(
        _ACTIVITY,
        (
            _form(
                (figure, "strong" if is_live else "muted"),
                (" tokens/s", "text" if is_live else "muted"),
            ),
        ),
    )


def _spark(status: Status, glyphs: Glyphs) -> Iterator[Field]:
    if not status.is_decoding or _is_busy(status):
        return
    forms = [_form((sparkline(status.course, count, glyphs), "bar")) for count in _SPARKS]
    yield Field(_SPARK, tuple(forms))


def _acceptance(status: Status, _: Glyphs) -> Iterator[Field]:
    if _is_busy(status):
        return
    if status.acceptance is None:
        if status.parked:
            forms = (_form(("no draft would pay", "muted")), _form(("parked", "muted")))
            yield Field(_ACCEPTANCE, forms)
        return
    share, role = figures.percent(status.acceptance).strip().ljust(5), _quiet(status)
    yield Field(
        _ACCEPTANCE,
        (
            _form(("acceptance ", "muted"), (share, role)),
            _form(("accepts ", "muted"), (share, role)),
        ),
    )


def _per_pass(status: Status, _: Glyphs) -> Iterator[Field]:
    # Without drafts it is 1 by nature.
    if status.tokens_per_pass is None or status.acceptance is None or _is_busy(status):
        return
    figure, role = f"{status.tokens_per_pass:4.2f}", _quiet(status)
    yield Field(
        _PER_PASS,
        (
            _form((figure, role), (" tokens per pass", "muted")),
            _form((figure, role), (" per pass", "muted")),
        ),
    )


def _gain(status: Status, _: Glyphs) -> Iterator[Field]:
    gain = status.gain
    if gain is None or _is_busy(status):
        return
    figure = gain_figure(gain.percent, measured=gain.measured).rjust(7)
    role: Role = "muted" if not status.is_decoding else "good" if gain.percent >= 0 else "warning"
    yield Field(_GAIN, (_form((figure, role), (" to plain", "muted")), _form((figure, role))))


def gain_figure(percent: float, *, measured: bool) -> str:
    """ "+38 %", or "~+40 %" for an estimate, which is not known any better than that."""
    if measured:
        return f"{round(percent):+d} %"
    return f"~{5 * round(percent / 5):+d} %"


def _note(status: Status, glyphs: Glyphs) -> Iterator[Field]:
    if status.note:
        yield Field(_NOTE, (_form((_clean(status.note, _LONGEST, glyphs), "muted")),))


def _queue(status: Status, _: Glyphs) -> Iterator[Field]:
    if status.queued:
        text = f"{status.queued} waiting"
        yield Field(_QUEUE, (_form((text, "text")),), at_right=True)


def _context(status: Status, glyphs: Glyphs) -> Iterator[Field]:
    size = status.context_size
    if not size:
        return
    share = status.context_used / size
    role, bar_role = _context_roles(status)
    used = f"{status.context_used:>{len(f'{size:,}')},} of {size:,}"
    percent = figures.percent(share)
    short = f"{percent} of {figures.window(size)}"
    yield Field(
        _CONTEXT,
        (
            _form(("context ", "muted"), *_bar(share, _BAR[0], bar_role, glyphs),
                  (f" {used}", role)),
            _form(("context ", "muted"), *_bar(share, _BAR[1], bar_role, glyphs), (short, role)),
            _form(*_bar(share, _BAR[1], bar_role, glyphs), (short, role)),
            _form(("context", "muted"), (percent, role)),
        ),
        at_right=True,
    )  # fmt: skip


def _context_roles(status: Status) -> tuple[Role, Role]:
    """How figure and bar look: in a colour only where the line is near."""
    if not status.compact_at or status.context_used < status.warn_at:
        return "text", "bar"
    role: Role = "warning" if status.context_used < status.compact_at else "error"
    return role, role


def _thinking(status: Status, _: Glyphs) -> Iterator[Field]:
    text = "thinking on" if status.thinking else "thinking off"
    yield Field(_THINKING, (_form((text, "muted")),), at_right=True)


def _label(status: Status, _: Glyphs) -> Iterator[Field]:
    if status.label:
        short = status.label.split(" (")[0]
        yield Field(
            _LABEL, (_form((status.label, "muted")), _form((short, "muted"))), at_right=True
        )


def _mode(status: Status, _: Glyphs) -> Iterator[Field]:
    role: Role = "warning" if status.mode == "auto" else "text"
    forms = (_form((MODES[status.mode], role)), _form((status.mode, role)))
    yield Field(_MODE, forms, at_right=True)


def _bar(share: float, length: int, role: Role, glyphs: Glyphs) -> tuple[Piece, Piece]:
    filled, empty = bar_text(share, length, glyphs)
    return (filled, role), (empty, "faint")


def _is_busy(status: Status) -> bool:
    """Whether something else goes on than answering, whose progress stands there instead."""
    return status.pair in ("none", "loading", "down") or bool(status.loading or status.reading)


def _quiet(status: Status) -> Role:
    """How figures look: those of the last answer quietly."""
    return "text" if status.is_decoding else "muted"


_MAKERS: Final[tuple[Callable[[Status, Glyphs], Iterator[Field]], ...]] = (
    _model,
    _pair,
    _loading,
    _reading,
    _speed,
    _spark,
    _acceptance,
    _per_pass,
    _gain,
    _note,
    _queue,
    _context,
    _label,
    _thinking,
    _mode,
)
