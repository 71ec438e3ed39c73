"""What ``gemma-local bench`` says about drafts whose length was left to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemma_local.app.drafting_report import parked_share, share_of
from gemma_local.app.terminal import table
from gemma_local.engine.messages import PaceTally, SourceTally, Tally

_LENGTHS: Final = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 8), (9, 16))
"""First and last draft length of the columns."""


def drafting_text(results: Sequence[tuple[str, float | None, Tally]]) -> str:
    """Where drafts came from, how long they were and why there were none, and whether what the
    drafter states holds.

    ``results`` are kinds of prompts, their speed over that of plain decoding, and the sum of their
    runs; the last is that of all. Empty where no length was left to the engine.
    """
    decided = [(kind, ratio, tally, tally.pace) for kind, ratio, tally in results if tally.pace]
    if not decided:
        return ""
    names = list(dict.fromkeys(s.name for _, _, tally, _ in decided for s in tally.sources))
    lengths = [pair for pair in _LENGTHS if any(_share(pace, *pair) for *_, pace in decided)]
    header = (
        *("kind", "gain", "plain, as reckoned", "parked"),
        *(f"{name} accepted" for name in names),
        *(f"{first}" if first == last else f"{first}-{last}" for first, last in lengths),
        "deciding",
    )
    rows = [
        (
            kind,
            "-" if ratio is None else f"{ratio - 1:+.0%}",
            "-" if pace.plain_speed is None else f"{pace.plain_speed:.1f}",
            f"{parked_share(pace):.0%}",
            *(_source(tally, name) for name in names),
            *(f"{_share(pace, first, last):.0%}" for first, last in lengths),
            f"{1e3 * pace.seconds / max(sum(pace.lengths), 1):.2f} ms",
        )
        for kind, ratio, tally, pace in decided
    ]
    kind, _, _, last = decided[-1]
    parts = (
        "auto, by source, and passes by the length of their draft",
        table(header, rows),
        "\n".join(f"parked, {kind}: {pace.reason}" for kind, *_, pace in decided if pace.reason),
        _calibration(kind, last) if last.calibration else "",
    )
    return "\n\n".join(part for part in parts if part)


def _share(pace: PaceTally, first: int, last: int) -> float:
    """Passes with drafts of these lengths, of all, 0 to 1."""
    return sum(pace.lengths[first : last + 1]) / max(sum(pace.lengths), 1)


def _source(tally: Tally, name: str) -> str:
    return share_of(next((s for s in tally.sources if s.name == name), SourceTally(name)))


def _calibration(kind: str, pace: PaceTally) -> str:
    rows = [
        (f"{stated:.0%}", f"{accepted:.0%}", str(tokens))
        for stated, accepted, tokens in pace.calibration
    ]
    return (
        f"auto, {kind}: what the drafter stated and what was accepted\n\n"
        f"{table(('stated', 'accepted', 'tokens'), rows)}"
    )
