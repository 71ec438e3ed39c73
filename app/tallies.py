"""Tallies of several requests as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Final

from gemma_local.engine.messages import PaceTally, SourceTally, Tally

_APART: Final = frozenset({"sources", "pace"})


def add(tallies: Iterable[Tally]) -> Tally:
    """The sum of several, field by field. What pace thought last is that of the last one."""
    runs = list(tallies)
    sums: dict[str, object] = {}
    for item in fields(Tally):
        if item.name not in _APART:
            values = [getattr(run, item.name) for run in runs]
            is_row = item.name.endswith("_by_position")
            sums[item.name] = tuple(_add_columns(values)) if is_row else sum(values)
    sums["sources"] = tuple(_add_sources([one for run in runs for one in run.sources]))
    sums["pace"] = _add_pace([run.pace for run in runs if run.pace is not None])
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


def _add_pace(paces: Sequence[PaceTally]) -> PaceTally | None:
    if not paces:
        return None
    last = paces[-1]
    return PaceTally(
        lengths=tuple(_add_columns([pace.lengths for pace in paces])),
        parked=sum(pace.parked for pace in paces),
        parked_now=last.parked_now,
        reason=last.reason,
        plain_speed=last.plain_speed,
        calibration=last.calibration,
        seconds=sum(pace.seconds for pace in paces),
    )


def _add_columns(rows: Sequence[Sequence[int]]) -> Iterator[int]:
    for place in range(max(map(len, rows), default=0)):
        yield sum(row[place] for row in rows if place < len(row))
