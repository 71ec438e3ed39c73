"""Tallies of several requests as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Final

from gemma_local.engine.messages import PaceTally, SourceTally, Tally

_APART: Final = frozenset({"sources", "pace"})


def add(tallies: Iterable[Tally]) -> Tally:
    """The sum of several, field by field. What pace thought last is that of the last one, and its
    calibration, which goes on from one to the next."""
    runs = list(tallies)
    sums: dict[str, object] = {}
    for item in fields(Tally):
        if item.name not in _APART:
            values = [getattr(run, item.name) for run in runs]
            is_row = item.name.endswith("_by_position")
            sums[item.name] = tuple(_add_columns(values)) if is_row else sum(values)
    sums["sources"] = tuple(_add_sources([one for run in runs for one in run.sources]))
    sums["pace"] = _add_pace(runs)
    return Tally(**sums)  # type: ignore[arg-type]


def _add_sources(sources: Sequence[SourceTally]) -> Iterator[SourceTally]:
    for name in dict.fromkeys(source.name for source in sources):
        own = [source for source in sources if source.name == name]
        yield SourceTally(
            name,
            drafts=sum(source.drafts for source in own),
            drafted=sum(source.drafted for source in own),
            accepted=sum(source.accepted for source in own),
            drafted_by_position=tuple(_add_columns([s.drafted_by_position for s in own])),
            accepted_by_position=tuple(_add_columns([s.accepted_by_position for s in own])),
            seconds=sum(source.seconds for source in own),
        )


def _add_pace(runs: Sequence[Tally]) -> PaceTally | None:
    paces = [run.pace for run in runs if run.pace is not None]
    if not paces:
        return None
    return PaceTally(
        lengths=tuple(_add_columns([pace.lengths for pace in paces])),
        parked=sum(pace.parked for pace in paces),
        parked_now=paces[-1].parked_now,
        reason=next((pace.reason for pace in reversed(paces) if pace.reason), ""),
        plain_speed=_plain_speed(runs),
        calibration=next((p.calibration for p in reversed(paces) if p.calibration), ()),
        seconds=sum(pace.seconds for pace in paces),
    )


def _plain_speed(runs: Sequence[Tally]) -> float | None:
    """Tokens over the time that they would have taken without drafts, as far as it is known."""
    known = [
        (run.decoded_tokens, run.pace.plain_speed)
        for run in runs
        if run.pace is not None and run.pace.plain_speed
    ]
    if len(known) == 1:
        return known[0][1]
    seconds = sum(tokens / speed for tokens, speed in known)
    return sum(tokens for tokens, _ in known) / seconds if seconds else None


def _add_columns(rows: Sequence[Sequence[int]]) -> Iterator[int]:
    for place in range(max(map(len, rows), default=0)):
        yield sum(row[place] for row in rows if place < len(row))
