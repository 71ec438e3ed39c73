"""What a terminal would act upon, or not show, is made visible."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.shown import MOST_MARKS, shown, shown_line
from tests.app.tui.lines.looks import BAD, HARD


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("\x1b[31mred", "\u241b[31mred"),
        ("bell\x07 nul\x00 del\x7f", "bell\u2407 nul\u2400 del\u2421"),
        ("\x9b31m\x85", "\ufffd31m\ufffd"),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("a\u2028b", "a\u2424b"),
        ("lone \ud83d", "lone \ufffd"),
        # A comment that closes where nobody sees it, and a word that hides another.
        ("/* \u202e } \u2066if\u2069", "/* \ufffd } \ufffdif\ufffd"),
        ("pass\u200bword \ufeffx \u2060y", "pass\ufffdword \ufffdx \ufffdy"),
        ("flag \U000e0067\U000e0062\U000e007f!", "flag \ufffd!"),
        ("\u3164 = 1", "\ufffd = 1"),
        ("a\u200db", "a\ufffdb"),
        # Hints that no terminal needs.
        ("\u200fshalom\u200e \u2764\ufe0f", "shalom \u2764"),
        # A family is its members, a tone is no cell of its own.
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\U0001f469\U0001f467"),
        ("\U0001f44d\U0001f3fd!", "\U0001f44d!"),
        # Persian and Sinhala are written with joiners.
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
        ("\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\u0dc1\u0dca\u200d\u0dbb\u0dd3"),
        ("\u092b\u093c e\u0301", "\u092b\u093c e\u0301"),
    ],
)
def test_what_is_painted_of_text(text: str, visible: str) -> None:
    assert shown(text) == visible


def test_piles_of_marks_do_not_run_over_other_lines() -> None:
    assert shown("e" + "\u0301" * 40 + "x") == "e" + "\u0301" * MOST_MARKS + "x"
    joined = "\u05d0" + "\u05b0\u200d" * 40
    assert len(shown(joined)) <= 1 + MOST_MARKS


def test_tabs_lead_to_columns_of_cells() -> None:
    assert shown("a\tb\n\tc") == "a   b\n    c"
    assert shown("\u4f60\tb") == "\u4f60  b"
    assert shown("a\tb", tab=8) == "a       b"


def test_without_pictures_there_are_question_marks() -> None:
    assert shown("\x1b[0m\u202e\ud800", ascii_only=True) == "?[0m??"
    assert shown_line("a\r\nb", ascii_only=True) == "a??b"


def test_one_line_stays_one() -> None:
    assert shown_line("a\rb\nc\u2029") == "a\u240db\u240ac\u2424"


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab \t\n" + HARD + BAD) | st.characters(), max_size=60))
def test_painting_what_is_shown_changes_nothing_and_hides_nothing(text: str) -> None:
    visible = shown(text)
    assert shown(visible) == visible
    for character in visible:
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert character not in "\u202a\u202e\u2066\u2069\u200b\ufeff\ufe0f"
    assert cells(visible.replace("\n", "")) >= 0


@given(st.text(st.characters(codec="latin-1", categories=("L", "N", "P", "S"))))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert shown(text) == text
