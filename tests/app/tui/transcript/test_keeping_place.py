"""Where the view is when things are added, change, open, or get another width."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemma_local.app.tui.glyphs import UNICODE
from gemma_local.app.tui.transcript import item_pane
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.notice_item import NoticeItem
from gemma_local.app.tui.transcript.person_item import PersonItem
from gemma_local.app.tui.transcript.transcript import Transcript
from tests.app.tui.transcript.host import Host, painted

PERSON = UNICODE.person


def messages(count: int, words: int = 30) -> list[Item]:
    return [PersonItem(f"message {n} " + "word " * words, entry=n) for n in range(count)]


def wide(count: int) -> list[Item]:
    """Messages that are twice as high as is guessed from their length."""
    return [PersonItem(f"号{n}:" + "語" * 300) for n in range(count)]


async def test_it_opens_at_the_end() -> None:
    app = Host(messages(50))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.transcript.at_end
        assert painted(app)[-3].startswith(f"{PERSON} message 49")


async def test_what_is_added_comes_into_view_at_the_end() -> None:
    app = Host(messages(50))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for n in range(10):
            app.transcript.add(NoticeItem(f"notice {n}"))
            await pilot.pause()
            assert painted(app)[-1].strip().endswith(f"notice {n}")
        assert app.transcript.unseen == 0


async def test_what_is_added_does_not_move_a_view_that_is_elsewhere() -> None:
    app = Host(messages(50))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.transcript.scroll_lines(-30)
        await pilot.pause()
        before = painted(app)
        for n in range(3):
            app.transcript.add(PersonItem(f"later {n}"))
        await pilot.pause()
        assert painted(app) == before
        assert app.transcript.unseen == 3
        moved = app.of(Transcript.Moved)
        assert [(m.at_end, m.unseen) for m in moved] == [
            (False, 0),
            (False, 1),
            (False, 2),
            (False, 3),
        ]
        app.transcript.jump_to_end()
        await pilot.pause()
        assert painted(app)[-1].strip() == f"{PERSON} later 2"
        assert (app.of(Transcript.Moved)[-1].at_end, app.transcript.unseen) == (True, 0)


async def test_scrolling_to_the_end_follows_again() -> None:
    app = Host(messages(50))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.transcript.focus()
        await pilot.press("pageup", "pageup", "pagedown", "pagedown")
        assert [moved.at_end for moved in app.of(Transcript.Moved)] == [False, True]
        app.transcript.add(NoticeItem("at last"))
        await pilot.pause()
        assert painted(app)[-1].strip().endswith("at last")


@pytest.mark.parametrize("at", [0, 40, 400, 900])
async def test_heights_that_turn_out_otherwise_do_not_move_what_is_in_view(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_pane, "_PAUSE", 3_600.0)
    app = Host(wide(60))
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.transcript
        transcript.scroll_to(y=at, animate=False)
        await pilot.pause()
        before = painted(app)
        guessed = transcript.virtual_size.height
        paint_ahead(transcript)
        await pilot.pause()
        assert painted(app) == before
        assert transcript.virtual_size.height > guessed


async def test_scrolling_up_goes_line_by_line_through_what_was_never_painted() -> None:
    app = Host(wide(30))
    async with app.run_test(size=(80, 24)):
        transcript = app.transcript
        whole = painted(app)
        for _ in range(400):
            transcript.scroll_lines(-1)
            whole.insert(0, painted(app)[0])
            if transcript.scroll_offset.y == 0:
                break
        shown = [line.strip().removeprefix(f"{PERSON} ") for line in whole]
        text = "".join(shown)
        assert text == "".join(item.plain() for item in transcript.items)


async def test_the_line_at_the_top_stays_there_in_another_width() -> None:
    app = Host(messages(80, words=60))
    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.transcript
        transcript.scroll_to(y=transcript._layout.top(30) + 1, animate=False)
        await pilot.pause()
        assert painted(app)[0].startswith(f"{PERSON} message 30 ")
        await pilot.resize_terminal(60, 30)
        await pilot.pause()
        assert painted(app)[0].startswith(f"{PERSON} message 30 ")
        await pilot.resize_terminal(200, 60)
        await pilot.pause()
        assert painted(app)[0].startswith(f"{PERSON} message 30 ")
        assert not transcript.at_end


async def test_a_view_at_the_end_stays_there_in_another_size() -> None:
    app = Host(messages(80, words=60))
    async with app.run_test(size=(120, 40)) as pilot:
        for size in ((60, 30), (200, 60), (40, 10), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert app.transcript.at_end
            assert painted(app)[-1].strip().endswith("word")


async def test_the_text_is_no_wider_than_is_good_to_read() -> None:
    app = Host(messages(20, words=100))
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        assert 80 < max(len(line.rstrip()) for line in painted(app)) <= 102


async def test_what_is_not_in_view_is_not_painted() -> None:
    app = Host(messages(3_000))
    async with app.run_test(size=(80, 24)):
        transcript = app.transcript
        assert sum(bool(item.painted) for item in transcript.items) < 12
        assert transcript.virtual_size.height > 3_000


async def test_painted_lines_are_given_up_when_there_are_too_many() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.transcript
        transcript._layout._budget = 300
        transcript.extend(messages(500))
        paint_ahead(transcript)
        for _ in range(40):
            transcript.scroll_lines(-20)
            await pilot.pause()
        assert sum(len(item.painted) for item in transcript.items) <= 300
        assert "".join(painted(app)).strip()


async def test_an_item_that_changes_is_painted_again_wherever_it_is() -> None:
    items = messages(50)
    app = Host(items)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for item, text in ((items[49], "changed below"), (items[2], "changed above")):
            assert isinstance(item, PersonItem)
            item.text = text
            item._change()
            app.transcript.changed(item)
            await pilot.pause()
        assert painted(app)[-1].strip() == f"{PERSON} changed below"
        app.transcript.scroll_to(y=0, animate=False)
        await pilot.pause()
        assert any("changed above" in line for line in painted(app))


async def test_an_unknown_item_is_not_taken_for_another() -> None:
    app = Host(messages(3))
    async with app.run_test(size=(80, 24)):
        with pytest.raises(KeyError):
            app.transcript.changed(PersonItem("elsewhere"))


async def test_what_opens_stays_where_it_was_clicked() -> None:
    items = messages(20)
    items.insert(17, PersonItem("\n".join(f"line {n}" for n in range(60))))
    items += messages(1)
    app = Host(items)
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.pause()
        row = next(at for at, line in enumerate(painted(app)) if "52 more lines" in line)
        before = painted(app)
        await pilot.click(Transcript, offset=(6, row))
        assert painted(app)[: row - 1] == before[: row - 1]
        assert "line 20" in "".join(painted(app))
        assert not app.transcript.at_end


async def test_cleared_it_shows_what_there_is_to_do() -> None:
    app = Host(messages(50))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.transcript.empty = PersonItem("ask me").lines(70, app.look)
        app.transcript.clear()
        await pilot.pause()
        assert painted(app)[0].strip() == "ask me"
        assert app.transcript.at_end
        app.transcript.add(NoticeItem("hello"))
        await pilot.pause()
        assert [line.strip() for line in painted(app) if line.strip()] == ["∙ hello"]


async def test_another_look_is_seen_at_once_and_at_the_same_place() -> None:
    app = Host(messages(50))
    async with app.run_test(size=(120, 24)) as pilot:
        app.transcript.scroll_to(y=app.transcript._layout.top(20) + 1, animate=False)
        await pilot.pause()
        app.change_look(most=40)
        await pilot.pause()
        assert painted(app)[0].startswith(f"{PERSON} message 20 ")
        assert max(len(line.rstrip()) for line in painted(app)) <= 42


async def test_a_look_can_be_given_before_there_is_a_place_on_the_screen() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = Transcript(app.look)
        transcript.look = replace(app.look, most=30)
        transcript.extend(messages(3))
        await app.mount(transcript)
        await pilot.pause()
        assert max(len(transcript.render_line(y).text.rstrip()) for y in range(10)) <= 32


def paint_ahead(transcript: Transcript) -> None:
    """Do what is otherwise done in idle moments."""
    layout = transcript._layout
    while next(layout.unmeasured(transcript._keep.index), None) is not None:
        transcript._paint_ahead()
