"""Which fields are on the line, and how long each is: the most important stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemma_local.app.tui.status.fields import Field, Form

GAP = 2
"""Cells between two fields."""
_GONE = -1


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The forms at the left and at the right end of a line, and the blank cells between."""

    left: tuple[Form, ...]
    right: tuple[Form, ...]
    between: int


def arrange(fields: Sequence[Field], width: int) -> Arrangement:
    """The fields in ``width`` cells.

    All are written in full if there is room. If not, the least important become shorter one after
    another, then leave one after another; and what room is left then makes the most important
    longer again. A form is written whole or not at all.
    """
    widths = [[form.width for form in field.forms] for field in fields]
    chosen = [0] * len(fields)
    by_rank = sorted(range(len(fields)), key=lambda i: fields[i].rank)
    # Every field with the gap behind it, the last one as well.
    taken, room = sum(forms[0] + GAP for forms in widths), width + GAP
    for i in reversed(by_rank):
        while taken > room and chosen[i] < len(widths[i]) - 1:
            chosen[i] += 1
            taken += widths[i][chosen[i]] - widths[i][chosen[i] - 1]
    for i in reversed(by_rank):
        if taken > room:
            taken -= widths[i][chosen[i]] + GAP
            chosen[i] = _GONE
    for i in by_rank:
        while chosen[i] > 0:
            longer = widths[i][chosen[i] - 1] - widths[i][chosen[i]]
            if taken + longer > room:
                break
            chosen[i] -= 1
            taken += longer
    shown = [
        (field.at_right, field.forms[form])
        for field, form in zip(fields, chosen, strict=True)
        if form != _GONE
    ]
    left = tuple(form for at_right, form in shown if not at_right)
    right = tuple(form for at_right, form in shown if at_right)
    # Between the two ends there is a gap as well, unless one of them is empty.
    gap = GAP if left and right else 0
    return Arrangement(left, right, max(room - taken, 0) + gap if shown else width)
