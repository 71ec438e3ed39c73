"""Text broken into lines, and put together again."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from gemma_local.app.tui.lines.cells import cells, expand_tabs, fitting
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines.run import Run, parts, text_of
from gemma_local.app.tui.lines.shown import shown
from gemma_local.app.tui.lines.wrap import fold, wrap
from tests.app.tui.lines.looks import copied, painted, texts, widths, wild, words

PLAIN = Style()
BOLD = Style(bold=True)


def lines_of(text: str, width: int) -> list[Line]:
    return wrap([(text, PLAIN)], width)


def test_words_stay_whole_and_the_blank_is_remembered() -> None:
    lines = lines_of("the quick  brown fox", 10)
    assert painted(lines) == ["the quick", "brown fox"]
    assert [line.continues for line in lines] == [True, False]
    assert lines[0].joint == "  "


def test_a_long_word_is_broken_behind_a_seam_where_there_is_one() -> None:
    assert painted(lines_of("see /usr/share/dict/words", 12)) == [
        "see",
        "/usr/share/",
        "dict/words",
    ]
    assert painted(lines_of("a" * 25, 10)) == ["a" * 10, "a" * 10, "a" * 5]
    assert [line.joint for line in lines_of("a" * 25, 10)[:2]] == ["", ""]


def test_wide_characters_are_not_split_and_their_signs_do_not_begin_a_line() -> None:
    assert painted(lines_of("\u4f60\u597d\u4f60\u597d", 5)) == ["\u4f60\u597d", "\u4f60\u597d"]
    assert painted(lines_of("\u4f60\u597d\uff0c\u4f60", 4)) == ["\u4f60", "\u597d\uff0c", "\u4f60"]


def test_marks_stay_with_their_letter() -> None:
    assert painted(lines_of("ae\u0301\u0302i", 2)) == ["ae\u0301\u0302", "i"]


def test_line_ends_and_blank_lines_are_kept() -> None:
    lines = render_plain("one\n\n  two\n", 20, PLAIN)
    assert painted(lines) == ["one", "", "  two", ""]
    assert lines[1] == EMPTY
    assert not any(line.continues for line in lines)


def test_what_stands_before_is_decoration() -> None:
    lines = wrap([("one two three", PLAIN)], 8, first=[("* ", BOLD)], rest=[("  ", PLAIN)])
    assert painted(lines) == ["* one", "  two", "  three"]
    assert [line.lead for line in lines] == [2, 2, 2]
    assert copied(lines) == "one two three"


@settings(max_examples=150, deadline=None)
@given(texts | wild.map(shown), st.integers(2, 60))
def test_joining_the_lines_gives_back_the_text(text: str, width: int) -> None:
    lines = wrap([(text, PLAIN)], width)
    assert copied(lines) == text
    assert all(line.cells <= width for line in lines)


@given(words, widths)
def test_folding_loses_nothing(text: str, width: int) -> None:
    spans = fold(text, width, width - 3)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(cells(text[start:end]) <= width for start, end in spans)


@given(st.lists(st.tuples(words, st.sampled_from([PLAIN, BOLD])), max_size=6), st.data())
def test_parts_of_runs_are_parts_of_the_text(runs: list[Run], data: st.DataObject) -> None:
    text = text_of(runs)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    spans = list(pairwise(cuts))
    found = parts(runs, spans)
    assert [text_of(part) for part in found] == [text[start:end] for start, end in spans]
    bold = "".join(
        piece for part in parts(runs, [(0, len(text))]) for piece, its in part if its.bold
    )
    assert bold == "".join(piece for piece, style in runs if style.bold)


def test_rich_and_this_agree_about_joined_letters() -> None:
    line = wrap([("\u0dc1\u0dca\u200d\u0dbb\u0dd3", PLAIN)], 20)[0]
    assert line.cells == cells(line.text) == 2


@given(words, st.integers(1, 12))
def test_what_fits_is_as_much_as_fits(text: str, width: int) -> None:
    end, used = fitting(text, 0, width)
    assert used == cells(text[:end])
    assert used <= max(width, 2)
    assert end == len(text) or used + cells(text[end]) > width


def test_tabs_go_by_cells_line_by_line() -> None:
    assert expand_tabs("\u4f60\t|\n\t|", 4) == "\u4f60  |\n    |"
