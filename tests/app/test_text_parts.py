from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.text_parts import split

texts = st.text(st.sampled_from("ab .!?\n\u3002\U0001f600"), max_size=200)


@given(texts, st.integers(1, 50))
def test_the_parts_are_the_text_and_fit(text: str, most: int) -> None:
    parts = split(text, most, len)
    assert "".join(parts) == text
    assert all(len(part) <= most for part in parts)


def test_it_is_cut_between_paragraphs_first() -> None:
    text = "One sentence. Another one.\n\nA paragraph that is\non two lines."
    assert split(text, 40, len) == [
        "One sentence. Another one.\n\n",
        "A paragraph that is\non two lines.",
    ]
    assert split(text, 30, len)[0] == "One sentence. Another one.\n\n"
    assert split(text, 20, len)[:2] == ["One sentence. ", "Another one.\n\n"]


def test_a_part_is_as_long_as_it_may_be() -> None:
    assert split("a\n" * 10, 6, len) == ["a\na\na\n"] * 3 + ["a\n"]


def test_a_word_without_an_end_is_cut_anywhere() -> None:
    parts = split("x" * 1000, 64, len)
    assert "".join(parts) == "x" * 1000
    assert max(map(len, parts)) <= 64


def test_an_empty_text_is_one_part() -> None:
    assert split("", 10, len) == [""]
