"""Markdown as it is painted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.tui.glyphs import ASCII, UNICODE
from gemma_local.app.tui.lines.code import COPY
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.markdown import CodeBlock, code_blocks, render_markdown
from tests.app.tui.lines.looks import PALETTE, copied, painted, widths, wild


def lines_of(source: str, width: int = 40) -> list[Line]:
    return render_markdown(source, width, PALETTE, ASCII)


def screen(source: str, width: int = 40) -> list[str]:
    return painted(lines_of(source, width))


def test_blocks_stand_apart_by_one_line() -> None:
    assert screen("# Title\ntext\n\n\n\nmore\n***\n") == [
        "Title",
        "",
        "text",
        "",
        "more",
        "",
        "-" * 40,
    ]


def test_emphasis_is_style_and_signs_are_gone() -> None:
    (line,) = lines_of("a **b** *c* ~~d~~ `e*`")
    assert line.text == "a b c d e*"
    styles = {text.strip(): style for text, style, _ in line.segments if style and text.strip()}
    assert styles["b"].bold and styles["c"].italic and styles["d"].strike
    assert styles["e*"].color == PALETTE.code.color


def test_markup_of_other_kinds_stays_text() -> None:
    text = "[bold]x[/bold] :smile: $a_b$ {{x}} [/] \\["
    assert screen(text) == ["[bold]x[/bold] :smile: $a_b$ {{x}} [/] ["]


def test_lists_nest_and_hang() -> None:
    source = "1. one\n   - two two two two\n     + three\n9. four\n\n- [ ] do\n- [x] done [ ]\n"
    assert screen(source, 16) == [
        "1. one",
        "   - two two two",
        "     two",
        "     + three",
        "2. four",
        "",
        "[ ] do",
        "[x] done [ ]",
    ]


def test_numbers_line_up_and_start_where_they_start() -> None:
    assert screen("9) a\n10) b") == [" 9) a", "10) b"]


def test_loose_lists_have_air_and_tight_ones_have_none() -> None:
    assert screen("* a\n\n  b\n* c") == ["* a", "", "  b", "", "* c"]
    assert screen("* a\n* b\n*\n* c") == ["* a", "* b", "*", "* c"]


def test_quotes_have_a_bar_on_every_line() -> None:
    assert screen("> a\n>\n> > b\n> - c") == ["| a", "|", "| | b", "|", "| * c"]
    assert [line.lead for line in lines_of("> a\n> > b")] == [2, 2, 4]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("[docs](https://x.org/a)", "docs (https://x.org/a)"),
        ("[https://x.org](https://evil.org)", "https://x.org (https://evil.org)"),
        ("<https://x.org>", "https://x.org"),
        ("[x.org/](x.org)", "x.org/"),
        ("[me](mailto:a@b.c)", "me (a@b.c)"),
        ("![alt *text*](pic.png)", "alt text (pic.png)"),
        ("https://bare.org", "https://bare.org"),
        ("[no](javascript:alert)", "[no](javascript:alert)"),
    ],
)
def test_links_say_where_they_lead(source: str, said: str) -> None:
    assert screen(source) == [said]


def test_only_addresses_that_are_safe_to_open_are_links() -> None:
    def links(source: str) -> set[str]:
        return {s.style.link for s in lines_of(source)[0].segments if s.style and s.style.link}

    assert links("[a](https://x.org)") == {"https://x.org"}
    assert links("[a](ssh://x.org) [b](/etc/passwd)") == set()


def test_html_is_text_but_a_line_break_breaks() -> None:
    assert screen("<div>\n<b>x</b>\n</div>") == ["<div>", "<b>x</b>", "</div>"]
    assert screen("a<br>b <i>c</i>") == ["a", "b <i>c</i>"]
    assert screen("a  \nb\\\nc\nd") == ["a", "b", "c d"]


def test_control_characters_are_seen_even_as_entities() -> None:
    source = "a\x1b[31m &#27;[0m &#x202e; `\x07`\n\n```\n\x1b]0;t\x07\n```"
    text = "\n".join(painted(render_markdown(source, 40, PALETTE, UNICODE)))
    assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text
    assert text.count("\u241b") == 2


CODE = "```python title=x\nif x:\n\treturn 'a'\n\n```"


def test_code_fills_its_ground_and_is_copied_exactly() -> None:
    lines = lines_of(CODE, 24)
    assert painted(lines) == [" python            copy", " if x:", "     return 'a'", ""]
    assert all(line.cells == 24 for line in lines)
    assert copied(lines[1:]) == "if x:\n    return 'a'\n"
    assert lines[0].lead == 24
    label = next(s for s in lines[0].segments if s.text == "copy")
    assert label.style is not None and label.style.meta == {COPY: 0}
    colours = {s.style.color for line in lines[1:] for s in line.segments if s.style}
    assert len(colours) > 1


def test_long_code_goes_on_behind_a_mark() -> None:
    lines = lines_of("```\n" + "x" * 50 + "\n```", 24)
    assert painted(lines)[1:] == [" " + "x" * 22, "\\ " + "x" * 21, "\\ " + "x" * 7]
    assert copied(lines[1:]) == "x" * 50
    assert [line.joint for line in lines[1:3]] == ["", ""]


def test_code_blocks_are_counted_as_their_labels_count_them() -> None:
    source = "```c\na\n```\n\n- x\n\n      b\n\n  ~~~\n  c\n  d\n  ~~~\n\n```{.rust}\n"
    assert code_blocks(source) == [
        CodeBlock("c", "a"),
        CodeBlock("", "b"),
        CodeBlock("", "c\nd"),
        CodeBlock("{.rust}", ""),
    ]
    indices = [
        s.style.meta[COPY]
        for line in render_markdown(source, 40, PALETTE, ASCII, first_code=5)
        for s in line.segments
        if s.style and COPY in s.style.meta
    ]
    assert indices == [5, 6, 7, 8]


def test_huge_code_stays_plain() -> None:
    lines = lines_of("```python\n" + "x = 1\n" * 2_100 + "```", 40)
    assert len(lines) == 2_101
    assert {s.style.color for s in lines[5].segments if s.style} == {PALETTE.code_block.color}


TABLE = "| Name | Count |\n|------|------:|\n| one | 5 |\n| **two** words | 1,000 |\n"


def test_tables_line_up() -> None:
    assert screen(TABLE) == [
        "Name       Count",
        "----------------",
        "one            5",
        "two words  1,000",
    ]


def test_wide_cells_wrap_and_rows_are_told_apart() -> None:
    source = "| a | b |\n|---|:-:|\n| x | one two three four five six |\n| y | z |"
    assert screen(source, 20) == [
        "a          b",
        "--------------------",
        "x    one two three",
        "     four five six",
        "--------------------",
        "y          z",
    ]


def test_a_table_that_is_too_wide_is_a_list() -> None:
    head = "| " + " | ".join(f"column {i}" for i in range(5)) + " |"
    row = "| " + " | ".join(f"some value {i}" for i in range(5)) + " |"
    lines = screen(f"{head}\n|{'---|' * 5}\n{row}\n{row}", 24)
    assert lines[:3] == [
        "column 0: some value 0",
        "column 1: some value 1",
        "column 2: some value 2",
    ]
    assert lines[5] == "" and len(lines) == 11


def test_deep_nesting_keeps_room_for_the_text() -> None:
    lines = lines_of("".join("  " * depth + "- a\n" for depth in range(30)), 20)
    assert len(lines) == 30
    assert all(line.cells <= 20 for line in lines)
    assert all(line.text.endswith(" a") for line in lines)


def test_nesting_beyond_all_bounds_is_shown_as_it_was_written() -> None:
    assert screen(">" * 300 + " end")[-1].endswith("end")
    assert "end" in "".join(screen("- " * 300 + "end"))


@settings(max_examples=150, deadline=None)
@given(wild, widths)
def test_no_line_is_too_wide_and_none_is_a_trap(source: str, width: int) -> None:
    for line in render_markdown(source, width, PALETTE, UNICODE):
        assert line.cells <= width
        assert line.lead + line.tail <= line.cells
        assert "\n" not in line.text and "\x1b" not in line.text and "\x9b" not in line.text


@settings(max_examples=75, deadline=None)
@given(wild | st.just(TABLE + "\n" + CODE), st.integers(1, 19))
def test_widths_that_no_screen_has_do_no_harm(source: str, width: int) -> None:
    render_markdown(source, width, PALETTE, UNICODE)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("abc de", min_size=1).map(str.strip).filter(bool), min_size=1), widths)
def test_paragraphs_are_copied_as_they_were_written(paragraphs: list[str], width: int) -> None:
    source = "\n\n".join(paragraphs)
    assert copied(lines_of(source, width)) == source
