"""Answers while they come, and at each of their ends."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.tui.transcript.answer_item import ENDINGS, AnswerItem
from gemma_local.app.tui.transcript.look import Look
from gemma_local.models.message import Message
from tests.app.tui.transcript.clock import Clock
from tests.app.tui.transcript.looks import LOOK, OPEN, TINTED

TEXT = """\
# A title

Some *words* in a paragraph,
and more of them.

1. first
2. second
   - inner

| a | b |
|---|--:|
| x | 1 |

```python
def f():
    return "```"
```

> quoted

The end."""


def texts(item: AnswerItem, look: Look = LOOK, width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in item.lines(width, look)]


def test_there_is_nothing_to_see_before_the_first_word() -> None:
    assert texts(AnswerItem()) == []


@pytest.mark.parametrize("size", [1, 3, 17])
def test_an_answer_that_came_in_pieces_looks_like_one_that_was_kept(size: int) -> None:
    live = AnswerItem()
    for at in range(0, len(TEXT), size):
        live.feed_answer(TEXT[at : at + size])
        live.lines(60, LOOK)
    live.finish()
    kept = AnswerItem.of(Message("assistant", TEXT))
    assert live.lines(60, LOOK) == kept.lines(60, LOOK)
    assert live.plain() == kept.plain() == TEXT


CUTS = {
    "paragraph": "some words and then",
    "fence": "code:\n\n```python\nprint(1)\nprint(",
    "fence of a list": "- item\n\n  ```\n  inner",
    "table": "| a | b |\n|---|---|\n| x | lastcell",
    "half a table": "| a | b |\n|---|",
    "list": "1. one\n2. two\n   - thre",
    "quote": "> quoted\n> wor",
    "emphasis": "some **bold wor",
    "heading": "## A head",
    "link": "see [the page](https://exampl",
}


@pytest.mark.parametrize("state", ["stop", *ENDINGS])
@pytest.mark.parametrize("text", CUTS.values(), ids=CUTS)
def test_nothing_is_lost_wherever_and_however_it_ends(text: str, state: str) -> None:
    live = AnswerItem()
    for character in text:
        live.feed_answer(character)
    live.lines(60, LOOK)
    live.finish(state, "18.3 tokens/s")
    painted = " ".join(texts(live))
    # What is written in the source's last word is on the screen.
    assert text.split()[-1].strip("|-()*").rpartition("(")[2] in painted
    assert live.plain() == text
    assert "18.3 tokens/s" in painted
    assert ENDINGS.get(state, "") in painted
    assert not live.is_live


@pytest.mark.parametrize("state", ["cancelled", "length", "context"])
def test_an_end_within_the_thought_keeps_the_thought(state: str) -> None:
    live = AnswerItem()
    live.feed_thought("I was just about to")
    live.finish(state)
    assert "I was just about to" in " ".join(texts(live, OPEN))
    assert live.plain() == "I was just about to"
    assert texts(live)[-1] == ENDINGS[state]


def test_a_thought_is_one_line_that_says_how_long_it_takes() -> None:
    clock = Clock()
    item = AnswerItem(clock=clock)
    for word in ("First I look\n", "at the ", "second line"):
        item.feed_thought(word, 4)
        clock.now += 1
    assert texts(item) == ["Thinking 3 s, 12 tokens  at the second line"]
    assert item.tick()
    clock.now += 9
    item.feed_answer("So: yes.")
    assert texts(item) == ["Thought for 12 s, 12 tokens", "", "So: yes."]
    assert not item.tick()
    assert item.toggle()
    opened = texts(item)
    assert opened[0] == "Thought for 12 s, 12 tokens"
    assert [line.removeprefix("▎ ") for line in opened[1:3]] == [
        "First I look",
        "at the second line",
    ]


def test_a_thought_that_was_kept_says_what_is_known_of_it() -> None:
    message = Message("assistant", "Yes.", thought="Hm.")
    assert texts(AnswerItem.of(message))[0] == "Thought"
    assert texts(AnswerItem.of(message, tokens=340))[0] == "Thought, 340 tokens"
    assert texts(AnswerItem.of(message, tokens=1, seconds=0.4))[0] == "Thought for 0.4 s, 1 token"


def test_thoughts_are_open_if_that_is_how_it_looks_until_one_is_closed() -> None:
    item = AnswerItem.of(Message("assistant", "Yes.", thought="Hm."))
    assert any("Hm." in line for line in texts(item, OPEN))
    item.toggle()
    assert not any("Hm." in line for line in texts(item, OPEN))


def test_without_a_thought_there_is_nothing_to_open() -> None:
    assert not AnswerItem.of(Message("assistant", "Yes.")).toggle()


@pytest.mark.parametrize("text", ["[bold]x[/]", "[/]", "[@click=app.quit]x[/]", ":smile: \\[x]"])
def test_text_that_looks_like_markup_is_painted_as_it_is(text: str) -> None:
    item = AnswerItem()
    item.feed_thought(text)
    item.feed_answer(f"`{text}`")
    item.finish()
    assert sum(text in line for line in texts(item, OPEN)) == 2


def test_escape_sequences_never_reach_the_terminal() -> None:
    item = AnswerItem()
    item.feed_thought("a\x1b[31mred\x07")
    item.feed_answer("b\x1b]0;title\x07\x9b1m")
    item.finish("stopped", "\x1b[2J")
    painted = "".join(texts(item, OPEN))
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in painted)
    assert "[31mred" in painted


def test_drafted_words_are_tinted_only_if_that_is_wanted() -> None:
    item = AnswerItem()
    for text, drafted in (("One ", False), ("two ", True), ("three", True), (" four", False)):
        item.feed_answer(text, drafted)
    item.finish()
    ground = TINTED.palette.accepted.bgcolor

    def tinted(look: Look) -> str:
        line = item.lines(60, look)[0]
        return "".join(
            part.text for part in line.segments if part.style and part.style.bgcolor == ground
        )

    assert tinted(LOOK) == ""
    assert tinted(TINTED) == "two three"


def test_a_kept_answer_is_tinted_where_it_was_drafted() -> None:
    item = AnswerItem.of(Message("assistant", "One two three four"), spans=[(4, 7)])
    ground = TINTED.palette.accepted.bgcolor
    line = item.lines(60, TINTED)[0]
    assert [p.text for p in line.segments if p.style and p.style.bgcolor == ground] == ["two"]


def test_closed_blocks_are_painted_once() -> None:
    item = AnswerItem()
    item.feed_answer("First paragraph.\n\nSecond paragraph.\n\nThird")
    before = item.lines(60, LOOK)
    item.feed_answer(" and more")
    after = item.lines(60, LOOK)
    assert all(old is new for old, new in itertools.islice(zip(before, after, strict=True), 3))


pieces = st.lists(
    st.tuples(st.sampled_from(["thought", "answer"]), st.text(max_size=40), st.booleans()),
    max_size=8,
)


@given(pieces, st.integers(20, 120), st.sampled_from(["stop", "stopped", "length"]))
def test_no_line_is_wider_than_there_is_room(
    said: list[tuple[str, str, bool]], width: int, state: str
) -> None:
    item = AnswerItem()
    for kind, text, drafted in said:
        if kind == "thought":
            item.feed_thought(text)
        else:
            item.feed_answer(text, drafted)
        for look in (LOOK, OPEN, TINTED):
            assert all(line.cells <= width for line in item.lines(width, look))
    item.finish(state, "18.3 tokens/s, acceptance 71 %, 2.4 tokens per pass")
    for look in (LOOK, OPEN, TINTED):
        assert all(line.cells <= width for line in item.lines(width, look))
