"""What was painted before is not painted again, and what must be is."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip
from textual.widget import Widget

from gemma_local.app.tui.transcript.answer_item import AnswerItem
from gemma_local.app.tui.transcript.notice_item import NoticeItem
from gemma_local.app.tui.transcript.person_item import PersonItem
from gemma_local.app.tui.transcript.scrollbar import CalmScrollBar
from tests.app.tui.transcript.host import Host


def shown(widget: Widget) -> Sequence[Strip]:
    return widget.render_lines(widget.size.region)


def people(count: int) -> list[PersonItem]:
    return [PersonItem(f"message {n}") for n in range(count)]


async def test_lines_that_move_keep_their_strips() -> None:
    app = Host(people(50))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        before = shown(app.transcript)
        app.transcript.scroll_lines(-1)
        await pilot.pause()
        after = shown(app.transcript)
        assert all(one is other for one, other in zip(before, after[1:], strict=False))


async def test_of_an_answer_that_grows_only_what_changes_is_painted() -> None:
    app = Host(people(5))
    async with app.run_test(size=(80, 24)) as pilot:
        answer = AnswerItem()
        app.transcript.add(answer)
        for piece in ("The first par", "agraph.\n\nThe sec", "ond one"):
            answer.feed_answer(piece)
            app.transcript.changed(answer)
            await pilot.pause()
            # The line of the block that was open a moment ago, too.
            before = shown(app.transcript)
            assert all(
                one is other for one, other in zip(before, shown(app.transcript), strict=True)
            )
        before = shown(app.transcript)
        answer.feed_answer(" goes on")
        app.transcript.changed(answer)
        await pilot.pause()
        new = [one.text.strip() for one in shown(app.transcript) if one not in before]
        assert new == ["The second one goes on"]


async def test_lines_are_as_wide_as_the_view_even_where_text_is_not() -> None:
    app = Host(people(3))
    async with app.run_test(size=(160, 24)) as pilot:
        for width in (160, 200, 140):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert {strip.cell_length for strip in shown(app.transcript)} == {width}


async def test_filters_apply() -> None:
    app = Host(people(3))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.transcript.get_line_filters()
        background = app.transcript.background_colors[1]
        for y, strip in enumerate(shown(app.transcript)):
            expected = app.transcript.render_line(y)
            for each in app.transcript.get_line_filters():
                expected = expected.apply_filter(each, background)
            assert strip == expected


async def test_the_scrollbar_always_looks_as_it_should() -> None:
    app = Host(people(3))
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.transcript
        bar = transcript.vertical_scrollbar
        assert isinstance(bar, CalmScrollBar)
        pictures = set()
        for step in range(60):
            if step % 3:
                transcript.extend(people(step))
            else:
                transcript.scroll_lines(-step)
            if step == 30:
                app.theme = "gemma-light"
            if step == 40:
                bar.mouse_over = True
            if step == 50:
                await pilot.resize_terminal(60, 18)
            await pilot.pause()
            kept = shown(bar)
            bar._styles_cache.clear()
            assert shown(bar) == kept
            pictures.add(tuple(strip.text for strip in kept))
        assert len(pictures) > 10


async def test_in_a_long_conversation_a_line_more_leaves_the_scrollbar_alone() -> None:
    app = Host(people(2000))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        bar = app.transcript.vertical_scrollbar
        before = bar.render_lines(bar.size.region)[0]
        for n in range(5):
            app.transcript.add(NoticeItem(f"notice {n}"))
            await pilot.pause()
        assert bar.render_lines(bar.size.region)[0] is before
