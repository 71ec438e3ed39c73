"""What was changed in a text, word by word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["same", "removed", "added"]

_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)*|\s+|[^\w\s]")
_MOST_WORK: Final = 4_000_000
"""Words before times words after; beyond that they are compared line by line."""


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text that stayed, went or came."""

    kind: Kind
    text: str


def words_diff(before: str, after: str) -> list[Run]:
    """The changes that make ``after`` of ``before``.

    All but what was added is ``before``, all but what was removed is ``after``. What was removed
    stands before what was added in its place.
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    runs = [Run("same", "".join(old[:start]))]
    runs += _compared(old[start : len(old) - end], new[start : len(new) - end])
    runs.append(Run("same", "".join(old[len(old) - end :])))
    return _tidied(runs)


def changes(runs: Sequence[Run]) -> int:
    """How many places were changed."""
    return sum(
        run.kind != "same" and (index == 0 or runs[index - 1].kind == "same")
        for index, run in enumerate(runs)
    )


def after_of(runs: Sequence[Run]) -> str:
    """The text with the changes made."""
    return "".join(run.text for run in runs if run.kind != "removed")


def before_of(runs: Sequence[Run]) -> str:
    """The text without the changes."""
    return "".join(run.text for run in runs if run.kind != "added")


def _compared(old: list[str], new: list[str]) -> list[Run]:
    if len(old) * len(new) > _MOST_WORK:
        old, new = _lines(old), _lines(new)
    if len(old) * len(new) > _MOST_WORK:
        return [Run("removed", "".join(old)), Run("added", "".join(new))]
    # Blanks are everywhere: as junk they follow the words beside them and cost no comparisons.
    matcher = difflib.SequenceMatcher(str.isspace, old, new, autojunk=False)
    runs: list[Run] = []
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            runs.append(Run("same", "".join(old[old_from:old_to])))
        else:
            runs.append(Run("removed", "".join(old[old_from:old_to])))
            runs.append(Run("added", "".join(new[new_from:new_to])))
    return runs


def _tidied(runs: Sequence[Run]) -> list[Run]:
    """Without empty runs, and changes with only blanks between them made into one."""
    tidy: list[Run] = []
    removed = added = ""
    for index, run in enumerate(runs):
        is_gap = run.text.isspace() and bool(removed or added)
        if run.kind == "removed":
            removed += run.text
        elif run.kind == "added":
            added += run.text
        elif run.text and is_gap and _changes_next(runs[index + 1 :]):
            removed += run.text
            added += run.text
        elif run.text:
            tidy += [Run("removed", removed), Run("added", added), run]
            removed = added = ""
    tidy += [Run("removed", removed), Run("added", added)]
    return [run for run in tidy if run.text]


def _changes_next(runs: Sequence[Run]) -> bool:
    following = next((run for run in runs if run.text), None)
    return following is not None and following.kind != "same"


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two texts begin with alike."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _lines(words: Sequence[str]) -> list[str]:
    return "".join(words).splitlines(keepends=True)
