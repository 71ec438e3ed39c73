"""Charts: as wide as they were asked to be, and true to their numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.segment import Segment

from gemma_local.app.tui.charts.bar import bar_text
from gemma_local.app.tui.charts.bars import Bar, bars
from gemma_local.app.tui.charts.columns import columns, scale_top
from gemma_local.app.tui.charts.fit import fit
from gemma_local.app.tui.charts.ink import Ink
from gemma_local.app.tui.charts.page import Page
from gemma_local.app.tui.charts.sparkline import sparkline
from gemma_local.app.tui.charts.stack import Part, legend, percent, pointer, shares, stack
from gemma_local.app.tui.glyphs import ASCII, UNICODE, Glyphs
from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.line import Line

INK = Ink()
both = pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
amounts = st.lists(st.floats(0, 1e6), min_size=1, max_size=8)
anything = st.text(max_size=40)


def painted(segments: tuple[Segment, ...]) -> str:
    return Line(segments).text


def test_bars_in_eighths_of_a_cell() -> None:
    assert bar_text(0.5, 4, UNICODE) == ("██", "░░")
    assert bar_text(0.53125, 4, UNICODE) == ("██▏", "░")
    assert bar_text(0.5, 4, ASCII) == ("##", "..")
    assert bar_text(7.0, 3, UNICODE) == ("███", "")
    assert bar_text(-1.0, 3, UNICODE) == ("", "░░░")


@both
def test_a_little_shows_and_nearly_all_is_not_all(glyphs: Glyphs) -> None:
    assert bar_text(0.0001, 10, glyphs)[0]
    assert bar_text(0.9999, 10, glyphs) != bar_text(1.0, 10, glyphs)


@settings(deadline=None)
@given(st.floats(-1, 2), st.integers(0, 120), st.sampled_from([UNICODE, ASCII]))
def test_a_bar_is_as_wide_as_it_was_asked_to_be(share: float, width: int, glyphs: Glyphs) -> None:
    filled, empty = bar_text(share, width, glyphs)
    assert cells(filled + empty) == width


@both
@pytest.mark.parametrize("width", [40, 80, 120])
def test_bars_stand_in_columns_with_their_figures(width: int, glyphs: Glyphs) -> None:
    rows = [Bar("1st", 0.84, "84 %", "of 120"), Bar("2nd", 0.07, "7 %", "of 1,200")]
    lines = bars(rows, width, INK, glyphs)
    first, second = (line.text for line in lines)
    assert first.index("84 %") == second.index(" 7 %")
    assert first.index("of 120") == second.index("of 1,200")
    assert all(line.cells <= width for line in lines)


def test_what_goes_first_is_the_note_and_last_the_figure() -> None:
    row = [Bar("a label", 0.5, "50 %", "a note of some length")]
    texts = {width: bars(row, width, INK, UNICODE)[0].text for width in (60, 30, 14)}
    assert "note" in texts[60] and "█" in texts[60]
    assert "note" not in texts[30] and "█" in texts[30]
    assert "█" not in texts[14] and "50 %" in texts[14]


@settings(deadline=None)
@given(st.lists(st.tuples(anything, st.floats(0, 1)), max_size=6), st.integers(8, 200))
def test_bars_of_anything_are_never_too_wide(rows: list[tuple[str, float]], width: int) -> None:
    made = [Bar(label, share, f"{share:.0%}", "a note") for label, share in rows]
    assert all(line.cells <= width for line in bars(made, width, INK, UNICODE))


def test_columns_and_their_scale() -> None:
    lines = columns([5, 10, 20, 0], 40, 5, INK, UNICODE, under=("first", "last"))
    assert [line.text.rstrip() for line in lines] == [
        "20         ███",
        "           ███",
        "10     ▄▄▄ ███",
        "   ▂▂▂ ███ ███",
        " 0 ███ ███ ███",
        "   ───────────────",
        "   first      last",
    ]


def test_columns_of_few_rows_have_no_middle_figure() -> None:
    lines = columns([5, 10], 40, 2, INK, UNICODE)
    assert [line.text.split(" ")[0] for line in lines[:1]] == ["10"]
    assert lines[1].text.startswith(" 0 ")


def test_more_values_than_fit_show_the_last() -> None:
    lines = columns([100.0] * 50 + [10.0] * 30, 32, 4, INK, UNICODE)
    assert lines[0].text.lstrip().startswith("10 ███")
    assert max(line.cells for line in lines) <= 32
    assert columns([], 40, 5, INK, UNICODE) == []


@settings(deadline=None)
@given(amounts, st.integers(10, 200), st.integers(1, 9), st.sampled_from([UNICODE, ASCII]))
def test_columns_are_never_too_wide(
    values: list[float], width: int, height: int, glyphs: Glyphs
) -> None:
    lines = columns(values, width, height, INK, glyphs, under=("from", "to"))
    assert len(lines) == height + 2
    assert all(line.cells <= width for line in lines)


@settings(deadline=None)
@given(st.floats(0.1, 1e9))
def test_the_top_of_a_scale_is_near_and_not_below(most: float) -> None:
    assert most <= scale_top(most) <= most * 1.51


def test_the_top_of_a_scale_of_nothing() -> None:
    assert scale_top(0.0) == 0.1
    assert scale_top(float("inf")) == 0.1


def test_sparklines() -> None:
    assert sparkline([1, 2, 4, 8], 6, UNICODE) == "  ▁▂▄█"
    assert sparkline([9, 9, 8, 0], 2, UNICODE) == "█ "
    assert sparkline([], 3, UNICODE) == "   "
    assert sparkline([0, 0], 2, UNICODE) == "  "
    assert sparkline([1, 2], 0, UNICODE) == ""
    assert sparkline([7, 7], 3, ASCII).isascii()


PARTS = [Part("system", 10, "10"), Part("tools", 40, "40"), Part("free", 50, "50", is_free=True)]


def test_a_stack_and_its_legend() -> None:
    assert painted(stack(PARTS, 100, 20, INK, UNICODE)) == "██▓▓▓▓▓▓▓▓░░░░░░░░░░"
    assert painted(stack(PARTS, 100, 20, INK, ASCII)) == "##========.........."
    assert [line.text for line in legend(PARTS, 100, 40, INK, UNICODE)] == [
        "█ system  10   10 %",
        "▓ tools   40   40 %",
        "░ free    50   50 %",
    ]


def test_neighbours_differ_without_colour() -> None:
    many = [Part(str(n), 10, "10") for n in range(6)]
    bar = painted(stack(many, 60, 6, INK, ASCII))
    assert all(a != b for a, b in pairwise(bar))


@settings(deadline=None)
@given(amounts, st.integers(0, 150))
def test_shares_fill_the_room_and_show_all_that_is_there(values: list[float], room: int) -> None:
    whole = sum(values)
    given_cells = shares(values, whole, room)
    assert all(count >= 0 for count in given_cells)
    present = sum(value > 0 and whole > 0 for value in values)
    if whole > 0 and room >= present and all(v / whole * room > 1e-9 for v in values if v):
        assert sum(given_cells) == room
        for value, count in zip(values, given_cells, strict=True):
            assert bool(value) == bool(count)
            assert abs(count - value / whole * room) <= present


def test_a_pointer_stays_on_the_line() -> None:
    assert pointer(50, 100, "here", 20, INK, UNICODE).text == " " * 10 + "⇡ here"
    assert pointer(90, 100, "here", 20, INK, UNICODE).text == " " * 13 + "here ⇡"
    for at in range(-10, 130):
        for width in (1, 5, 20):
            assert pointer(at, 100, "a long text", width, INK, UNICODE).cells <= max(width, 2)


def test_percents() -> None:
    assert [percent(share) for share in (0, 0.001, 0.126, 1)] == ["0 %", "<1 %", "13 %", "100 %"]


@settings(deadline=None)
@given(anything, st.integers(0, 30), st.sampled_from([UNICODE, ASCII]))
def test_labels_fit_whatever_they_hold(text: str, width: int, glyphs: Glyphs) -> None:
    made = fit(text, width, glyphs)
    assert Segment(made).cell_length == cells(made) == width
    assert "\n" not in made and "\x1b" not in made


def test_labels_are_cut_with_a_mark() -> None:
    assert fit("a long label", 8, UNICODE) == "a long …"
    assert fit("a long label", 8, ASCII) == "a lon..."
    assert fit("日本語", 4, UNICODE) == "日… "


@pytest.mark.parametrize("width", [16, 17, 40, 47, 48, 80, 100])
def test_nothing_on_a_page_is_too_wide(width: int) -> None:
    page = Page(width, INK, UNICODE)
    page.heading("A heading", "and what it is about")
    page.text("Running text that has to be wrapped somewhere, andonewordthatisverylongindeed" * 2)
    page.fact("a name", "a fact of some length", "and a note that may not fit beside it at all")
    page.fact("a name that is too long for its column", "x" * 130)
    page.table(("one", "another", "third"), [("1", "1,000,000", "x" * 40), ("2", "2", "3")])
    assert all(line.cells <= width for line in page.lines)


def test_a_narrow_page_puts_facts_under_their_names() -> None:
    wide, narrow = Page(80, INK, UNICODE), Page(40, INK, UNICODE)
    for page in (wide, narrow):
        page.fact("threads", "8", "of 16")
    assert [line.text for line in wide.lines] == ["threads           8  of 16"]
    assert [line.text.rstrip() for line in narrow.lines] == ["threads", "  8  of 16"]


def test_tables_drop_columns_that_find_no_room() -> None:
    rows = [("1", "2", "333333"), ("1,000,000", "22", "4")]
    page, narrow = Page(21, INK, UNICODE), Page(20, INK, UNICODE)
    page.table(("a", "bb", "cccc"), rows)
    narrow.table(("a", "bb", "cccc"), rows)
    assert [line.text for line in page.lines] == [
        "        a  bb    cccc",
        "        1   2  333333",
        "1,000,000  22       4",
    ]
    assert [line.text for line in narrow.lines] == [
        "        a  bb",
        "        1   2",
        "1,000,000  22",
    ]
