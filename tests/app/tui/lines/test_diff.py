"""Changes of files as they are painted."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.lines.changed_parts import changed_parts
from gemma_local.app.tui.lines.diff import render_diff
from gemma_local.app.tui.lines.diff_notes import comparable, notes_of
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.line_diff import SMALL, line_diff
from tests.app.tui.lines.looks import PALETTE, copied, painted, texts, widths

BEFORE = "".join(f"line {i}\n" for i in range(1, 21))


def lines_of(before: str | None, after: str | None, most: int | None = None) -> list[Line]:
    return render_diff(FileDiff("a.py", before, after), 40, PALETTE, ASCII, most=most)


def screen(before: str | None, after: str | None, most: int | None = None) -> list[str]:
    return painted(lines_of(before, after, most))


def test_changes_have_lines_around_them() -> None:
    after = BEFORE.replace("line 5\n", "line five\n").replace("line 19\n", "")
    assert screen(BEFORE, after) == [
        "a.py  +1  -2",
        " 2   line 2",
        " 3   line 3",
        " 4   line 4",
        " 5 - line 5",
        " 5 + line five",
        " 6   line 6",
        " 7   line 7",
        " 8   line 8",
        "...",
        "16   line 16",
        "17   line 17",
        "18   line 18",
        "19 - line 19",
        "19   line 20",
    ]


def test_numbers_and_signs_are_not_copied_and_the_ground_is_filled() -> None:
    lines = lines_of("a\n", "b = 1\n")[1:]
    assert copied(lines) == "a\nb = 1"
    assert all(line.cells == 40 for line in lines)
    grounds = [{s.style.bgcolor for s in line.segments if s.style} for line in lines]
    assert PALETTE.removed.bgcolor in grounds[0] and PALETTE.added.bgcolor in grounds[1]


def test_changed_words_are_marked() -> None:
    line = lines_of("x = one + two\n", "x = one + three\n")[2]
    marked = [
        s.text for s in line.segments if s.style and s.style.bgcolor == PALETTE.added_part.bgcolor
    ]
    assert "".join(marked) == "three"
    assert changed_parts("a b c", "x y z") == ([], [])
    assert changed_parts("f(one)", "f(one, two)") == ([], [(5, 10)])


def test_code_has_its_colours() -> None:
    line = lines_of(None, "def f(): return 'x'\n")[2]
    assert len({s.style.color for s in line.segments if s.style and s.text.strip()}) > 3


@pytest.mark.parametrize(
    ("before", "after", "notes"),
    [
        (None, "a\n", ["new file"]),
        (None, "", ["new file, empty"]),
        (None, "a", ["new file", "no newline at the end"]),
        ("a\n", None, ["deleted"]),
        ("a\n", "a\n", ["no change"]),
        ("a\n", "b", ["no newline at the end any more"]),
        ("a", "b", ["no newline at the end"]),
        ("a", "a\n", ["newline at the end added"]),
        ("", "a", ["no newline at the end"]),
        ("a\r\nb\r\n", "a\nb\n", ["line ends: CRLF become LF"]),
        ("a\nb\n", "a\r\nb\n", ["line ends: LF become mixed"]),
        ("a\n", "\ufeffa\n", ["byte order mark added"]),
        ("\ufeffa\n", "a\n", ["byte order mark removed"]),
    ],
)
def test_what_lines_do_not_say_is_said(
    before: str | None, after: str | None, notes: list[str]
) -> None:
    assert notes_of(FileDiff("a", before, after)) == notes


def test_line_ends_that_change_everywhere_are_not_a_change_of_every_line() -> None:
    assert screen("a\r\nb\r\n", "a\nc\n") == [
        "a.py  +1  -1",
        "line ends: CRLF become LF",
        "1   a",
        "2 - b",
        "2 + c",
    ]
    assert comparable(FileDiff("a", "a\r\nb\n", "a\nb\r\nc\n")) == (["a\r", "b"], ["a", "b\r", "c"])


def test_what_is_not_text_is_not_shown() -> None:
    assert screen("a\0b", "c") == ["a.py", "not text: it is not shown"]


def test_only_so_many_lines() -> None:
    shown = screen(None, BEFORE, most=3)
    assert shown[2:] == [" 1 + line 1", " 2 + line 2", " 3 + line 3", "... 17 more lines"]
    assert screen("a\n", "b\n", most=1)[1:] == ["1 - a", "... 1 more line"]
    assert len(screen("a\nb\n", "c\nd\n", most=3)) == 5


def test_control_characters_in_paths_and_lines_are_seen() -> None:
    diff = FileDiff("a\x1b[2J\n.py", "x\n", "\x1b[31m\r\u202e\ty\n")
    text = "\n".join(painted(render_diff(diff, 60, PALETTE, ASCII)))
    assert "\x1b" not in text and "\r" not in text and "\u202e" not in text
    assert "a?[2J?.py" in text


def test_a_huge_change_does_not_take_for_ever() -> None:
    before = [f"{i % 7}" for i in range(60_000)]
    after = [*before[:100], "new", *before[200:30_000], "other", *before[30_500:]]
    stretches = line_diff(before, after)
    assert [s for s in stretches if s.is_same]
    assert stretches[0].is_same and stretches[-1].is_same
    wholly = line_diff([f"a{i}" for i in range(50_000)], [f"b{i}" for i in range(50_000)])
    assert [s.is_same for s in wholly] == [False]


few = st.lists(st.sampled_from("abcde"), max_size=30)


@settings(max_examples=150, deadline=None)
@given(few, few, st.booleans())
def test_stretches_are_both_texts(old: list[str], new: list[str], anchored: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if anchored:
            patch.setattr("gemma_local.app.tui.lines.line_diff.SMALL", 4)
        stretches = line_diff(old, new)
    assert SMALL > 4
    assert [c for s in stretches for c in old[s.old_start : s.old_end]] == old
    assert [c for s in stretches for c in new[s.new_start : s.new_end]] == new
    for s in stretches:
        assert (old[s.old_start : s.old_end] == new[s.new_start : s.new_end]) == s.is_same
    for one, other in pairwise(stretches):
        assert not (one.is_same and other.is_same)


@settings(max_examples=100, deadline=None)
@given(texts, texts, widths, st.none() | st.integers(0, 10))
def test_no_line_is_too_wide(before: str, after: str, width: int, most: int | None) -> None:
    before, after = before.replace(" ", "\n"), after.replace(" ", "\n")
    lines = render_diff(FileDiff("a.py", before, after), width, PALETTE, ASCII, most=most)
    assert all(line.cells <= width for line in lines)
