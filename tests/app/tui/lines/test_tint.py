"""Which painted characters came from accepted drafts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.markdown import render_markdown
from gemma_local.app.tui.lines.tint import tint
from tests.app.tui.lines.looks import PALETTE, text_bounds, wild

OVER = Style(bgcolor="#123456")


def tinted_text(source: str, *parts: str, width: int = 40) -> str:
    """What is tinted of ``source`` when the first occurrence of each part was drafted."""
    spans = sorted((source.index(part), source.index(part) + len(part)) for part in parts)
    lines = tint(render_markdown(source, width, PALETTE, ASCII), source, spans, OVER)
    return "|".join(filter(None, map(marked, lines)))


def marked(line: Line) -> str:
    return "".join(s.text for s in line.segments if s.style and s.style.bgcolor == OVER.bgcolor)


def test_markup_is_not_in_the_way() -> None:
    source = "A **bold** move, see [docs](https://x.org/a/b) for `code` and more."
    assert tinted_text(source, "bold", "for", "ode` and") == "bold|forode and"
    assert tinted_text(source, "**bold** move, see [docs](") == "bold move, see docs|("


def test_lists_code_and_headings() -> None:
    source = "# One two\n\n- three four\n- five\n\n```py\nsix = seven\n```\n"
    assert tinted_text(source, "two", "four\n- fi", "ix = s") == "two|four|fi|ix = s"


def test_decoration_is_left_alone() -> None:
    source = "> quoted text that is wrapped into lines\n"
    lines = render_markdown(source, 20, PALETTE, ASCII)
    tinted = tint(lines, source, [(0, len(source))], OVER)
    assert [line.segments[0] for line in tinted] == [line.segments[0] for line in lines]
    assert "".join(map(marked, tinted)) == "quoted text thatis wrapped intolines"


def test_nothing_drafted_changes_nothing() -> None:
    lines = render_markdown("text", 20, PALETTE, ASCII)
    assert tint(lines, "text", [], OVER) == lines


plain = st.lists(st.text("ab,cd'e", min_size=1, max_size=12), min_size=1, max_size=30).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(plain, st.sets(st.integers(0, 200)), st.integers(20, 60))
def test_plain_text_is_tinted_exactly(source: str, drafted: set[int], width: int) -> None:
    spans = [(i, i + 1) for i in sorted(drafted) if i < len(source)]
    lines = tint(render_markdown(source, width, PALETTE, ASCII), source, spans, OVER)
    at = 0
    for line in lines:
        for segment in line.segments:
            is_marked = segment.style is not None and segment.style.bgcolor == OVER.bgcolor
            for character in segment.text:
                assert source[at] == character
                assert is_marked == (at in drafted)
                at += 1
        at += len(line.joint) if line.continues else 0
    assert at == len(source)


@settings(max_examples=100, deadline=None)
@given(wild, st.integers(0, 60), st.integers(0, 60))
def test_any_text_stays_what_it_is(source: str, start: int, length: int) -> None:
    lines = render_markdown(source, 30, PALETTE, ASCII)
    for before, after in zip(
        lines, tint(lines, source, [(start, start + length)], OVER), strict=True
    ):
        assert (before.text, before.cells, before.lead) == (after.text, after.cells, after.lead)
        low, high = text_bounds(after)
        assert marked(after) in after.text[low:high] or len(after.segments) > 1
