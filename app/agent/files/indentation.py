"""Lines that a model wrote, moved to the depth at which the file has them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import combinations
from typing import Final

_LONG: Final = 1_000
"""Lines beyond which only those equal at both ends are told from the others."""
_USUAL: Final = 4


def shifted(asked: Sequence[str], here: Sequence[str], wanted: Sequence[str]) -> list[str] | None:
    """``wanted`` as it belongs in the file, where ``here`` stands for what the model wrote as
    ``asked``, line by line.

    Lines that the model did not change stay as the file has them. None if the model's depths say
    nothing certain about the file's.
    """
    depths: dict[str, str] = {}
    for line, real in zip(asked, here, strict=True):
        if line.strip() and real.strip():
            depth = depth_of(real)
            if depths.setdefault(depth_of(line), depth) != depth:
                return None
    made: list[str] = []
    for is_equal, (first, last), (new_first, new_last) in _parts(asked, wanted):
        if is_equal:
            made += here[first:last]
            continue
        for line in wanted[new_first:new_last]:
            moved = _moved(line, depths)
            if moved is None:
                return None
            made.append(moved)
    return made


def depth_of(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


_Part = tuple[bool, tuple[int, int], tuple[int, int]]


def _parts(old: Sequence[str], new: Sequence[str]) -> list[_Part]:
    """Which lines are equal and which are not, in order."""
    one, other = [line.rstrip() for line in old], [line.rstrip() for line in new]
    if len(one) <= _LONG and len(other) <= _LONG:
        matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
        return [
            (tag == "equal", (i, i_end), (j, j_end))
            for tag, i, i_end, j, j_end in matcher.get_opcodes()
        ]
    most = min(len(one), len(other))
    front = next((i for i in range(most) if one[i] != other[i]), most)
    most -= front
    back = next((i for i in range(most) if one[-1 - i] != other[-1 - i]), most)
    ends = len(one) - back, len(other) - back
    return [
        (True, (0, front), (0, front)),
        (False, (front, ends[0]), (front, ends[1])),
        (True, (ends[0], len(one)), (ends[1], len(other))),
    ]


def _moved(line: str, depths: dict[str, str]) -> str | None:
    if not line.strip() or not depths or all(one == other for one, other in depths.items()):
        return line
    depth, body = depth_of(line), line.lstrip()
    if depth in depths:
        return depths[depth] + body
    shallower = max((known for known in depths if depth.startswith(known)), key=len, default=None)
    if shallower is not None:
        more = _converted(depth[len(shallower) :], depths)
        return None if more is None else depths[shallower] + more + body
    deeper = min((known for known in depths if known.startswith(depth)), key=len, default=None)
    if deeper is None:
        return None
    less = _converted(deeper[len(depth) :], depths)
    if less is None or not depths[deeper].endswith(less):
        return None
    return depths[deeper].removesuffix(less) + body


def _converted(blanks: str, depths: dict[str, str]) -> str | None:
    """Blanks of the model's as the file has them: tabs for spaces or the reverse, or more of them
    a step."""
    steps = {_step(one, other) for one, other in combinations(depths.items(), 2)} - {None}
    if len(steps) > 1:
        return None
    if step := next(iter(steps), None):
        theirs, ours = step
    else:
        is_tabs = any("\t" in depth for depth in depths.values())
        if not any(depths.values()) or is_tabs == ("\t" in blanks):
            return blanks
        spaces = " " * (_USUAL if len(blanks) % _USUAL == 0 or is_tabs is False else 2)
        theirs, ours = (spaces, "\t") if is_tabs else ("\t", spaces)
    count, rest = divmod(len(blanks), len(theirs))
    return ours * count if not rest and theirs * count == blanks else None


def _step(one: tuple[str, str], other: tuple[str, str]) -> tuple[str, str] | None:
    """By how much the model went deeper between two depths, and by how much the file: the smallest
    such step. None if these two tell nothing."""
    (theirs, ours), (deeper, deeper_ours) = sorted((one, other), key=lambda pair: len(pair[0]))
    if not deeper.startswith(theirs) or not deeper_ours.startswith(ours):
        return None
    more, more_ours = deeper[len(theirs) :], deeper_ours[len(ours) :]
    if len(set(more)) != 1 or len(set(more_ours)) != 1:
        return None
    parts = _common_divisor(len(more), len(more_ours))
    return more[: len(more) // parts], more_ours[: len(more_ours) // parts]


def _common_divisor(one: int, other: int) -> int:
    while other:
        one, other = other, one % other
    return one
