"""What a change does to a file, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rich.style import Style

from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.changed_parts import changed_parts
from gemma_local.app.tui.lines.code import code_line
from gemma_local.app.tui.lines.diff_notes import comparable, notes_of
from gemma_local.app.tui.lines.highlight import highlight_for_path
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.line_diff import Stretch, line_diff
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines.run import Run, parts, text_of
from gemma_local.app.tui.lines.shown import shown_line
from gemma_local.app.tui.lines.wrap import wrap
from gemma_local.app.tui.palette import Palette

COLOURED_WHOLE: Final = 400
"""Lines of a file up to which all of it is coloured, so that a string over many lines is seen as
one; of longer ones only what is painted."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of one side or both: its number from 1, and the parts of it that differ."""

    sign: Literal["-", "+", " "]
    number: int
    text: str
    parts: tuple[tuple[int, int], ...] = ()


def render_diff(
    diff: FileDiff,
    width: int,
    palette: Palette,
    glyphs: Glyphs,
    *,
    context: int = 3,
    most: int | None = None,
) -> list[Line]:
    """A header, what there is to say about the file, and the changed lines with ``context`` lines
    around them; numbers and signs are decoration. Behind ``most`` lines of the file it says how
    many more there are."""
    if "\0" in (diff.before or "") or "\0" in (diff.after or ""):
        return [
            *_header(diff, None, width, palette, glyphs),
            *render_plain("not text: it is not shown", width, palette.muted),
        ]
    old, new = comparable(diff)
    stretches = line_diff(old, new)
    added = sum(s.new_end - s.new_start for s in stretches if not s.is_same)
    removed = sum(s.old_end - s.old_start for s in stretches if not s.is_same)
    lines = _header(diff, (added, removed), width, palette, glyphs)
    for note in notes_of(diff):
        lines += render_plain(note, width, palette.muted)
    hunks = list(_hunks(stretches, context))
    total = sum(_size(hunk) for hunk in hunks)
    left = total if most is None else most
    painter = _Painter(diff.path, old, new, width, palette, glyphs)
    for index, hunk in enumerate(hunks):
        if left <= 0:
            break
        if index:
            lines += render_plain(glyphs.ellipsis, width, palette.hunk)
        rows = list(_rows(hunk, old, new, left, ascii_only=glyphs is not UNICODE))
        lines += painter.lines(rows)
        left -= len(rows)
    if most is not None and total > most:
        rest = total - most
        said = f"{glyphs.ellipsis} {rest} more line{'s' if rest > 1 else ''}"
        lines += render_plain(said, width, palette.muted)
    return lines


def _header(
    diff: FileDiff, counts: tuple[int, int] | None, width: int, palette: Palette, glyphs: Glyphs
) -> list[Line]:
    path = shown_line(diff.path, ascii_only=glyphs is not UNICODE)
    runs: list[Run] = [(path, palette.text + palette.strong)]
    if counts is not None:
        added, removed = counts
        runs += [(f"  +{added}", palette.success)] if added else []
        runs += [(f"  -{removed}", palette.error)] if removed else []
    return wrap(runs, width)


def _hunks(stretches: Sequence[Stretch], context: int) -> Iterator[list[Stretch]]:
    """The stretches that differ, with the lines around them; those that are near each other
    together."""
    hunk: list[Stretch] = []
    for index, stretch in enumerate(stretches):
        if not stretch.is_same:
            hunk.append(stretch)
            continue
        size = stretch.old_end - stretch.old_start
        is_last = index + 1 == len(stretches)
        if hunk and not is_last and size <= 2 * context:
            hunk.append(stretch)
            continue
        if hunk:
            yield [*hunk, _cut(stretch, 0, min(context, size))]
        hunk = [] if is_last else [_cut(stretch, max(size - context, 0), size)]
    if hunk and not stretches[-1].is_same:
        yield hunk


def _cut(stretch: Stretch, start: int, end: int) -> Stretch:
    old, new = stretch.old_start, stretch.new_start
    return Stretch(True, old + start, old + end, new + start, new + end)


def _size(hunk: Sequence[Stretch]) -> int:
    """Rows of a hunk."""
    return sum(
        s.new_end - s.new_start + (0 if s.is_same else s.old_end - s.old_start) for s in hunk
    )


def _rows(
    hunk: Sequence[Stretch], old: list[str], new: list[str], most: int, *, ascii_only: bool
) -> Iterator[_Row]:
    """The first ``most`` rows of a hunk, fit to be painted."""
    for stretch in hunk:
        added = [
            shown_line(line, ascii_only=ascii_only)
            for line in new[stretch.new_start : min(stretch.new_end, stretch.new_start + most)]
        ]
        if stretch.is_same:
            yield from (_Row(" ", n, text) for n, text in enumerate(added, stretch.new_start + 1))
            most -= len(added)
            continue
        removed = [
            shown_line(line, ascii_only=ascii_only)
            for line in old[stretch.old_start : min(stretch.old_end, stretch.old_start + most)]
        ]
        added = added[: most - len(removed)]
        # Line by line, where as many go as come: otherwise which belong together is a guess.
        is_one_for_one = stretch.old_end - stretch.old_start == stretch.new_end - stretch.new_start
        pairs = zip(removed, added, strict=False) if is_one_for_one else ()
        marks = [changed_parts(one, other) for one, other in pairs]
        marks += [([], [])] * (max(len(removed), len(added)) - len(marks))
        for index, text in enumerate(removed):
            yield _Row("-", stretch.old_start + index + 1, text, tuple(marks[index][0]))
        for index, text in enumerate(added):
            yield _Row("+", stretch.new_start + index + 1, text, tuple(marks[index][1]))
        most -= len(removed) + len(added)


class _Painter:
    """Paints rows of one file."""

    def __init__(
        self,
        path: str,
        old: list[str],
        new: list[str],
        width: int,
        palette: Palette,
        glyphs: Glyphs,
    ) -> None:
        self._path = path
        self._width = width
        self._palette = palette
        self._glyphs = glyphs
        self._digits = len(str(max(len(old), len(new))))
        self._grounds: dict[str, tuple[Style, Style, Style]] = {
            "-": (palette.removed, palette.removed_part, palette.error),
            "+": (palette.added, palette.added_part, palette.success),
            " ": (palette.code_block, palette.code_block, palette.faint),
        }
        self._sides = {"-": old, "+": new, " ": new}

    def lines(self, rows: Sequence[_Row]) -> list[Line]:
        """The rows of a hunk."""
        lines: list[Line] = []
        coloured = {sign: self._coloured(sign, rows) for sign in self._grounds}
        for row in rows:
            ground, part, number = self._grounds[row.sign]
            numbered = f"{row.number:>{self._digits}} {row.sign}"
            lines += code_line(
                _marked(next(coloured[row.sign]), row.parts, part),
                self._width,
                ground,
                self._palette,
                self._glyphs,
                first=((numbered, ground + Style(color=number.color, dim=number.dim)),),
                rest=((" " * len(numbered), ground),),
            )
        return lines

    def _coloured(self, sign: str, rows: Sequence[_Row]) -> Iterator[list[Run]]:
        """The runs of the rows with this sign."""
        ground, _, _ = self._grounds[sign]
        its = [row for row in rows if row.sign == sign]
        if ground.bgcolor is None and sign != " ":
            # The terminal's own colours say that it is added or removed, and can't say more.
            return iter([[(row.text, ground)] for row in its])
        palette = replace(self._palette, code_block=ground)
        side = self._sides[sign]
        if len(side) > COLOURED_WHOLE:
            code = "\n".join(row.text for row in its)
            return iter(highlight_for_path(code, self._path, palette))
        ascii_only = self._glyphs is not UNICODE
        code = "\n".join(shown_line(line, ascii_only=ascii_only) for line in side)
        whole = highlight_for_path(code, self._path, palette)
        return iter([whole[row.number - 1] for row in its])


def _marked(runs: list[Run], marks: Sequence[tuple[int, int]], style: Style) -> list[Run]:
    """The runs with ``style`` behind the parts of them between ``marks``."""
    if not marks:
        return runs
    over = Style(bgcolor=style.bgcolor) if style.bgcolor is not None else style
    result: list[Run] = []
    at = 0
    for start, end in (*marks, (len(text_of(runs)),) * 2):
        plain, marked = parts(runs, [(at, start), (start, end)])
        result += plain + [(text, its + over) for text, its in marked]
        at = end
    return result
