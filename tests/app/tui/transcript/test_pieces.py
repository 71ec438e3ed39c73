"""The small parts of which items are made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from gemma_local.app.counted import counted
from gemma_local.app.tui.lines.cells import cells, cut
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.transcript.copying import place_of, row_of, text_bounds
from gemma_local.app.tui.transcript.excerpt import excerpt
from gemma_local.app.tui.transcript.folding import folded, folded_query, painted_hits
from gemma_local.app.tui.transcript.kept_output import HEAD, TAIL, KeptOutput
from gemma_local.app.tui.transcript.layout import Place
from gemma_local.app.tui.transcript.one_line import last_of, one_line
from gemma_local.app.tui.transcript.painting import Patch, strip_of


def line(text: str, **kwargs: object) -> Line:
    return Line((Segment(text),), **kwargs)  # type: ignore[arg-type]


def test_counts_agree_with_their_noun() -> None:
    assert [counted(n, "line") for n in (0, 1, 1200)] == ["0 lines", "1 line", "1,200 lines"]


@given(st.text(max_size=60), st.integers(0, 40), st.sampled_from(["…", "..."]))
def test_what_is_cut_fits_and_says_so(text: str, width: int, ellipsis: str) -> None:
    for short in (cut(text, width, ellipsis), last_of(text, width, ellipsis)):
        assert cells(short) <= width
        assert short == text or short.strip(ellipsis) in text


@given(st.lists(st.text(max_size=20), min_size=1, max_size=5), st.integers(1, 60))
def test_facts_stay_on_one_line(texts: list[str], width: int) -> None:
    painted = one_line([(text, Style()) for text in texts], width, "…", give=0)
    assert painted.cells <= width
    assert "\n" not in painted.text


def test_the_title_gives_way_and_not_how_it_ended() -> None:
    runs = [("run ", Style()), ("a very long command", Style()), (" failed", Style(bold=True))]
    assert one_line(runs, 20, "…", give=1).text == "run a very l… failed"


def test_a_short_text_is_whole() -> None:
    assert excerpt("one\ntwo", 40, show=1, most=2) == excerpt("one\ntwo", 40, show=2, most=2)
    assert excerpt("one\ntwo", 40, show=1, most=2).rest == ""


def test_of_a_long_text_the_rest_is_counted() -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    short = excerpt(text, 40, show=8, most=14)
    assert short.head.splitlines() == [f"line {n}" for n in range(8)]
    assert short.rest == "92 more lines"
    assert excerpt("x" * 10_000, 40, show=8, most=14).rest == "9,680 more characters"


@given(st.text(alphabet="ab\n", max_size=400), st.integers(1, 30))
def test_an_excerpt_is_the_beginning(text: str, width: int) -> None:
    short = excerpt(text, width, show=3, most=6)
    assert text.startswith(short.head)
    assert short.rest or short.head == text


def test_the_beginning_and_the_end_of_output_are_kept() -> None:
    output = KeptOutput()
    lines = [f"line {n}" for n in range(HEAD + TAIL + 1_000)]
    text = "\n".join(lines)
    for at in range(0, len(text), 777):
        output.write(text[at : at + 777])
    assert output.head.splitlines() == lines[:HEAD]
    assert [*output.tail.splitlines()] == lines[-TAIL - 1 :]
    assert output.left_out == len(lines) - HEAD - TAIL - 1
    assert output.last(2).splitlines() == lines[-2:]


@given(st.lists(st.text(alphabet="ab\n", max_size=30), max_size=10))
def test_short_output_is_kept_whole(pieces: list[str]) -> None:
    output = KeptOutput()
    for piece in pieces:
        output.write(piece)
    whole = "".join(pieces)
    assert output.head == whole.removesuffix("\n")
    assert output.tail == ""
    assert bool(output) == bool(whole)


def test_a_line_that_is_overwritten_for_hours_takes_no_memory() -> None:
    output = KeptOutput()
    for percent in range(100_000):
        output.write(f"\r{percent} of 100000 done")
    assert len(output.last(1)) < 5_000
    assert output.last(1).endswith("99999 of 100000 done")


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_decoration_is_told_from_text_by_cells(lead: str, text: str, tail: str) -> None:
    text = f"|{text}|"
    whole = line(lead + text + tail, lead=cells(lead), tail=cells(tail))
    start, end = text_bounds(whole)
    assert text.strip("|") in whole.text[start:end] or not text.isascii()


def test_rows_grow_downwards() -> None:
    places = [Place(0, 0), Place(0, 5), Place(1, 0), Place(3, 7), Place(400, 0)]
    rows = [row_of(place) for place in places]
    assert rows == sorted(rows)
    assert [place_of(row) for row in rows] == places


@given(
    st.text(max_size=30), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4)
)
def test_patches_change_no_text(text: str, spans: list[tuple[int, int]]) -> None:
    patches = [Patch(min(span), max(span), Style(bold=True)) for span in spans]
    clean = "".join(character for character in text if character.isprintable())
    plain = strip_of(line(clean), Segment("  "), Style(), 80, 0)
    assert strip_of(line(clean), Segment("  "), Style(), 80, 0, patches).text == plain.text


def test_a_patch_lies_over_its_characters_alone() -> None:
    bold = Style(bold=True)
    strip = strip_of(line("some words"), Segment("> "), Style(), 20, 0, [Patch(2, 6, bold)])
    assert [segment.text for segment in strip if segment.style and segment.style.bold] == ["some"]


def test_what_is_looked_for_is_compared_without_case_accents_and_breaks() -> None:
    assert folded("  Über\n die  **Straße** ") == "uber die strasse"
    assert folded_query("Foo ") == "foo "
    assert folded_query(" * ") == ""


def test_places_are_found_across_lines_that_the_screen_broke() -> None:
    lines = [
        line("| the first", lead=2, continues=True),
        line("| word", lead=2),
        line("FIRST"),
        line("w", continues=True, joint=""),
        line("ord"),
    ]
    assert painted_hits(lines, "first") == [[(0, 6, 11)], [(2, 0, 5)]]
    assert painted_hits(lines, "first word") == [
        [(0, 6, 11), (1, 2, 6)],
        [(2, 0, 5), (3, 0, 1), (4, 0, 3)],
    ]


def test_a_place_is_where_its_letters_are_although_folding_changes_their_number() -> None:
    assert painted_hits([line("Straße und Straße")], "strasse") == [[(0, 0, 6)], [(0, 11, 17)]]
