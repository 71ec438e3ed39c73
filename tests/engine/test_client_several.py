"""Several threads ask one engine at once: each hears of its own request only."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Delta, Done, Event, Failed, Generate, Load, Read
from gemma_local.models.prompt import Text
from tests.engine.running import GREEDY
from tests.ggufs import build, script

ENDLESS = script([f" step{i}" for i in range(150)], loop_to=0)
STORY = script(["Once", *(f" word{i}" for i in range(150)), "."])


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "engine.log") as engine:
        yield engine


def start(engine: Engine, folder: Path, *, ends: bool) -> None:
    files = build("dense", STORY if ends else ENDLESS, folder)
    load = Load(str(files.target), str(files.drafter), context=2048, sequences=3, threads=1)
    assert engine.start(load).sequences == 3


def request(name: str, max_tokens: int = 0) -> Generate:
    # Each with a prompt of its own, so that none waits for what another reads.
    return Generate(name, (Text(f"{name} {name}"),), GREEDY, max_tokens, ignore_end=True)


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


def test_each_iterator_has_its_own_events(engine: Engine, ggufs: Path) -> None:
    start(engine, ggufs, ends=True)
    names = [f"r{i}" for i in range(8)]

    def run(name: str) -> list[Event]:
        one = Generate(name, (Text(f"{name} {name}"),), GREEDY, draft=2)
        return list(engine.generate(one))

    with ThreadPoolExecutor(8) as pool:
        for name, events in zip(names, pool.map(run, names), strict=True):
            assert {getattr(event, "id", None) for event in events} == {name}
            assert isinstance(events[-1], Done) and text_of(events) == STORY.text


def test_cancelling_one_leaves_the_others_alone(engine: Engine, ggufs: Path) -> None:
    start(engine, ggufs, ends=False)
    speaks = threading.Barrier(3)

    def run(name: str) -> Done:
        last: Event | None = None
        waited = False
        for last in engine.generate(request(name, max_tokens=0 if name == "stopped" else 300)):
            if isinstance(last, Delta) and not waited:
                waited = True
                speaks.wait(60)
                if name == "stopped":
                    engine.cancel(name)
        assert isinstance(last, Done)
        return last

    with ThreadPoolExecutor(3) as pool:
        stopped, *others = pool.map(run, ("stopped", "one", "two"))
    assert stopped.reason == "cancelled"
    assert [(done.reason, len(done.tokens)) for done in others] == [("length", 300)] * 2


def test_the_engine_s_death_fails_all_and_one_restart_is_for_all(
    engine: Engine, ggufs: Path
) -> None:
    start(engine, ggufs, ends=False)
    speaks = threading.Barrier(4)

    def run(name: str) -> tuple[Failed, int | None]:
        waited = False
        for event in engine.generate(request(name)):
            if isinstance(event, Delta) and not waited:
                waited = True
                speaks.wait(60)
            if isinstance(event, Failed):
                engine.restart()
                return event, engine.pid
        raise AssertionError("it never ends by itself")

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(run, name) for name in ("one", "two", "three")]
        speaks.wait(60)
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGKILL)
        ends = [future.result(60) for future in running]
    assert all(failed.died for failed, _ in ends)
    assert {pid for _, pid in ends} == {engine.pid}
    *_, done = engine.generate(request("after", max_tokens=5))
    assert isinstance(done, Done) and len(done.tokens) == 5


def test_reading_ahead_takes_no_slot_from_those_who_ask(engine: Engine, ggufs: Path) -> None:
    start(engine, ggufs, ends=True)
    with ThreadPoolExecutor(4) as pool:
        reading = pool.submit(lambda: list(engine.read(Read("r", (Text("a b c " * 400),)))))
        asked = [
            pool.submit(lambda name=name: list(engine.generate(request(name, max_tokens=20))))  # type: ignore[misc]
            for name in ("one", "two", "three")
        ]
        for future in asked:
            done = future.result(60)[-1]
            assert isinstance(done, Done) and done.reason == "length"
        read = reading.result(60)[-1]
    assert isinstance(read, Done) and read.reason in ("cancelled", "read")
