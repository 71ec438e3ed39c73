"""Choosing among sizes and files: what fits is taken, what does not is explained."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.events import AppBlur, AppFocus
from textual.widgets import Input

from gemma_local.app import folders
from gemma_local.app.offers import Offer
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.screens.choices import Fetch, UseFile
from gemma_local.app.tui.screens.models import ModelPicker
from gemma_local.engine.plan.choice import plan_one
from gemma_local.models.errors import GemmaLocalError
from tests.app.tui.screens.host import Host, seen, text_of, until
from tests.engine.plan.machines import GIB, candidates, machine
from tests.ggufs import Pair
from tests.models.store import local_files as make
from tests.waiting import PATIENCE


def sizes(gib: int = 12) -> list[Offer]:
    """The published sizes on a machine with so much memory."""
    where = machine(available=gib * GIB, total=(gib + 2) * GIB)
    return [
        Offer(
            name=candidate.label,
            label=candidate.label,
            quantisation=candidate.quantisation,
            bytes=candidate.bytes,
            path=None,
            where="maker/repository",
            has_drafter=True,
            planned=plan_one(where, candidate),
        )
        for candidate in candidates()
    ]


def local(offer: Offer, path: Path, name: str = "") -> Offer:
    return replace(offer, path=path, name=name or path.stem, where="LM Studio")


def picker(
    offers: Sequence[Offer], *, loaded: Path | None = None, size: tuple[int, int] = (80, 24)
) -> Host:
    return Host(ModelPicker(lambda _: offers, loaded=loaded))


def planning(may_go_on: threading.Event) -> Host:
    """A picker that looks for models until it may go on."""

    def look(say: Callable[[str], None]) -> Sequence[Offer]:
        say("planning")
        may_go_on.wait(PATIENCE)
        return sizes()

    return Host(ModelPicker(look))


def found(pilot: object, text: str) -> Callable[[], bool]:
    return lambda: text in seen(pilot)  # type: ignore[arg-type]


async def test_sizes_are_shown_at_once_and_filled_in_later() -> None:
    may_go_on = threading.Event()
    host = planning(may_go_on)
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "planning" in text_of(pilot, "#saying"))
        assert all(label in seen(pilot) for label in ("E2B", "E4B", "12B", "26B-A4B", "31B"))
        assert "to fetch" not in seen(pilot)
        # Nothing can be chosen that is not known yet, which is said.
        await pilot.press("enter")
        assert "still looking" in text_of(pilot, "#saying")
        may_go_on.set()
        await until(pilot, found(pilot, "to fetch"))
        assert not host.results
        assert text_of(pilot, "#saying") == ""


async def test_enter_takes_what_fits_and_explains_what_does_not() -> None:
    host = picker(sizes())
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, found(pilot, "short"))
        await pilot.press("ctrl+end", "enter")
        assert "31B needs" in text_of(pilot, "#saying")
        assert "more than is free" in text_of(pilot, "#saying") and not host.results
        await pilot.press("ctrl+home", "down", "enter")
    assert host.results == [Fetch("E4B")]


async def test_typing_filters_and_a_click_chooses(tmp_path: Path) -> None:
    offers = [*sizes(), local(sizes()[0], tmp_path / "mine.gguf", "mine[b]x[/]")]
    host = picker(offers)
    async with host.run_test(size=(120, 40)) as pilot:
        await until(pilot, found(pilot, "to fetch"))
        await pilot.press(*"studio mine")
        await until(pilot, lambda: "26B" not in seen(pilot))
        # What is in a name is text, whatever it looks like.
        assert "mine[b]x[/]" in seen(pilot)
        await pilot.press(*" nothing", "enter")
        assert not host.results
        await pilot.press(*["backspace"] * 8)
        await until(pilot, found(pilot, "mine["))
        await pilot.click("Options", offset=(3, 0))
    assert host.results == [UseFile(tmp_path / "mine.gguf")]


async def test_the_one_that_runs_is_marked(tmp_path: Path) -> None:
    offers = [*sizes(), local(sizes()[1], tmp_path / "here.gguf")]
    host = picker(offers, loaded=tmp_path / "here.gguf")
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, found(pilot, "in use"))
        await pilot.press("enter")
    # It runs already.
    assert host.results == [None]


async def test_details_are_those_of_doctor() -> None:
    host = picker(sizes())
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, found(pilot, "to fetch"))
        await pilot.press("ctrl+o")
        await until(pilot, found(pilot, "How E2B would run"))
        assert "KV cache" in seen(pilot) and "checkpoints" in seen(pilot)
        await pilot.press("down")
        await until(pilot, found(pilot, "How E4B would run"))
        # Back to the list first.
        await pilot.press("escape")
        await until(pilot, found(pilot, "to fetch"))
        assert not host.results
        await pilot.press("escape")
    assert host.results == [None]


async def test_on_a_wide_screen_details_stand_beside_the_list() -> None:
    host = picker(sizes())
    async with host.run_test(size=(160, 50)) as pilot:
        await until(pilot, found(pilot, "How E2B would run"))
        assert "to fetch" in seen(pilot)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "How E2B would run" not in seen(pilot))
        await pilot.resize_terminal(160, 50)
        await until(pilot, found(pilot, "How E2B would run"))


async def test_a_path_is_checked_before_it_is_taken(
    story: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(story.target.parent))
    (tmp_path / "text.gguf").write_text("no model at all")
    drafter = make.drafter(tmp_path)
    host = picker(sizes())
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, found(pilot, "to fetch"))
        for path in (tmp_path / "none.gguf", tmp_path / "text.gguf", drafter, tmp_path):
            host.screen.query_one("#filter", Input).value = f"{path}"
            await until(pilot, lambda: not host.screen.query("#saying.-error"))
            await pilot.press("enter")
            await until(pilot, lambda: bool(host.screen.query("#saying.-error")))
            assert text_of(pilot, "#saying")
            assert not host.results
        host.screen.query_one("#filter", Input).value = f"~/{story.target.name}"
        await pilot.press("enter")
        await until(pilot, lambda: bool(host.results))
    assert host.results == [UseFile(story.target)]


async def test_a_path_into_the_home_of_nobody_is_no_file() -> None:
    host = picker(sizes())
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, found(pilot, "to fetch"))
        host.screen.query_one("#filter", Input).value = "~nobody-has-this-name/x.gguf"
        await pilot.press("enter")
        await until(pilot, lambda: bool(host.screen.query("#saying.-error")))
        await pilot.press("escape")
    assert host.results == [None]


async def test_a_path_typed_while_it_looks_is_still_offered(story: Pair) -> None:
    may_go_on = threading.Event()
    host = planning(may_go_on)
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "planning" in text_of(pilot, "#saying"))
        host.screen.query_one("#filter", Input).value = str(story.target)
        await until(pilot, lambda: "E2B" not in seen(pilot))
        may_go_on.set()
        await until(pilot, lambda: text_of(pilot, "#saying") == "")
        await pilot.press("enter")
        await until(pilot, lambda: bool(host.results))
    assert host.results == [UseFile(story.target)]


async def test_trouble_is_a_sentence_and_leaves_a_way() -> None:
    def look(_: object) -> Sequence[Offer]:
        raise GemmaLocalError("the list of added models cannot be read")

    host = Host(ModelPicker(look, glyphs=ASCII))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "cannot be read" in text_of(pilot, "#saying"))
        assert "type to filter, or the path" in seen(pilot)
        await pilot.press("enter", "escape")
    assert host.results == [None]


async def test_what_nobody_thought_of_is_a_sentence_too(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> Sequence[Offer]:
        raise RuntimeError("no such [thing]")

    host = Host(ModelPicker(fail))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no such [thing]" in text_of(pilot, "#saying"))
        assert host.screen.query("#saying.-error") and "E2B" not in seen(pilot)
        # A path can be typed all the same; looking at it may fail as well.
        monkeypatch.setattr("gemma_local.models.target.inspect_target", fail)
        await pilot.press(*"./x.gguf", "enter")
        await until(pilot, lambda: "no such [thing]" in text_of(pilot, "#saying"))
        await pilot.press("escape")
    assert host.results == [None]
    assert folders.log_path().read_text().count("RuntimeError: no such [thing]") == 2


async def test_who_leaves_while_it_looks_stops_it(home: Path) -> None:
    ended = threading.Event()
    begun = threading.Event()
    ends: list[BaseException] = []

    def look(say: Callable[[str], None]) -> Sequence[Offer]:
        while True:
            try:
                say("looking at one of very many")
            except Exception:  # noqa: BLE001 - as whoever asks many questions does
                # Of what is asked something may fail, and the rest is asked: not so here.
                continue
            except BaseException as error:
                ends.append(error)
                ended.set()
                raise
            begun.set()
            ended.wait(0.01)

    host = Host(ModelPicker(look))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, begun.is_set)
        await pilot.press("escape")
        await until(pilot, lambda: bool(host.results))
        await until(pilot, ended.is_set)
    assert host.results == [None]
    # Not what ends a task: this is a thread.
    assert not isinstance(ends[0], asyncio.CancelledError)
    assert not folders.log_path().exists()


async def test_the_keyboard_is_the_filter_s_where_it_opens_in_the_background() -> None:
    host = picker(sizes())
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, found(pilot, "to fetch"))
        host.post_message(AppBlur())
        await pilot.pause()
        another = ModelPicker(lambda _: sizes(), heading="Another list")
        await host.push_screen(another)
        await until(pilot, found(pilot, "Another list"))
        host.post_message(AppFocus())
        await pilot.pause()
        await pilot.press(*"e4b")
        assert another.typed == "e4b"
