"""Limits grow with the window, and what is cut says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.agent.budget import Budget, head_of, head_tail, shortened, tidied


@pytest.mark.parametrize(
    ("window", "tokens", "lines", "hits"),
    [(8_192, 1_000, 150, 20), (32_768, 3_000, 300, 50), (131_072, 8_000, 800, 100)],
)
def test_the_sizes_that_are_given(window: int, tokens: int, lines: int, hits: int) -> None:
    budget = Budget(window)
    assert (budget.result_tokens, budget.read_lines, budget.hits) == (tokens, lines, hits)


@given(st.integers(1, 1_000_000), st.integers(1, 1_000_000))
def test_a_larger_window_has_no_smaller_limits(one: int, other: int) -> None:
    small, large = Budget(min(one, other)), Budget(max(one, other))
    for name in ("result_tokens", "read_lines", "hits", "entries", "instructions_tokens"):
        assert 1 <= getattr(small, name) <= getattr(large, name)


@given(st.text(), st.integers(200, 2_000))
def test_what_is_cut_fits(text: str, most: int) -> None:
    text *= 40
    for cut in (head_tail(text, most), head_of(text, most)):
        assert len(cut) <= most
        assert cut == text or "left out" in cut


def test_the_end_gets_more_than_the_start() -> None:
    lines = [f"line {i}" for i in range(1_000)]
    cut = head_tail("\n".join(lines), 1_000).split("\n")
    middle = next(i for i, line in enumerate(cut) if "left out" in line)
    assert cut[0] == "line 0" and cut[-1] == "line 999"
    assert 1.2 < len(cut[middle + 1 :]) / len(cut[:middle]) < 1.8
    # Whole lines on both sides, and as many in between as are said.
    assert cut[middle - 1] in lines and cut[middle + 1] in lines
    first, last = lines.index(cut[middle - 1]), lines.index(cut[middle + 1])
    assert f"in {last - first - 1:,} lines" in cut[middle]


def test_one_line_is_cut_too() -> None:
    cut = head_tail("a" * 400 + "z" * 600, 500)
    assert cut.startswith("a" * 100) and cut.endswith("z" * 200)


@pytest.mark.parametrize(
    ("output", "read"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bplain\x1b=", "plain"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("50%\r", "50%"),
        ("abc\b\b\bxyz", "xyz"),
        ("\bx\b\b\by", "y"),
        ("same\n" * 37 + "end", "same (x 37)\nend"),
        ("a\na\nb", "a\na\nb"),
        ("a\n\n\n\n\nb", "a\n\n\nb"),
        ("bell\x07 nul\0", "bell nul"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_output_is_read_as_it_was_last_drawn(output: str, read: str) -> None:
    assert tidied(output) == read


@given(st.text(alphabet="a\x1b[]0;m\r\n\b\x07\\"))
def test_no_escape_is_left(text: str) -> None:
    left = tidied(text)
    assert not set(left) & set("\x1b\r\b\x07")


def test_backspaces_take_no_longer() -> None:
    assert tidied("a" * 300_000 + "\b" * 300_000) == ""


def test_a_long_line_says_how_long_it_is() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcdef", 3) == "abc [... 6 characters]"
