"""Rows in columns: whatever is in them, they are aligned and as wide as the room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.tui.lines.cells import cells, cut
from gemma_local.app.tui.screens.columns import Column, Row, lay_out

COLUMNS = (
    Column("name", grows=True),
    Column("bytes", right=True),
    Column("where", rank=2, most=8),
    Column("note", rank=1),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "日本語のテキスト",
        "a\tb\nc",
        "\x1b[31mred",
        "[bold]x[/]",
        "e\u0301" * 9,
        "👩‍👩‍👧",
        "\u202eabc",
    ]
)
rows = st.lists(st.tuples(texts, texts, texts, texts), max_size=4)


@given(rows, st.integers(1, 120), st.sampled_from(["…", "..."]))
def test_every_line_is_as_wide_as_every_other(
    found: list[tuple[str, ...]], width: int, ellipsis: str
) -> None:
    made = [Row(str(number), texts) for number, texts in enumerate(found)]
    layout = lay_out(COLUMNS, made, width, ellipsis)
    lines = [layout.header, *(layout.line(row.cells) for row in made)]
    assert len({cells(line) for line in lines}) == 1
    assert not any(character < " " for line in lines for character in line)
    # The two columns that always stay need 16 cells, a gap, and what the second is wide.
    least = 18 + layout.widths[1]
    assert cells(layout.header) == width or (width < least and len(layout.shown) == 2)


@given(texts, st.integers(1, 40), st.sampled_from(["…", "..."]))
def test_what_is_clipped_fits(text: str, width: int, ellipsis: str) -> None:
    shown = cut(text, width, ellipsis)
    assert cells(shown) <= width
    assert shown == text or cells(text) > width


def test_columns_go_by_rank_where_there_is_no_room() -> None:
    row = Row("a", ("a name", "1.00 GB", "/srv/models/here", "short"))
    shown = [lay_out(COLUMNS, [row], width, "…").shown for width in (80, 36, 28, 10)]
    assert shown == [(0, 1, 2, 3), (0, 1, 3), (0, 1), (0, 1)]
    assert lay_out(COLUMNS, [row], 80, "…").line(row.cells).endswith("/srv/mo…  short")


def test_numbers_stand_at_the_right() -> None:
    made = [Row("a", ("x", "9 kB", "", "")), Row("b", ("y", "1000 kB", "", ""))]
    layout = lay_out(COLUMNS[:2], made, 30, "…")
    assert layout.line(made[0].cells) == "x".ljust(23) + "   9 kB"
    assert layout.header == "name".ljust(23) + "  bytes"


def test_a_row_is_found_by_all_of_its_words() -> None:
    row = Row("a", ("Gemma 4 E2B", "Straße", "", ""))
    assert row.has(["gemma", "e2b"]) and row.has([]) and row.has(["strasse"])
    assert not row.has(["gemma", "e4b"])
