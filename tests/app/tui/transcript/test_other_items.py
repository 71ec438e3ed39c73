"""What the person said, and what the app says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.quick_tasks import Shown
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.transcript.divider_item import DividerItem
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.notice_item import NoticeItem
from gemma_local.app.tui.transcript.person_item import PersonItem
from gemma_local.app.tui.transcript.summary_item import SummaryItem
from gemma_local.app.tui.transcript.task_item import TaskItem
from tests.app.tui.transcript.looks import LOOK

FILE = "\n".join(f"file line {n}" for n in range(50))


def texts(item: Item, width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in item.lines(width, LOOK)]


def test_a_message_is_shown_as_it_was_written() -> None:
    item = PersonItem("  indented\n\n**not bold** [bold]\n")
    assert texts(item) == ["  indented", "", "**not bold** [bold]"]
    assert not item.toggle()


def test_a_long_message_is_folded_to_its_beginning() -> None:
    item = PersonItem(FILE)
    assert texts(item) == [*FILE.splitlines()[:8], "▸ 42 more lines"]
    assert item.toggle()
    assert texts(item) == [*FILE.splitlines(), "▾ show less"]
    assert item.plain() == FILE


def test_what_was_added_to_a_message_is_only_counted() -> None:
    text = f"What is @a.txt?\n\nFile a.txt:\n{FILE}\n"
    start = text.index(FILE)
    item = PersonItem(text, [(start, start + len(FILE))], written="What is @a.txt?")
    assert texts(item) == ["What is @a.txt?", "▸ 49 lines added"]
    assert item.plain() == "What is @a.txt?"
    assert [passage.is_folded for passage in item.passages()] == [False, True]
    assert item.toggle()
    assert "File a.txt:" in texts(item)
    assert texts(item)[-1] == "▾ show less"
    assert item.toggle()
    assert len(texts(item)) == 2


def test_files_are_folded_more_than_what_was_said_about_them() -> None:
    text = f"Look at this:\n\n{FILE}\n\nWhat is it?"
    item = PersonItem(text, [(15, 15 + len(FILE))])
    assert texts(item) == [
        "Look at this:",
        "",
        "▎ file line 0",
        "▎ file line 1",
        "▸ 48 more lines",
        "",
        "What is it?",
    ]
    item.toggle()
    assert [line.removeprefix("▎ ") for line in texts(item)[2:52]] == FILE.splitlines()


def test_a_paste_of_one_endless_line_is_folded_too() -> None:
    item = PersonItem("x" * 100_000)
    assert len(texts(item)) == 9
    assert texts(item)[-1] == "▸ 99,520 more characters"


def test_a_summary_says_what_it_is_until_it_is_opened() -> None:
    item = SummaryItem("We spoke about **rivers**.\n\n```\ncode\n```")
    assert texts(item) == ["what came before is summed up for the model"]
    item.toggle()
    assert texts(item)[2] == "We spoke about rivers."
    assert item.code() == ["code"]


@pytest.mark.parametrize("kind", ["quiet", "warning", "error"])
def test_notices_differ_without_colour(kind: str) -> None:
    item = NoticeItem("[bold]careful[/]", kind)  # type: ignore[arg-type]
    assert texts(item) == ["[bold]careful[/]"]
    others = {
        NoticeItem("", other).mark(look)[0]  # type: ignore[arg-type]
        for other in {"quiet", "warning", "error"} - {kind}
        for look in (LOOK,)
    }
    assert item.mark(LOOK)[0] not in others


def test_a_divider_goes_across() -> None:
    (line,) = DividerItem("a new conversation").lines(60, LOOK)
    assert line.cells == 60
    assert "a new conversation" in line.text


def test_a_task_is_plain_text_until_it_is_over() -> None:
    item = TaskItem("/proofread", "changes", "One two.")
    assert texts(item) == ["/proofread"]
    assert item.plain() == "/proofread"
    item.feed("**One**")
    item.feed(" too.\n```\ncode\n```")
    assert texts(item)[2:] == ["**One** too.", "```", "code", "```"]
    assert not item.code()
    item.finish("One too.", "in 2 parts")
    assert texts(item) == ["/proofread ⋅ 1 change ⋅ in 2 parts", "", "One twotoo."]
    assert item.plain() == "One too."
    item.finish("```\ncode\n```", "")
    assert item.code() == ["code"]


@pytest.mark.parametrize(
    ("shown_as", "result", "lines", "code"),
    [
        ("changes", "Right.", ["/do ⋅ nothing to correct", "", "Right."], []),
        ("text", "It is **one**.", ["/do", "", "It is one."], []),
        (
            "choices",
            "1. Yes.\n2. No,\nsorry.",
            ["/do", "", "1 Yes.", "", "2 No,", "  sorry."],
            ["Yes.", "No,\nsorry."],
        ),
        ("choices", "", ["/do"], []),
    ],
)
def test_a_task_is_shown_as_what_it_is(
    shown_as: Shown, result: str, lines: list[str], code: list[str]
) -> None:
    item = TaskItem("/do", shown_as, "Right.")
    item.finish(result, "")
    assert texts(item) == lines
    assert list(item.code()) == code
    assert list(item.choices) == (code if shown_as == "choices" else [])


def make(kind: int, text: str) -> Item:
    return [
        PersonItem(text),
        PersonItem(text, [(0, len(text) // 2)]),
        NoticeItem(text, "warning"),
        DividerItem(text),
        SummaryItem(text, label=text),
    ][kind]


@given(st.integers(0, 4), st.text(max_size=300), st.integers(20, 120), st.booleans())
def test_no_line_is_wider_than_there_is_room(
    kind: int, text: str, width: int, is_plain: bool
) -> None:
    item = make(kind, text)
    look = replace(LOOK, glyphs=ASCII) if is_plain else LOOK
    for _ in range(2):
        for line in item.lines(width, look):
            assert line.cells <= width
            assert "\n" not in line.text
            assert "\x1b" not in line.text
        item.toggle()
