"""Scenes of the screens around the chat."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from textual.pilot import Pilot
from textual.screen import Screen

from gemma_local.app.context_window import ContextUse, Window
from gemma_local.app.fetching import Fetching, FetchState
from gemma_local.app.offers import Offer
from gemma_local.app.readiness import Readiness
from gemma_local.app.sessions.entry import Entry
from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.speed_log import SpeedLog
from gemma_local.app.tui.screens.context import ContextScreen
from gemma_local.app.tui.screens.download import DownloadScreen
from gemma_local.app.tui.screens.first_start import FirstStart
from gemma_local.app.tui.screens.help import HelpScreen
from gemma_local.app.tui.screens.models import ModelPicker
from gemma_local.app.tui.screens.rewind import RewindPicker
from gemma_local.app.tui.screens.sessions import SessionPicker
from gemma_local.app.tui.screens.stats import StatsScreen
from gemma_local.app.tui.status.context_facts import ContextFacts, Sized
from gemma_local.app.tui.status.measured import Measured
from gemma_local.engine.plan.choice import plan_one
from gemma_local.models.message import Message
from gemma_local.models.store.progress import FileProgress
from tests.app.tui.status.measurements import READY, full_log
from tests.engine.plan.machines import GIB, candidates, machine
from tests.snapshots.stage import FOLDER, PageStage, Scene, Show, until

NOW = datetime(2026, 5, 17, 15, 30, tzinfo=UTC)
_GOT = 3 * GIB


def _offers(gib: int = 28) -> list[Offer]:
    where = machine(available=gib * GIB, total=(gib + 4) * GIB)
    offers = [
        Offer(
            name=candidate.label,
            label=candidate.label,
            quantisation=candidate.quantisation,
            bytes=candidate.bytes,
            path=None,
            where="google/gemma-4",
            has_drafter=True,
            planned=plan_one(where, candidate),
        )
        for candidate in candidates()
    ]
    here = replace(offers[0], name="gemma-4-E2B-it-Q4_0", path=Path("/models/e2b.gguf"))
    return [*offers, replace(here, where="LM Studio")]


def _poor(_: Callable[[str], None]) -> Readiness:
    offers = tuple(offer for offer in _offers(2) if offer.path is None)
    return Readiness(
        machine=("A processor, 2 cores to compute with", "4 GB, 2 GB available"),
        offers=offers,
        suited=None,
        why="No size fits into what is free.",
    )


def _readiness(_: Callable[[str], None]) -> Readiness:
    offers = tuple(offer for offer in _offers() if offer.path is None)
    return Readiness(
        machine=("A processor, 8 cores to compute with", "32 GB, 28 GB available"),
        offers=offers,
        suited=offers[1],
        why="E4B gives the best answers that are fast enough.",
    )


class _Still(Fetching):
    """A download in which nothing happens."""

    def __init__(self, state: FetchState) -> None:
        self.name, self.what = "Gemma 4 E4B", "E4B"
        self._kept = state

    def state(self) -> FetchState:
        return self._kept

    def start(self) -> None:
        pass


def _download(stage: str, **more: object) -> Callable[[], Screen[Any]]:
    files = (
        FileProgress("gemma-4-E4B-it-Q4_0.gguf", _GOT, 5 * GIB, "fetching"),
        FileProgress("mtp-gemma-4-E4B-it-Q8_0.gguf", 0, GIB // 8, "waiting"),
    )
    state = FetchState(
        cast(Any, stage), files, _GOT, sum(file.bytes for file in files), **cast(Any, more)
    )
    return lambda: DownloadScreen(_Still(state))


def _entries() -> list[Entry]:
    said = (
        "Why does the mean of @src/readings.py fail on the new files?",
        "Mend it, and run the tests.",
        "Yes, change the test.\nAnd write one for a file without rows.",
        "Which stations are above 2,000 m?",
    )
    entries: list[Entry] = []
    for at, text in enumerate(said):
        for role, words in (("user", text), ("assistant", "It is done.")):
            number = len(entries) + 1
            when = NOW - timedelta(minutes=90 - 20 * at)
            message = Message(cast(Any, role), words)
            entries.append(Entry(number=number, at=when, message=message))
    return entries


_CONTEXT = ContextFacts(
    ContextUse(Window(32768), 812, 1440, 6300, 9100),
    cached=17012,
    largest=(
        Sized("tool", "read src/readings.py 1-400", 3110),
        Sized("user", "Why does the mean of @src/readings.py fail on the new files?", 6300),
        Sized("assistant", "read takes the row of names for numbers", 900),
    ),
)


def _sessions() -> Screen[Any]:
    store = SessionStore.open(Path(tempfile.mkdtemp()) / "sessions.sqlite3")
    for title, answer in (
        ("What does EAGAIN mean?", "That it would have to wait."),
        ("Name three rivers of the Alps", "The Inn, the Rhone and the Drava."),
        ("Why does the mean fail on the new files?", "Their first row holds names.\n\n1. Skip it."),
    ):
        with store.create(FOLDER, "Gemma 4 E4B it", "vocabulary") as session:
            session.append(Message("user", title))
            session.append(Message("assistant", answer))
    later = datetime.now(UTC) + timedelta(hours=2, minutes=5)
    return SessionPicker(store, FOLDER, now=lambda: later)


def _page(
    name: str,
    make: Callable[[], Screen[Any]],
    text: str,
    *keys: str,
    then: str = "",
    beside: str = "",
    no_more: str = "",
) -> Scene:
    """``text`` is what the page has once it is complete; then keys are pressed, and ``then`` is
    what it has after that, with ``beside`` it, and ``no_more`` gone, where there is room."""

    async def show(pilot: Pilot[None]) -> None:
        await until(pilot, text)
        await pilot.press(*keys)
        await until(pilot, then)
        if pilot.app.size.width > 100:
            await until(pilot, beside)
            if no_more:
                await until(pilot, no_more, gone=True)

    shown: Show = show
    return Scene(name, lambda theme: PageStage(make, theme), shown)


SCENES = [
    _page("first-start", lambda: FirstStart(_readiness), "Fetch E4B"),
    _page(
        "first-start-nothing-fits",
        lambda: FirstStart(_poor, trouble="the hub cannot be reached"),
        "No size fits",
    ),
    _page(
        "download",
        _download("fetching", bytes_per_second=21.5e6, seconds_left=104.0),
        "left",
    ),
    _page("download-paused", _download("paused"), "Paused"),
    _page(
        "download-failed",
        _download("failed", error="the disk is full: 2.1 GB more are needed", lacks_network=False),
        "disk is full",
    ),
    _page("models", lambda: ModelPicker(lambda _: _offers(), loaded=None), "to fetch", "down"),
    _page("sessions", _sessions, "the mean fail", "down", beside="the Drava"),
    # What lies beside is read again, from the place that was found on.
    _page(
        "sessions-search",
        _sessions,
        "the mean fail",
        *"skip",
        then="names. 1. Skip it.",
        beside="Assistant",
        no_more="You",
    ),
    _page("rewind", lambda: RewindPicker(_entries(), now=NOW), "Which stations"),
    _page("stats", lambda: StatsScreen(Measured(full_log(), READY, label="exact")), "17.8"),
    _page("stats-empty", lambda: StatsScreen(Measured(SpeedLog())), "Nothing was answered"),
    _page("context", lambda: ContextScreen(_CONTEXT), "17,652"),
    _page("help", HelpScreen, "Keys"),
    _page("help-search", HelpScreen, "Keys", *"copy"),
]
