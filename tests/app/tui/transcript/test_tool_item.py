"""Tools while they run, and what came of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.agent.events import Outcome, ToolEnded, ToolOutput, ToolStarted
from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.transcript.kept_output import HEAD, TAIL
from gemma_local.app.tui.transcript.tool_item import ToolItem
from gemma_local.app.tui.transcript.transcript import Transcript
from tests.app.tui.transcript.clock import Clock
from tests.app.tui.transcript.host import Host, painted
from tests.app.tui.transcript.looks import LOOK

STARTED = ToolStarted("1", "run", "pytest -q")


def texts(item: ToolItem, width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in item.lines(width, LOOK)]


def test_while_it_runs_the_time_and_the_last_of_the_output_are_seen() -> None:
    clock = Clock()
    item = ToolItem(STARTED, clock=clock)
    assert texts(item) == ["run pytest -q ⋅ 0.0 s"]
    item.write(ToolOutput("1", "".join(f"line {n}\n" for n in range(20)) + "half a li"))
    clock.now += 3
    assert item.tick()
    assert texts(item) == [
        "run pytest -q ⋅ 3 s",
        *(f"  line {n}" for n in range(15, 20)),
        "  half a li",
    ]
    assert item.is_running


def test_its_mark_turns_while_it_runs() -> None:
    item = ToolItem(STARTED)
    marks = set()
    for _ in range(len(LOOK.glyphs.spinner)):
        marks.add(item.mark(LOOK)[0])
        item.tick()
    assert marks == set(LOOK.glyphs.spinner)


OUTCOMES: dict[Outcome, str] = {
    "ok": "run pytest -q ⋅ exit 1 ⋅ 2 s ▸",
    "failed": "run pytest -q ⋅ failed: exit 1 ⋅ 2 s ▸",
    "refused": "run pytest -q ⋅ refused: exit 1 ⋅ 2 s ▸",
    "stopped": "run pytest -q ⋅ stopped: exit 1 ⋅ 2 s ▸",
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_at_the_end_there_is_one_line_that_says_how_it_went(outcome: Outcome) -> None:
    item = ToolItem(STARTED)
    item.write(ToolOutput("1", "some output\n"))
    item.end(ToolEnded("1", outcome, "exit 1", "some output", seconds=2.1))
    assert texts(item) == [OUTCOMES[outcome]]
    assert not item.is_running
    assert not item.tick()


@pytest.mark.parametrize("glyphs", [LOOK.glyphs, ASCII])
def test_outcomes_differ_without_colour(glyphs: object) -> None:
    look = replace(LOOK, glyphs=glyphs)  # type: ignore[arg-type]
    marks = []
    for outcome in OUTCOMES:
        item = ToolItem(STARTED)
        item.end(ToolEnded("1", outcome, ""))
        marks.append(item.mark(look)[0])
    assert len(set(marks)) == len(marks)


def test_toggled_it_shows_all_that_was_written() -> None:
    item = ToolItem(STARTED)
    item.write(ToolOutput("1", "one\n\x1b[31mtwo\x1b[0m\n[/] three\n"))
    item.end(ToolEnded("1", "ok", "3 lines", "for the model"))
    assert item.toggle()
    assert texts(item) == ["run pytest -q ⋅ 3 lines ▾", "  one", "  two", "  [/] three"]
    assert item.toggle()
    assert len(texts(item)) == 1


def test_a_tool_that_wrote_nothing_shows_what_the_model_reads() -> None:
    item = ToolItem(ToolStarted("1", "read", "a.py"))
    item.end(ToolEnded("1", "ok", "2 lines", "first\nsecond"))
    item.toggle()
    assert texts(item)[1:] == ["  first", "  second"]


def test_a_tool_that_brought_nothing_has_nothing_to_open() -> None:
    item = ToolItem(STARTED)
    item.end(ToolEnded("1", "refused", "no"))
    assert not item.toggle()
    assert texts(item) == ["run pytest -q ⋅ refused: no"]


def test_a_change_of_a_file_is_shown_as_a_diff() -> None:
    item = ToolItem(ToolStarted("1", "edit", "a.py"))
    diff = FileDiff("a.py", "one = 1\ntwo = 2\n", "one = 1\ntwo = 3\n")
    item.end(ToolEnded("1", "ok", "+1 -1", "done", diff))
    item.toggle()
    shown = texts(item)
    assert any("two = 2" in line and "-" in line for line in shown)
    assert any("two = 3" in line and "+" in line for line in shown)
    assert "two = 3" in item.plain()


def test_of_endless_output_the_beginning_and_the_end_are_shown_and_the_rest_is_counted() -> None:
    item = ToolItem(STARTED)
    for n in range(100_000):
        item.write(ToolOutput("1", f"line {n}\n"))
    item.end(ToolEnded("1", "ok", ""))
    item.toggle()
    shown = texts(item)
    assert len(shown) == 1 + HEAD + 1 + TAIL
    assert shown[1].strip() == "line 0"
    assert shown[-1].strip() == "line 99999"
    assert shown[1 + HEAD].strip() == "… 99,600 lines left out"


def test_a_long_title_gives_way_to_how_it_went() -> None:
    item = ToolItem(ToolStarted("1", "run", "make " + "target " * 40))
    item.end(ToolEnded("1", "failed", "exit 2"))
    assert texts(item, 50)[0].endswith("… ⋅ failed: exit 2")
    assert item.lines(50, LOOK)[0].cells <= 50


async def test_a_click_opens_it_and_what_it_wrote_is_copied_without_the_indent() -> None:
    item = ToolItem(STARTED)
    item.end(ToolEnded("1", "ok", "2 lines", "first\nsecond"))
    app = Host([item])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(Transcript, offset=(8, 0))
        assert painted(app)[1].strip() == "first"
        await pilot.mouse_down(Transcript, offset=(0, 1))
        await pilot.hover(Transcript, offset=(50, 2))
        await pilot.mouse_up(Transcript, offset=(50, 2))
        assert app.screen.get_selected_text() == "first\nsecond"


async def test_time_goes_on_only_where_something_runs() -> None:
    clock = Clock()
    running, over = ToolItem(STARTED, clock=clock), ToolItem(STARTED, clock=clock)
    over.end(ToolEnded("1", "ok", "fine", seconds=1.0))
    app = Host([over, running])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        revision = over.revision
        clock.now += 5
        app.transcript.tick()
        await pilot.pause()
        assert painted(app)[1].rstrip().endswith("⋅ 5 s")
        assert over.revision == revision


@given(st.text(max_size=60), st.text(max_size=200), st.integers(8, 120), st.booleans())
def test_no_line_is_wider_than_there_is_room(
    title: str, output: str, width: int, has_ended: bool
) -> None:
    item = ToolItem(ToolStarted("1", title, title))
    item.write(ToolOutput("1", output))
    assert all(line.cells <= width for line in item.lines(width, LOOK))
    if has_ended:
        item.end(ToolEnded("1", "failed", title, output))
    item.toggle()
    assert all(line.cells <= width for line in item.lines(width, LOOK))
    assert all("\x1b" not in line.text for line in item.lines(width, LOOK))
