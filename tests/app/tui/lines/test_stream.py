"""Markdown that comes in pieces becomes what it would have become at once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.lines.code import COPY
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.markdown import render_markdown
from gemma_local.app.tui.lines.parse import Document, References, parse
from gemma_local.app.tui.lines.spans import cut_spans
from gemma_local.app.tui.lines.stream import MarkdownStream, render_open
from tests.app.tui.lines.looks import PALETTE, painted, styled

WIDTH = 50

# What makes blocks, and what makes it hard to say where they end.
PIECES = [
    *(
        "\n",
        "\n\n",
        "    ",
        "  ",
        "\t",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "2) ",
        "10. ",
        "> ",
        ">",
        "# ",
        "## ",
    ),
    *("```", "````", "```py\n", "~~~", "`", "a", "b c", "e *f* g", "|---", "===", "***", "- - -"),
    *(
        "[x]",
        "<div>",
        "</div>",
        "<!-- ",
        "-->",
        "<pre>",
        "\r",
        "\r\n",
        "&amp;",
        "\\",
        "  \n",
        "_",
        "~~s~~",
    ),
]
ROWS = ["| a | b |\n|---|--:|\n| 1 | 2 |\n", "| a |\n", "a | b\n", "---|---\n", "|--|\n"]

documents = st.lists(st.sampled_from([*PIECES, *ROWS]), max_size=30).map("".join)

NASTY = [
    "para\n===\nmore\n---\n",
    "- a\n- b\n\n- c\n\npara",
    "- a\n\n\n  b\n1. c\n",
    "1. a\n\n   ```\n   code\n\n   more\n   ```\n2. b\n",
    "- a\nlazy\n  - b\nlazy\n\n      code\n",
    "> q\nlazy\n\n> other\n```\nnot closed\n\nby a blank",
    "```\n``\n````\n```` no\n```\nafter",
    "~~~ ```\n```\n~~~~\n    indented\n\n    still\n\npara",
    "text\n| a | b |\n|---|---|\n| 1 | 2 |\nnot a cell\n\n| c |\n",
    "<div>\n*a*\n\n*b*\n</div>\n\n<!-- one\n\ntwo -->\nthree\n",
    "# a\n## b\n#\n#c\n***\n- - -\n_ _\n",
    "\n\n  \n   \n- \n\n  a\n-\n  b\n",
    "a\r\nb\r\rc\r\n\r\n- d\r- e\r\n",
    "- a\n    - b\n        - c\n\n        d\n\n    e\n\nf",
    "* a\n+ b\n- c\n1) d\n1. e\n",
    "    code\n\n\n    more\n  text\n",
    "\ta\n\n\tb\n```\n\t```\n```\nc",
    "para\n```\ncode\n```\npara\n> q\npara\n# h",
    "[a]: /u\n'title'\n\n[a]\n\n[b]: <x>\n[b] [a]\n",
    "***\n***\n\n>\n\n>\n- >\n",
    "# | a |\n---|---\n``` | a\n---|---\n```\n<div> | b\n---|---\n",
    "- a | b\n---|---\n\n> a | b\n---|---\n\nc | d\n-|-\n",
]


def stream_of(source: str, cuts: list[int]) -> MarkdownStream:
    stream = MarkdownStream()
    at = 0
    for cut in [*sorted(cuts), len(source)]:
        stream.feed(source[at:cut])
        at = cut
        assert "".join(block.source for block in stream.closed) + stream.open == source[:at]
    return stream


def lines_of(stream: MarkdownStream) -> list[Line]:
    return [line for block in stream.closed for line in block.lines(WIDTH, PALETTE, ASCII)]


def whole(source: str) -> list[Line]:
    return render_markdown(source, WIDTH, PALETTE, ASCII)


def assert_same(source: str, cuts: list[int]) -> None:
    stream = stream_of(source, cuts)
    so_far = styled(lines_of(stream))
    stream.finish()
    assert styled(lines_of(stream)) == styled(whole(source))
    assert stream.open == ""
    # Nothing that was closed has changed.
    assert styled(whole(source))[: len(so_far)] == so_far


@pytest.mark.parametrize("source", NASTY)
def test_nasty_cases_at_every_cut(source: str) -> None:
    assert_same(source, list(range(len(source))))
    for cut in range(len(source)):
        assert_same(source, [cut])


@settings(max_examples=200, deadline=None)
@given(documents, st.data())
def test_any_text_cut_anywhere(source: str, data: st.DataObject) -> None:
    assert_same(source, data.draw(st.lists(st.integers(0, len(source)), max_size=8)))


@settings(max_examples=50, deadline=None)
@given(documents)
def test_any_text_character_by_character(source: str) -> None:
    assert_same(source, list(range(len(source))))


def test_a_definition_holds_from_where_it_stands() -> None:
    """The exception: a link whose address comes later is not known when its block is closed."""
    before = "[x]: https://x.org\n\ntext\n\n[a][x]\n\n"
    stream = stream_of(before, list(range(len(before))))
    assert painted(lines_of(stream)) == painted(whole(before))
    assert painted(whole(before))[-1] == "a (https://x.org)"

    later = "[a][x]\n\n[x]: https://x.org\n"
    stream = stream_of(later, list(range(len(later))))
    stream.finish()
    assert painted(lines_of(stream)) == ["[a][x]"]
    assert painted(whole(later)) == ["a (https://x.org)"]


def test_the_first_definition_wins_in_pieces_too() -> None:
    source = "[x]: /one\n\n[x]\n\n[x]: /two\n\n[x]\n\n"
    assert_same(source, list(range(len(source))))


def test_blocks_close_as_soon_as_they_can() -> None:
    def closed(source: str) -> list[str]:
        stream = stream_of(source, list(range(len(source))))
        return [block.source for block in stream.closed]

    assert closed("# head\n") == ["# head\n"]
    assert closed("```\ncode\n```\n") == ["```\ncode\n```\n"]
    assert closed("para\n") == []
    assert closed("para\n\n") == ["para\n\n"]
    assert closed("para\n- item\n") == ["para\n"]
    assert closed("- a\n\n- b\n\n") == []
    assert closed("- a\n\nb\n") == ["- a\n\n"]
    assert closed("| a |\n|---|\n| b |\n") == []
    assert closed("| a |\n|---|\n| b |\n\n") == ["| a |\n|---|\n| b |\n\n"]
    assert closed("> a\n\n") == ["> a\n\n"]
    # In the tenth item of a list text has to be indented by four.
    assert closed("9. a\n10. b\n\n   c\n") == ["9. a\n10. b\n\n"]
    assert closed("text\n| a | b |\n|---|---|\n| 1 | 2 |\n") == ["text\n"]
    assert closed("a\n===\n") == ["a\n===\n"]


def test_starts_and_code_count_on_through_the_blocks() -> None:
    source = "\na\n\n```\none\n```\n- x\n\n  ```\n  two\n  ```\n\nb\n\n```\nthree\n```\n"
    stream = stream_of(source, [])
    assert [source[b.start : b.start + len(b.source)] for b in stream.closed] == [
        b.source for b in stream.closed
    ]
    assert [block.first_code for block in stream.closed] == [0, 0, 1, 2, 2]
    assert [block.is_first for block in stream.closed] == [True, False, False, False, False]
    assert stream.open_start == len(source)


def test_what_was_drafted_is_remembered() -> None:
    stream = MarkdownStream()
    for text, drafted in [("ab", True), ("c", True), ("d", False), ("", True), ("ef", True)]:
        stream.feed(text, drafted)
    assert list(stream.drafted) == [(0, 3), (4, 6)]
    assert cut_spans(stream.drafted, 2, 5) == [(0, 1), (2, 3)]
    assert cut_spans(stream.drafted, 3, 4) == []


def open_screen(source: str) -> list[str]:
    return painted(render_open(source, WIDTH, PALETTE, ASCII))


def test_an_open_block_looks_nearly_as_it_will() -> None:
    assert open_screen("some *text* that") == ["some text that"]
    assert open_screen("\n\n- a\n  - b\n- ") == ["* a", "  - b", "*"]
    assert open_screen("> a\n> b") == ["| a b"]
    assert open_screen("") == open_screen("\n  \n") == []


def test_an_open_fence_is_code_without_colours() -> None:
    source = "```py\nif x:\n\treturn\n"
    lines = render_open(source + "``", WIDTH, PALETTE, ASCII)
    final = whole(source + "```")
    assert painted(lines) == painted(final)
    assert [line.text for line in lines] == [line.text for line in final]
    assert {s.style.color for line in lines[1:] for s in line.segments if s.style} == {
        PALETTE.code_block.color
    }
    label = [s for s in lines[0].segments if s.style and COPY in s.style.meta]
    assert len(label) == 1


def test_of_an_open_table_there_is_one_line() -> None:
    head = "| a | b |\n|---|---|\n"
    assert open_screen("| a | b") == ["table, 1 row so far"]
    assert open_screen(head) == ["table, 1 row so far"]
    assert open_screen(head + "| 1 | 2 |\n| 3") == ["table, 2 rows so far"]
    assert open_screen("a | b\nno table") == ["a | b no table"]


@settings(max_examples=100, deadline=None)
@given(documents, st.integers(20, 80))
def test_open_text_is_never_too_wide_nor_a_trap(source: str, width: int) -> None:
    assert all(line.cells <= width for line in render_open(source, width, PALETTE, ASCII))


LONG = {
    "bullets": "".join(f"- item {i} with *emphasis*\n" for i in range(300)),
    "numbers": "".join(
        f"{i}. item {i}\n\n    ```\n    code {i} {i} {i} {i} {i} {i}\n    ```\n"
        for i in range(7, 99)
    ),
    "loose at the end": "- some item\n" * 400 + "\n- last\n",
    "fence": "```c\n" + "int x;  // with a comment that is long enough for two lines\n" * 300,
    "indented fence": "  ~~~\n" + "   x\n y\n" * 100,
}


@pytest.mark.parametrize("name", LONG)
def test_long_blocks_look_the_same_while_they_grow(name: str) -> None:
    source = LONG[name]
    stream = MarkdownStream()
    for at in range(0, len(source), 501):
        stream.feed(source[at : at + 501])
        stream.open_lines(WIDTH, PALETTE, ASCII)
    kept = stream.open_lines(WIDTH, PALETTE, ASCII)
    assert styled(kept) == styled(render_open(source, WIDTH, PALETTE, ASCII))
    stream.finish()
    assert [line.text for line in kept] == [line.text for line in lines_of(stream)]


def test_the_open_text_stands_apart_from_what_is_closed() -> None:
    stream = MarkdownStream()
    stream.feed("a\n\n```\nb\n```\nc")
    assert painted(stream.open_lines(WIDTH, PALETTE, ASCII)) == ["", "c"]
    stream.feed("\n\n```x\n")
    label = stream.open_lines(WIDTH, PALETTE, ASCII)[1]
    assert next(s.style.meta for s in label.segments if s.style and s.style.meta) == {COPY: 1}


def test_a_long_block_is_not_read_again_for_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read in all is in proportion to the text, whatever it is."""
    read = 0

    def counting(source: str, references: References | None = None) -> Document:
        nonlocal read
        read += len(source)
        return parse(source, references)

    monkeypatch.setattr("gemma_local.app.tui.lines.stream.parse", counting)
    for source in (
        "- item\n" * 2_000,
        "word *word*\n" * 2_000,
        "> quote\n" * 2_000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 2_000,
        "```\n" + "x\n\n- a\n" * 2_000,
        "<!-- \n" + "x\n\n" * 2_000,
        "1) a\n\n   b\n" * 1_000,
    ):
        read = 0
        stream = MarkdownStream()
        for piece in re.findall("(?s).{1,7}", source):
            stream.feed(piece)
        assert read < 200_000 + 8 * len(source)
