"""The page of figures: with nothing measured, with a full session, and while one goes on."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App
from textual.containers import VerticalScroll

from gemma_local.app.engine_memory import EngineMemory
from gemma_local.app.launch import prepare
from gemma_local.app.options import PairOptions
from gemma_local.app.plain_speed import PlainSpeed
from gemma_local.app.speed_log import SpeedLog
from gemma_local.app.tui.charts.view import LinesView
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.screens import stats
from gemma_local.app.tui.screens.stats import StatsScreen
from gemma_local.app.tui.status.measured import Measured
from gemma_local.app.tui.status.page_screen import PageScreen
from gemma_local.engine.client import new_id
from gemma_local.engine.messages import Done, Generate, Stats
from gemma_local.models.prompt import Text
from tests.app.tui.screens.host import until
from tests.app.tui.status.measurements import PARKED, READY, full_log, tally
from tests.ggufs import Pair
from tests.waiting import PATIENCE

SIZES = [(40, 24), (80, 24), (120, 40), (200, 60)]


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.copied: list[str] = []

    def on_page_screen_copy_asked(self, message: PageScreen.CopyAsked) -> None:
        self.copied.append(message.text)


def page(screen: StatsScreen) -> str:
    return screen.query_one(LinesView).text


@pytest.mark.parametrize("size", SIZES)
async def test_nothing_was_measured_yet(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        screen = StatsScreen(Measured(SpeedLog()))
        await app.push_screen(screen)
        await pilot.pause()
        assert "Nothing was answered yet." in page(screen)
        assert "No model is loaded." in page(screen)
        await pilot.press("escape")
        assert app.screen is not screen


@pytest.mark.parametrize("size", SIZES)
async def test_a_session_in_full(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        screen = StatsScreen(Measured(full_log(), READY, label="exact"))
        await app.push_screen(screen)
        await pilot.pause()
        shown = page(screen)
        for part in (
            "17.8 tokens/s",
            "1,479 of 2,133 tokens drafted",
            "3.08",
            "MTP drafter",
            "prompt lookup",
            "+46 %",
            "711 passes",
            "62 %",
            "1st",
            "from the cache",
            "not waited",
            "6 checkpoints",
            "gemma-4-E4B-it-Q4_0.gguf",
            "exact",
            "3.7 s",
        ):
            assert part in shown
        assert max(map(len, shown.splitlines())) <= min(size[0] - 6, 100)


async def test_everything_is_reached_and_copied_by_keyboard() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = StatsScreen(Measured(full_log(), READY))
        await app.push_screen(screen)
        await pilot.pause()
        scroll = screen.query_one(VerticalScroll)
        assert scroll.has_focus
        await pilot.press("j", "j", "k")
        assert scroll.scroll_y == 1
        await pilot.press("end")
        await pilot.pause()
        assert scroll.scroll_y == scroll.max_scroll_y > 0
        await pilot.press("g")
        await pilot.pause()
        assert scroll.scroll_y == 0
        await pilot.press("G")
        await pilot.pause()
        assert scroll.scroll_y == scroll.max_scroll_y
        await pilot.press("home")
        await pilot.pause()
        assert scroll.scroll_y == 0
        await pilot.press("c")
        await pilot.pause()
        assert app.copied == [page(screen)]
        assert "acceptance" in app.copied[0]


async def test_it_goes_on_while_it_is_open_and_stays_where_it_was_scrolled_to() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        log = full_log(3)
        screen = StatsScreen(Measured(log, READY))
        await app.push_screen(screen)
        await pilot.pause()
        scroll = screen.query_one(VerticalScroll)
        await pilot.press("pagedown")
        await pilot.pause()
        before, place = page(screen), scroll.scroll_y
        log.add(Stats("a3", tally(200, seconds=20.0, prompt=9000)), 50.0)
        screen.renew()
        await pilot.pause()
        assert page(screen) != before
        assert scroll.scroll_y == place > 0


async def test_plain_decoding_has_no_chart_of_acceptance() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        log = SpeedLog()
        plain = replace(
            tally(40, seconds=8.0),
            drafted=0,
            accepted=0,
            drafted_by_position=(),
            accepted_by_position=(),
        )
        log.add(Done("a", "stop", plain, ()), 8.0)
        screen = StatsScreen(Measured(log, replace(READY, drafter=None, draft_max=0)))
        await app.push_screen(screen)
        await pilot.pause()
        assert "No drafter is loaded." in page(screen)
        assert "accepted by place" not in page(screen)


async def test_why_nothing_is_drafted_just_now_and_what_was_before() -> None:
    app = Host()
    async with app.run_test(size=(100, 60)) as pilot:
        log = SpeedLog()
        answer = replace(tally(28, seconds=4.0), pace=PARKED)
        log.add(Done("a", "stop", answer, ()), 4.0)
        log.add(Stats("b", answer), 8.0)
        screen = StatsScreen(Measured(log, READY))
        await app.push_screen(screen)
        await pilot.pause()
        lines = [" ".join(line.split()) for line in page(screen).splitlines()]
    assert f"drafts parked {PARKED.reason}" in lines
    assert f"parked 50 % of 28 passes; {PARKED.reason}" in lines
    assert "deciding 0.10 ms a pass" in lines
    lengths = lines[lines.index("passes by the length of their draft") + 1 :][:4]
    assert [(line.split()[0], line.rsplit(" % ", 1)[1]) for line in lengths] == [
        ("none", "20 passes"),
        ("1", "1 pass"),
        ("2", "4 passes"),
        ("8", "3 passes"),
    ]
    stated = next(number for number, line in enumerate(lines) if "drafter stated" in line)
    assert [(line[:4], line[-10:]) for line in lines[stated + 1 : stated + 3]] == [
        ("62 %", "57 % of 11"),
        ("93 %", "88 % of 22"),
    ]


async def test_requests_with_a_length_of_their_own_say_nothing_of_pace() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        log = SpeedLog()
        log.add(Done("a", "stop", tally(40, seconds=8.0), ()), 8.0)
        screen = StatsScreen(Measured(log, READY))
        await app.push_screen(screen)
        await pilot.pause()
        assert "accepted by place" in page(screen)
        assert "Length of drafts" not in page(screen)


async def test_of_many_answers_the_last_are_shown_and_counted_rightly() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = StatsScreen(Measured(full_log(90), READY))
        await app.push_screen(screen)
        await pilot.pause()
        chart = page(screen).split("tokens/s of each")[1].splitlines()[1:8]
        columns = len(chart[4].split()) - 1
        first, last = map(int, chart[6].split())
        assert (columns, last) == (last - first + 1, 90)


async def test_a_driver_that_does_not_answer_holds_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_go_on = threading.Event()
    asked: list[int | None] = []
    looks: list[None] = []

    def weigh(pid: int | None, _: object) -> EngineMemory | None:
        asked.append(pid)
        may_go_on.wait(PATIENCE)
        return EngineMemory(3 << 30, 1 << 30)

    class Looking(StatsScreen):
        def renew(self) -> None:
            looks.append(None)
            super().renew()

    monkeypatch.setattr(stats, "engine_memory", weigh)
    monkeypatch.setattr(stats, "_SECONDS", 0.05)
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Looking(Measured(full_log(), READY, pid=1))
        await app.push_screen(screen)
        try:
            await until(pilot, lambda: len(looks) > 10)
            assert asked == [1]
        finally:
            may_go_on.set()
        # It goes on being looked at, with what has been answered at last.
        await until(pilot, lambda: len(asked) > 1)
        await until(pilot, lambda: "its own now" in page(screen))


async def test_in_ascii_nothing_else_is_painted() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = StatsScreen(Measured(full_log(), READY), glyphs=ASCII)
        await app.push_screen(screen)
        await pilot.pause()
        assert page(screen).isascii()


async def test_a_real_pair(story: Pair, home: Path) -> None:
    launch = prepare(PairOptions(model=str(story.target), threads=1), longest_draft=3)
    with launch.running() as (engine, ready):
        log, speeds = SpeedLog(), PlainSpeed(launch, ready)
        for at, draft in enumerate((3, 0, 3)):
            asked = Generate(new_id(), (Text("Tell me a story"),), draft=draft, exact=False)
            for event in engine.generate(asked):
                log.add(event, float(at))
                if isinstance(event, Done):
                    speeds.observe(event)
        app = Host()
        async with app.run_test(size=(120, 40)) as pilot:
            screen = StatsScreen(Measured(log, ready, launch, speeds, engine.pid))
            await app.push_screen(screen)
            await app.workers.wait_for_complete()
            await pilot.pause()
            shown = page(screen)
    assert story.target.name in shown
    assert "plain decoding measured at" in shown
    assert "planned:" in shown
    assert "weights" in shown
    assert "its own now" in shown or "now in memory" in shown
    assert "on the processor" in shown
    assert "3 in this session" in shown
    # The answer without drafts is not counted among those with drafts.
    per_pass = log.drafting.tokens_per_pass
    assert per_pass is not None
    assert per_pass > (log.session.tokens_per_pass or 0.0)
    assert f"{per_pass:.2f}  in {log.drafting.passes} passes" in shown
