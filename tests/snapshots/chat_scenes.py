"""Scenes of the chat."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from textual.pilot import Pilot

from gemma_local.app.agent.consent import Proposal
from gemma_local.app.launch import Launch
from gemma_local.app.tui.approval.card import GRACE, ApprovalCard
from gemma_local.app.tui.glyphs import UNICODE
from gemma_local.app.tui.opening_words import opening_words
from gemma_local.app.tui.status.status import Status
from gemma_local.app.tui.transcript.item import Item
from gemma_local.engine.messages import Load, Loading
from tests.app.tui.status.measurements import READY
from tests.snapshots import conversation
from tests.snapshots.conversation import LIVE, STATUS
from tests.snapshots.stage import FOLDER, ChatStage, Scene, Show, chat_of, until

FILES = (
    "src/readings.py",
    "src/report.py",
    "tests/test_readings.py",
    "data/north.csv",
    "README.md",
)


def _said(*items: Item, status: Status = STATUS) -> Show:
    async def show(pilot: Pilot[None]) -> None:
        chat_of(pilot, status).transcript.extend(items)

    return show


def _after(*items: Item, keys: Sequence[str], text: str, status: Status = STATUS) -> Show:
    """Keys pressed then, and what comes of them."""

    async def show(pilot: Pilot[None]) -> None:
        chat_of(pilot, status).transcript.extend(items)
        await pilot.pause()
        await pilot.press(*keys)
        await until(pilot, text)

    return show


def _asked(proposal: Proposal) -> Show:
    async def show(pilot: Pilot[None]) -> None:
        chat = chat_of(pilot, STATUS)
        chat.transcript.extend([conversation.question()])
        now = [100.0]
        card = ApprovalCard(proposal, glyphs=UNICODE, clock=lambda: now[0])
        await chat.mount(card, before=chat.composer)
        now[0] += GRACE
        await pilot.pause(GRACE + 0.1)

    return show


async def _empty(pilot: Pilot[None]) -> None:
    chat = chat_of(pilot, Status(model="E4B", pair="ready", context_size=32768))
    # Of the target nothing is told before it is loaded.
    look, launch = chat.transcript.look, Launch(cast(Any, None), Load(READY.target))
    chat._greet = lambda: None  # type: ignore[method-assign]
    chat.transcript.empty = opening_words(look, chat.size.width, FOLDER, launch, READY, "")


async def _thoughts(pilot: Pilot[None]) -> None:
    chat = chat_of(pilot, STATUS)
    chat.change_look(replace(chat.transcript.look, thoughts=True, tint=True))
    chat.transcript.extend([conversation.question(), conversation.answer()])
    await pilot.pause()
    await pilot.press("ctrl+home")


async def _waiting(pilot: Pilot[None]) -> None:
    chat = chat_of(pilot, LIVE)
    chat.transcript.extend([conversation.question(), conversation.coming()])
    chat.composer.set_queue(["and which stations are above 2,000 m?", "/compact"])
    chat.composer.write("write a test for it,\nand one for a file without rows")


async def _banner(pilot: Pilot[None]) -> None:
    chat = chat_of(pilot, replace(STATUS, pair="down"))
    chat.transcript.extend([conversation.question(), *conversation.remarks()])
    chat._banner.show(is_down=True)


async def _tools(pilot: Pilot[None]) -> None:
    chat_of(pilot, STATUS).transcript.extend(conversation.tools())


async def _running(pilot: Pilot[None]) -> None:
    chat_of(pilot, LIVE).transcript.extend([*conversation.running(), conversation.coming()])


def _with_files(theme: str) -> ChatStage:
    folder = Path(tempfile.mkdtemp())
    for name in FILES:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("text\n")
    return ChatStage(theme, folder)


def _fresh(make: Callable[[], Sequence[Item]], show: Callable[..., Show], **how: object) -> Show:
    """Items remember how they were painted: each picture has its own."""

    async def shown(pilot: Pilot[None]) -> None:
        await show(*make(), **how)(pilot)

    return shown


def _both() -> Sequence[Item]:
    return (conversation.question(), conversation.answer())


def _question() -> Sequence[Item]:
    return (conversation.question(),)


SCENES = [
    Scene("chat-empty", ChatStage, _empty),
    Scene("chat-loading", ChatStage, _said(status=Status(model="E4B", pair="loading",
                                                        loading=Loading("context", 0.43)))),
    Scene("chat-answer", ChatStage, _fresh(_both, _said)),
    Scene("chat-answer-begin", ChatStage, _fresh(_both, _after, keys=["ctrl+home"], text="Why")),
    Scene("chat-thoughts-tint", ChatStage, _thoughts),
    Scene("chat-tools", ChatStage, _tools),
    Scene("chat-running", ChatStage, _running),
    Scene("chat-queue", ChatStage, _waiting),
    Scene("chat-banner", ChatStage, _banner),
    Scene("approval-edit", ChatStage, _asked(conversation.EDIT)),
    Scene("approval-command", ChatStage, _asked(conversation.COMMAND)),
    Scene(
        "chat-browsing",
        ChatStage,
        _fresh(_both, _after, keys=["ctrl+up", "up"], text="rewind"),
    ),
    Scene(
        "find",
        ChatStage,
        _fresh(_both, _after, keys=["ctrl+f", *"silent"], text="1 of"),
    ),
    Scene("palette", ChatStage, _fresh(_question, _after, keys=["ctrl+p", *"mod"], text="model")),
    Scene(
        "complete-command", ChatStage, _fresh(_question, _after, keys=["/", *"co"], text="/context")
    ),
    Scene(
        "complete-file",
        _with_files,
        _fresh(_question, _after, keys=[*"see ", "@", *"re"], text="report.py"),
    ),
]  # fmt: skip
