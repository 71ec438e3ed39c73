"""Which of the known names a model meant by one that does not exist."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_SYNONYMS: Final = (
    "path file filename filepath file_name target_file absolute_path relative_path",
    "path dir directory folder",
    "command cmd shell script bash code",
    "pattern regex regexp query search",
    "old old_string old_str old_text search find",
    "new new_string new_str new_text replace replacement",
    "content contents text body data file_text",
    "limit count max max_results max_lines num_lines",
    "all replace_all allow_multiple every",
    "glob include include_pattern file_pattern",
    "items todos tasks todo list plan",
    "offset start start_line line from",
    "url uri link address",
    "timeout timeout_seconds timeout_s",
    "question query prompt",
)
"""Names of one meaning in the tools that models were trained with."""

_GROUPS: Final = tuple(frozenset(n.replace("_", "") for n in line.split()) for line in _SYNONYMS)


def closest_name(name: str, known: Collection[str]) -> str | None:
    """The known name that is spelled most like ``name``; None if none or several are.

    Case, underscores, hyphens and a name space in front do not count. Else at most two letters may
    differ, and no more than one in three: ``ls`` must not become ``rm``.
    """
    return _spelled_alike(name, known) or _one_near(name, known)


def closest_key(key: str, known: Collection[str]) -> str | None:
    """As ``closest_name`` for an argument's key; a synonym is as good as another spelling."""
    spelled = _spelled_alike(key, known)
    if spelled is not None:
        return spelled
    plain = _plain(key)
    meant = {name for group in _GROUPS if plain in group for name in known if _plain(name) in group}
    return meant.pop() if len(meant) == 1 else None if meant else _one_near(key, known)


def edits(one: str, other: str, most: int) -> int:
    """Letters to insert, drop, change or swap with a neighbour (optimal string alignment) to make
    ``other`` of ``one``; ``most`` + 1 if they are more than ``most``."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        last, before, row = before, row, [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _spelled_alike(name: str, known: Collection[str]) -> str | None:
    for spelling in (_plain(name), _plain(name.replace(":", ".").rpartition(".")[2])):
        alike = [other for other in known if _plain(other) == spelling]
        if len(alike) == 1:
            return alike[0]
    return None


def _one_near(name: str, known: Collection[str]) -> str | None:
    most = min(2, len(name) // 3)
    near = {other: edits(name.lower(), other.lower(), most) for other in known}
    best = min(near.values(), default=most + 1)
    found = [other for other, distance in near.items() if distance == best]
    return found[0] if best <= most and len(found) == 1 else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
