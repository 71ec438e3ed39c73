"""A title says what a session is about, in one short line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from gemma_local.app.sessions.titles import LONGEST, clipped, one_line, title_of
from tests.app.session_messages import texts

LONG = "Please explain in great detail how the scheduler decides which of the requests comes next"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What is EAGAIN?", "What is EAGAIN?"),
        ("What is EAGAIN? I see it in a log.", "What is EAGAIN?"),
        ("Hi. What is EAGAIN?", "Hi. What is EAGAIN?"),
        ("See e.g. the manual for more. Thanks.", "See e.g. the manual for more."),
        ("\n\n  Fix the tests  \nand the docs", "Fix the tests"),
        ("# Fix **the** `tests`", "Fix the tests"),
        ("> 1. [The manual](https://example.org/x) is wrong", "The manual is wrong"),
        ("```python\nx = 1\n```\nWhy does this fail?", "Why does this fail?"),
        ("```python\nprint('hello')\n```", "print('hello')"),
        ("```\nnever closed", "never closed"),
        ("~~~\ncode\n~~~\n\ntext", "text"),
        ("/home/me/projects/gemma/app/cli.py crashes", "cli.py crashes"),
        (r"C:\Users\me\Documents\notes\todo.txt is empty", "todo.txt is empty"),
        ("compare src/a.py with src/b.py", "compare src/a.py with src/b.py"),
        ("and/or", "and/or"),
        (
            "https://example.org/a/very/long/path/to/some/page is down",
            "https://example.org/a/very/long/path/to/some/page is down",
        ),
        ("今日の天気は?明日は。どうですか", "今日の天気は?明日は。"),
        (LONG, "Please explain in great detail how the scheduler decides…"),
        ("x" * 100, "x" * 59 + "…"),
        ("a\x1b[31mb\tc\u202ed", "a [31mb c d"),
        ("file \udcff", "file ?"),
        ("???", "???"),
        ("", "untitled"),
        (" \n\t\0", "untitled"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert title_of(text) == title


@settings(deadline=None)
@given(texts)
def test_every_text_has_a_title_that_can_be_shown(text: str) -> None:
    title = title_of(text)
    assert 0 < len(title) <= LONGEST
    assert title == one_line(title)
    assert title.encode()


def test_a_long_message_is_not_read_to_its_end() -> None:
    # Each of these would take minutes with an expression that goes back and forth.
    for text in ("`" * 1_000_000, "[" * 1_000_000, "> " * 500_000, "/a" * 500_000, "**a" * 300_000):
        assert len(title_of(text)) <= LONGEST


def test_clipping() -> None:
    assert clipped("one two", 7) == "one two"
    assert clipped("one two three", 10) == "one two…"
    assert clipped("onetwothree", 5) == "onet…"
