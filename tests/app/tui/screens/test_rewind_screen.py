"""Choosing the message to go back to, with what would go before the eyes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from gemma_local.app.sessions.entry import Entry
from gemma_local.app.tui.screens.rewind import RewindPicker
from gemma_local.models.message import Message, ToolCall
from tests.app.tui.screens.host import Host, keys, seen, text_of, until

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CONVERSATION = [
    Message("user", "\n\nFirst [question]\x1b[2J with a tail"),
    Message("assistant", "I look.", calls=(ToolCall("read_file", {"path": "a.py"}),)),
    Message("tool", "the file", tool="read_file"),
    Message("assistant", "First answer"),
    Message("user", "Zweite Frage: 日本語"),
    Message("assistant", "Second answer"),
    Message("user", "Third"),
]


def entries() -> list[Entry]:
    return [
        Entry(message=message, number=number, at=NOW - timedelta(minutes=60 - number))
        for number, message in enumerate(CONVERSATION, start=1)
    ]


async def test_the_newest_is_last_and_highlighted() -> None:
    host = Host(RewindPicker(entries(), now=NOW))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Third" in seen(pilot))
        shown = seen(pilot)
        assert shown.index("First [question] [2J with a tail") < shown.index("Zweite Frage")
        assert "First answer" not in shown and "59 min ago" in shown
        # Counted as /rewind counts, and not as they are kept.
        assert "3  Third" in shown
        assert text_of(pilot, "#saying").startswith("1 message would go")
        assert keys(host) == "Go back, What goes, Stay"
        # What follows each of them.
        assert re.findall(r"(\d) more", shown) == ["6", "2"]
        await pilot.press("up")
        assert text_of(pilot, "#saying").startswith("3 messages would go")
        await pilot.press("enter")
    assert host.results == [5]


async def test_what_would_go_is_shown() -> None:
    host = Host(RewindPicker(entries(), now=NOW))
    async with host.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "Third" in seen(pilot))
        await pilot.press("ctrl+home")
        await until(pilot, lambda: "First answer" in seen(pilot))
        assert seen(pilot).count("would go") == 1
        assert "calls read_file" in seen(pilot) and "Tool: read_file" in seen(pilot)
        await pilot.press("down")
        await until(pilot, lambda: "First answer" not in seen(pilot))
        assert "Second answer" in seen(pilot)


async def test_a_branch_takes_nothing_away() -> None:
    host = Host(RewindPicker(entries(), "branch", now=NOW))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Third" in seen(pilot))
        assert "Branch off" in text_of(pilot, "#heading")
        assert "stays as it is" in text_of(pilot, "#saying")
        assert keys(host) == "Branch off, What stays out, Stay"
        await until(pilot, lambda: "Branch off" in seen(pilot).split("\n")[-1])
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "Third" in text_of(pilot, "#preview"))
        await pilot.press("escape")
        await pilot.press(*"zweite")
        await until(pilot, lambda: "Third" not in seen(pilot))
        await pilot.press("enter")
    assert host.results == [5]


async def test_a_conversation_without_a_message() -> None:
    host = Host(RewindPicker([], now=NOW))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "nothing was said yet" in text_of(pilot, "#saying"))
        await pilot.press("enter", "ctrl+o", "escape", "escape")
    assert host.results == [None]


async def test_a_long_conversation_begins_at_its_end() -> None:
    long = [
        Entry(message=Message("user", f"message {number}"), number=number, at=NOW)
        for number in range(1, 201)
    ]
    host = Host(RewindPicker(long, now=NOW))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "message 200" in seen(pilot))
        assert "message 1 " not in seen(pilot)
