"""Going through the items with the keyboard, and what the mouse does by clicking."""

from __future__ import annotations

from textual import events

from gemma_local.app.tui.transcript.answer_item import AnswerItem
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.notice_item import NoticeItem
from gemma_local.app.tui.transcript.person_item import PersonItem
from gemma_local.app.tui.transcript.transcript import Transcript
from gemma_local.models.message import Message
from tests.app.tui.transcript.host import Host, painted

ANSWER = "First:\n\n```python\nprint(1)\n```\n\nThen:\n\n```sh\nls -l\n```"


def talk(count: int) -> list[Item]:
    items: list[Item] = []
    for n in range(count):
        items.append(PersonItem(f"question {n}", entry=2 * n + 1))
        message = Message("assistant", f"answer {n}", thought=f"thought {n}")
        items.append(AnswerItem.of(message, entry=2 * n + 2))
    return items


def marked(app: Host) -> list[str]:
    """The lines that have the mark of the keyboard before them."""
    mark = app.look.glyphs.cursor
    return [line[1:].strip() for line in painted(app) if line.startswith(mark)]


async def test_the_mark_begins_at_the_last_item_and_goes_up_and_down() -> None:
    app = Host(talk(30))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert marked(app) == []
        app.transcript.focus()
        await pilot.pause()
        assert marked(app)[-1] == "answer 29"
        await pilot.press("up")
        assert marked(app) == ["question 29"]
        await pilot.press("k", "k", "j")
        assert marked(app) == ["Thought", "", "answer 28"]
        for _ in range(20):
            await pilot.press("up")
        assert marked(app) == ["Thought", "", "answer 18"]
        await pilot.press("g")
        assert marked(app) == ["question 0"]
        await pilot.press("G")
        assert marked(app)[-1] == "answer 29"
        await pilot.press("escape")
        assert len(app.of(Transcript.Left)) == 1


async def test_without_the_focus_there_is_no_mark() -> None:
    app = Host(talk(3))
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.focus()
        await pilot.pause()
        assert marked(app)
        app.screen.set_focus(None)
        await pilot.pause()
        assert not marked(app)


async def test_an_item_higher_than_the_view_is_gone_through_before_it_is_left() -> None:
    tall = AnswerItem.of(Message("assistant", "\n\n".join(f"paragraph {n}" for n in range(40))))
    app = Host([PersonItem("before"), tall, PersonItem("after")])
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.focus()
        await pilot.press("g", "down")
        seen = set()
        for _ in range(20):
            seen |= {line for line in marked(app) if line}
            if "after" in marked(app):
                break
            await pilot.press("down")
        assert seen == {"after", *(f"paragraph {n}" for n in range(40))}


async def test_pages_move_the_mark_along() -> None:
    app = Host(talk(50))
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.focus()
        await pilot.press("pageup", "pageup")
        assert marked(app)
        await pilot.press("ctrl+home")
        assert marked(app) == ["question 0"]


async def test_enter_opens_and_closes_a_thought() -> None:
    app = Host(talk(2))
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.focus()
        await pilot.press("enter")
        assert any("thought 1" in line for line in painted(app))
        await pilot.press("space")
        assert not any("thought 1" in line for line in painted(app))


async def test_a_click_opens_a_thought_too() -> None:
    app = Host(talk(1))
    async with app.run_test(size=(80, 24)) as pilot:
        row = next(at for at, line in enumerate(painted(app)) if "Thought" in line)
        await pilot.click(Transcript, offset=(0, row))
        assert any("thought 0" in line for line in painted(app))
        await pilot.click(Transcript, offset=(4, row))
        assert not any("thought 0" in line for line in painted(app))


async def test_copying_asks_for_the_source() -> None:
    answer = AnswerItem.of(Message("assistant", ANSWER), entry=7)
    app = Host([PersonItem("question"), answer])
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.focus()
        await pilot.press("c", "C", "1", "2", "3")
        asked = [message.text for message in app.of(Transcript.CopyAsked)]
        assert asked == [ANSWER, "ls -l", "print(1)", "ls -l"]


async def test_a_click_on_copy_copies_that_block() -> None:
    app = Host([AnswerItem.of(Message("assistant", ANSWER))])
    async with app.run_test(size=(80, 24)) as pilot:
        rows = [at for at, line in enumerate(painted(app)) if line.rstrip().endswith("copy")]
        assert len(rows) == 2
        for row in rows:
            column = painted(app)[row].index("copy") + 1
            await pilot.click(Transcript, offset=(column, row))
        assert [message.text for message in app.of(Transcript.CopyAsked)] == ["print(1)", "ls -l"]


async def test_a_click_on_a_link_asks_for_its_address() -> None:
    app = Host([AnswerItem.of(Message("assistant", "see [here](https://example.org/a)"))])
    async with app.run_test(size=(80, 24)) as pilot:
        column = painted(app)[0].index("here") + 1
        await pilot.click(Transcript, offset=(column, 0))
        assert [message.address for message in app.of(Transcript.LinkAsked)] == [
            "https://example.org/a"
        ]


async def test_rewinding_and_branching_name_the_entry() -> None:
    app = Host([*talk(2), NoticeItem("a notice")])
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.focus()
        await pilot.press("r", "b", "up", "r", "up", "b")
        assert [message.entry for message in app.of(Transcript.RewindAsked)] == [4]
        assert [message.entry for message in app.of(Transcript.BranchAsked)] == [3]


async def test_keys_do_nothing_where_there_is_nothing() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.focus()
        keys = ("up", "down", "pageup", "pagedown", "home", "end", "enter", "c", "C", "1", "r", "b")
        await pilot.press(*keys)
        assert app.heard == []


async def test_the_wheel_scrolls() -> None:
    app = Host(talk(50))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        top = app.transcript.scroll_offset.y
        wheel = events.MouseScrollUp(app.transcript, 5, 5, 0, 0, 0, False, False, False)
        app.transcript.post_message(wheel)
        await pilot.pause()
        assert app.transcript.scroll_offset.y < top
        assert not app.transcript.at_end
