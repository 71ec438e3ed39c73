"""Where drafts came from and how far they went, for programs (JSON keys) and for people (lines).

``sources``  a list with an object for each source of drafts. ``name`` is "mtp" (the drafter) or
             "lookup" (what followed when the text said the same before); ``drafts`` of it were
             checked, with the tokens ``drafted``, ``accepted`` and their ratio ``acceptance``;
             ``drafted_by_position`` and ``accepted_by_position`` are the same by place in the
             draft; ``seconds`` were spent making them
``pace``     null where the length of drafts was given. ``lengths``: passes by the length of their
             draft, 0 first; ``parked``: passes without one because none would have paid;
             ``parked_now`` and ``reason``: the last pass; ``plain_tokens_per_second``: what
             decoding without drafts would have yielded, beside as many other answers,
             ``gain``: 0.46 is 46 % faster than that, both null while not known;
             ``calibration``: a list of what the drafter ``stated`` on average, the share that was
             ``accepted``, and of how many ``tokens``, since the pair was loaded; ``seconds`` were
             spent deciding
"""

from __future__ import annotations

from typing import Final

from gemma_local.engine.commands import DRAFT_MAX, LOOKUP_MAX
from gemma_local.engine.messages import PaceTally, SourceTally, Tally
from gemma_local.engine.meter import MTP
from gemma_local.models.pocket import ABOUT_SPEED, is_pocket

_LONG: Final = (range(17, 33), range(33, LOOKUP_MAX + 1))
_DIGITS: Final = 6
_MS: Final = 1e3


def gain(tally: Tally) -> float | None:
    """How much faster than plain decoding in the same company: 0.46 is 46 % faster; None if not
    known."""
    plain = tally.pace.plain_speed if tally.pace is not None else None
    return tally.tokens_per_second / plain - 1 if plain and tally.decoded_tokens else None


def parked_share(pace: PaceTally) -> float:
    """Passes without a draft because none would have paid, of all, 0 to 1."""
    passes = sum(pace.lengths)
    return pace.parked / passes if passes else 0.0


def acceptance(source: SourceTally) -> float | None:
    """accepted / drafted, None when nothing was drafted."""
    return source.accepted / source.drafted if source.drafted else None


def drafting_keys(tally: Tally) -> dict[str, object]:
    """The keys above, in that order."""
    return {
        "sources": [_source(source) for source in tally.sources],
        "pace": None if tally.pace is None else _pace(tally, tally.pace),
    }


def _source(source: SourceTally) -> dict[str, object]:
    return {
        "name": source.name,
        "drafts": source.drafts,
        "drafted": source.drafted,
        "accepted": source.accepted,
        "acceptance": _rounded(acceptance(source)),
        "drafted_by_position": list(source.drafted_by_position),
        "accepted_by_position": list(source.accepted_by_position),
        "seconds": _rounded(source.seconds),
    }


def _pace(tally: Tally, pace: PaceTally) -> dict[str, object]:
    return {
        "lengths": list(pace.lengths),
        "parked": pace.parked,
        "parked_now": pace.parked_now,
        "reason": pace.reason,
        "plain_tokens_per_second": _rounded(pace.plain_speed),
        "gain": _rounded(gain(tally)),
        "calibration": [
            {"stated": _rounded(stated), "accepted": _rounded(accepted), "tokens": tokens}
            for stated, accepted, tokens in pace.calibration
        ],
        "seconds": _rounded(pace.seconds),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def drafting_lines(tally: Tally, model: str = "") -> list[str]:
    """The same for a person, as far as there is something to say. ``model`` is what the target
    calls itself (`Ready.name`)."""
    lines = [positions_line(tally), _sources_line(tally)]
    if tally.pace is not None:
        lines += [_lengths_line(tally.pace), _calibration_line(tally.pace), _pace_line(tally)]
    if is_pocket(model) and tally.drafted:
        lines.append(f"this is the small guide: {ABOUT_SPEED}")
    return [line for line in lines if line]


def spans(longest: int) -> list[range]:
    """Numbers of tokens up to ``longest``, large ones together: so long are only drafts that were
    found in the text."""
    single = [range(n, n + 1) for n in range(min(longest, DRAFT_MAX) + 1)]
    return [*single, *(span for span in _LONG if span.start <= longest)]


def span_name(span: range) -> str:
    """ "3", "17-32"."""
    return str(span.start) if len(span) == 1 else f"{span.start}-{span.stop - 1}"


def by_place(tally: Tally) -> list[tuple[str, int, int]]:
    """By place in the draft, counted from 1: its name, tokens accepted, and how many of them there
    were; late places together."""
    found = []
    for span in spans(len(tally.drafted_by_position))[1:]:
        places = slice(span.start - 1, span.stop - 1)
        drafted = sum(tally.drafted_by_position[places])
        if drafted:
            found.append((span_name(span), sum(tally.accepted_by_position[places]), drafted))
    return found


def by_length(pace: PaceTally) -> list[tuple[str, int]]:
    """By length of the draft: its name, and how many passes had one; long ones together."""
    counts = (
        (span, sum(pace.lengths[span.start : span.stop])) for span in spans(len(pace.lengths))
    )
    return [(span_name(span), count) for span, count in counts if count]


def positions_line(tally: Tally) -> str:
    """Acceptance by place in the draft, empty when nothing was drafted."""
    if not tally.drafted:
        return ""
    shares = "  ".join(
        f"{name}: {accepted / drafted:.0%} of {drafted}"
        for name, accepted, drafted in by_place(tally)
    )
    return f"accepted by position  {shares}"


def _sources_line(tally: Tally) -> str:
    """Who drafted what; the drafter alone would only repeat what the other lines say."""
    found = [source for source in tally.sources if source.drafted]
    if [source.name for source in found] == [MTP]:
        return ""
    shares = "  ".join(f"{source.name}: {share_of(source)}" for source in found)
    return f"accepted by source  {shares}" if found else ""


def share_of(source: SourceTally) -> str:
    """ "71% of 120", a dash where nothing was drafted."""
    share = acceptance(source)
    return "-" if share is None else f"{share:.0%} of {source.drafted}"


def _lengths_line(pace: PaceTally) -> str:
    passes = "  ".join(f"{name}: {count}" for name, count in by_length(pace))
    return f"passes by length of the draft  {passes}" if passes else ""


def _calibration_line(pace: PaceTally) -> str:
    """What the drafter stated, and what came of it; empty where it stated nothing."""
    rows = "  ".join(
        f"{stated:.0%}: {accepted:.0%} of {tokens}" for stated, accepted, tokens in pace.calibration
    )
    return f"accepted where the drafter stated  {rows}" if rows else ""


def _pace_line(tally: Tally) -> str:
    pace, faster = tally.pace, gain(tally)
    assert pace is not None
    parts = []
    if faster is not None:
        parts.append(f"{faster:+.0%} to plain decoding at {pace.plain_speed:.1f} tokens/s")
    passes = sum(pace.lengths)
    if passes:
        parked = f"parked {parked_share(pace):.0%}"
        parts.append(f"{parked} ({pace.reason})" if pace.parked and pace.reason else parked)
        parts.append(f"decided in {pace.seconds / passes * _MS:.2f} ms a pass")
    return " · ".join(parts)
