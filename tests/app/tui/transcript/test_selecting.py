"""Text is selected with the mouse, and copied as it was said."""

from __future__ import annotations

import asyncio

from textual import events
from textual.pilot import Pilot

from gemma_local.app.tui.transcript.answer_item import AnswerItem
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.notice_item import NoticeItem
from gemma_local.app.tui.transcript.person_item import PersonItem
from gemma_local.app.tui.transcript.transcript import Transcript
from gemma_local.models.message import Message
from tests.app.tui.transcript.host import Host, painted

LONG = " ".join(f"word{n}" for n in range(40))
CODE = "def f(x):\n    return x  # " + "long " * 30 + "\n\nprint(f(1))"


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Press, move and let go; returns what is selected then."""
    await pilot.mouse_down(Transcript, offset=start)
    await pilot.hover(Transcript, offset=((start[0] + end[0]) // 2, end[1]))
    await pilot.hover(Transcript, offset=end)
    await pilot.mouse_up(Transcript, offset=end)
    return pilot.app.screen.get_selected_text() or ""


async def test_a_part_of_a_line() -> None:
    app = Host([PersonItem("the quick brown fox")])
    async with app.run_test(size=(80, 24)) as pilot:
        assert await drag(pilot, (6, 0), (10, 0)) == "quick"
        assert await drag(pilot, (10, 0), (6, 0)) == "quick"


async def test_lines_that_the_screen_broke_come_out_in_one_piece() -> None:
    app = Host([PersonItem(LONG)])
    async with app.run_test(size=(50, 24)) as pilot:
        assert await drag(pilot, (0, 0), (49, 20)) == LONG


async def test_across_messages_the_gutter_is_left_out() -> None:
    app = Host([PersonItem("a question"), NoticeItem("a notice"), PersonItem("another")])
    async with app.run_test(size=(80, 24)) as pilot:
        assert await drag(pilot, (4, 0), (5, 4)) == "question\n\na notice\n\nanot"


async def test_decoration_of_an_answer_is_left_out() -> None:
    app = Host([AnswerItem.of(Message("assistant", "> quoted **text**\n\n- one\n- two"))])
    async with app.run_test(size=(80, 24)) as pilot:
        text = await drag(pilot, (0, 0), (79, 10))
        assert "quoted text" in text
        assert "one" in text.splitlines()
        assert app.look.glyphs.quote not in text


async def test_code_comes_out_exactly_although_it_is_wrapped() -> None:
    app = Host([AnswerItem.of(Message("assistant", f"```python\n{CODE}\n```"))])
    async with app.run_test(size=(60, 24)) as pilot:
        assert await drag(pilot, (0, 0), (59, 20)) == CODE


async def test_wide_characters_are_selected_where_the_pointer_is() -> None:
    app = Host([PersonItem("日本語 text")])
    async with app.run_test(size=(80, 24)) as pilot:
        assert await drag(pilot, (4, 0), (6, 0)) == "本語"


async def test_what_is_selected_is_painted_so_and_stays_when_lines_come_above_and_below() -> None:
    items: list[Item] = [PersonItem(f"message {n}") for n in range(40)]
    app = Host(items)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = await drag(pilot, (2, 3), (8, 7))
        chosen = app.screen.get_component_rich_style("screen--selection").bgcolor
        styles = [part.style for part in app.transcript.render_line(5) if part.style is not None]
        selected = [style for style in styles if style.bgcolor == chosen]
        assert selected
        assert all(style.color != chosen for style in selected)
        first = items[0]
        assert isinstance(first, PersonItem)
        first.text = "higher\n" * 10
        first._change()
        app.transcript.changed(first)
        app.transcript.add(NoticeItem("more"))
        await pilot.pause()
        assert app.screen.get_selected_text() == text


async def test_a_selection_grows_while_it_is_held_at_the_edge() -> None:
    app = Host([PersonItem(f"message {n}") for n in range(100)])
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.scroll_to(y=0, animate=False)
        await pilot.pause()
        await pilot.mouse_down(Transcript, offset=(2, 10))
        await pilot.hover(Transcript, offset=(10, 15))
        # The pilot's pointer has no speed, and only a pointer that moves down makes text scroll.
        app.screen._forward_event(
            events.MouseMove(app.transcript, 10, 23, 0, 8, 1, False, False, False, 10, 23)
        )
        before = app.screen.get_selected_text() or ""
        async with asyncio.timeout(20):
            while app.transcript.scroll_offset.y < 20:
                await pilot.pause(0.02)
        await pilot.pause()
        longer = app.screen.get_selected_text() or ""
        await pilot.mouse_up(Transcript, offset=(10, 23))
        assert longer.startswith(before)
        assert longer.count("message") > before.count("message") + 5


async def test_a_double_click_selects_a_word_and_a_third_the_message() -> None:
    app = Host([PersonItem("above"), PersonItem("some_name is a word"), PersonItem("below")])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.double_click(Transcript, offset=(5, 2))
        assert app.screen.get_selected_text() == "some_name"
        await pilot.triple_click(Transcript, offset=(5, 2))
        assert app.screen.get_selected_text() == "some_name is a word"


async def test_another_width_drops_a_selection_that_would_be_elsewhere() -> None:
    app = Host([PersonItem(LONG)])
    async with app.run_test(size=(50, 24)) as pilot:
        assert await drag(pilot, (2, 0), (20, 2))
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert not app.screen.get_selected_text()


async def test_dragging_over_something_that_opens_does_not_open_it() -> None:
    app = Host([PersonItem("\n".join(f"line {n}" for n in range(60)))])
    async with app.run_test(size=(80, 24)) as pilot:
        before = painted(app)
        row = next(at for at, line in enumerate(before) if "52 more lines" in line)
        await drag(pilot, (4, 2), (6, row))
        assert [line.strip() for line in painted(app)] == [line.strip() for line in before]
