"""A download in a thread: paused and gone on with, with a hub that misbehaves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.app.errors import UsageError
from gemma_local.app.fetching import Fetching, FetchState, fetching_of
from gemma_local.app.models_command.choice import Choice
from gemma_local.models.store.progress import FileProgress
from gemma_local.models.store.wanted import Wanted
from tests.app.served import DRAFTER, REPOSITORY, TARGET, Served, served, wait_for
from tests.ggufs import Pair
from tests.hub import Cut, Flip, Stall, Status
from tests.waiting import until


@pytest.fixture
def hub(story: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    with served(story, tmp_path, monkeypatch) as found:
        yield found


def ended(state: FetchState) -> bool:
    return state.stage in ("done", "failed")


def finish(fetching: Fetching) -> FetchState:
    state = wait_for(fetching, ended)
    assert state.stage == "done", state.error
    return state


def no_threads() -> bool:
    return all(thread.name != "fetching" for thread in threading.enumerate())


def test_it_tells_of_both_files_and_ends_with_the_pair(hub: Served) -> None:
    hub.hub.pace = 0.01
    fetching = hub.fetching()
    assert fetching.state() == FetchState("paused")
    fetching.start()
    assert fetching.state().is_running
    coming = wait_for(fetching, lambda state: state.stage == "fetching" and 0 < state.share < 1)
    assert [file.file for file in coming.files] == [TARGET, DRAFTER]
    assert coming.bytes == len(hub.target) + len(hub.drafter)
    assert "%" in coming.line() and "/s" in coming.line()
    hub.hub.pace = 0.0
    state = finish(fetching)
    assert state.got is not None and state.got.model.read_bytes() == hub.target
    assert state.got.drafter is not None and state.got.drafter.read_bytes() == hub.drafter
    assert state.share == 1.0 and state.line() == "done"
    # Nothing begins anew, and nothing can be taken back.
    fetching.start()
    fetching.pause()
    assert fetching.state() == state


def test_a_pause_lets_go_of_the_network_and_goes_on_with_a_range(hub: Served) -> None:
    hub.hub.pace = 0.02
    fetching = hub.fetching()
    fetching.start()
    wait_for(fetching, lambda state: state.done > 1_000_000)
    fetching.pause()
    paused = fetching.state()
    assert paused.stage == "paused" and paused.done > 1_000_000
    assert paused.bytes_per_second == 0 and paused.seconds_left is None
    until(no_threads)
    sent, requests = hub.sent, len(hub.hub.requests)
    time.sleep(0.3)
    # What a socket holds may still go out, and no more.
    assert hub.sent - sent < 4_000_000 and len(hub.hub.requests) == requests
    hub.hub.pace = 0.0
    fetching.start()
    state = finish(fetching)
    assert state.got is not None and state.got.model.read_bytes() == hub.target
    ranges = [r.headers["range"] for r in hub.hub.requests_for("/cdn/") if "range" in r.headers]
    assert any(int(span.removeprefix("bytes=").rstrip("-")) > 300_000 for span in ranges)


def test_a_connection_on_which_nothing_comes_is_left_at_once(hub: Served) -> None:
    """Its thread would hold the file's lock for half a minute, and the next one wait for it."""
    hub.hub.cdn_trouble.extend([Stall(600_000), Stall(600_000)])
    fetching = hub.fetching()
    fetching.start()
    wait_for(fetching, lambda state: state.done > 1_000_000)
    fetching.pause()
    # A stall counts as the end of a connection much later than this is given up.
    until(no_threads)
    fetching.start()
    finish(fetching)


def test_who_is_paused_while_asking_comes_back(hub: Served) -> None:
    hub.hub.api_trouble.extend([Status(503), Status(503)])
    fetching = hub.fetching(sha=False)
    fetching.start()
    fetching.pause()
    assert fetching.state().stage == "paused"
    fetching.start()
    finish(fetching)


def test_trouble_that_passes_is_told_until_it_has_passed(hub: Served) -> None:
    hub.hub.cdn_trouble.append(Cut(600_000))
    hub.hub.pace = 0.01
    fetching = hub.fetching()
    remarks = set()
    fetching.start()
    while not ended(state := fetching.state()):
        remarks.add(state.remark)
        time.sleep(0.002)
    assert any("trying again in" in remark for remark in remarks)
    assert state.stage == "done" and state.remark == ""


def test_a_failure_is_a_sentence_and_can_be_tried_again(hub: Served) -> None:
    hub.hub.cdn_trouble.extend([Cut(2_000_000)] + [Status(503)] * 8)
    fetching = hub.fetching()
    fetching.start()
    state = wait_for(fetching, ended)
    assert state.stage == "failed" and state.lacks_network
    assert "could not deliver" in state.error and "Traceback" not in state.error
    hub.hub.cdn_trouble.clear()
    fetching.start()
    assert fetching.state().error == ""
    state = finish(fetching)
    assert state.got is not None and state.got.model.read_bytes() == hub.target


def test_a_file_that_is_changed_on_its_way_is_not_kept(hub: Served) -> None:
    hub.hub.cdn_trouble.extend([Flip(9)] * 4)
    fetching = hub.fetching()
    fetching.start()
    state = wait_for(fetching, ended)
    assert state.stage == "failed" and "wrong checksum" in state.error
    assert not state.lacks_network


def test_what_is_given_up_goes_on_another_day(hub: Served) -> None:
    hub.hub.pace = 0.02
    first = hub.fetching()
    first.start()
    wait_for(first, lambda state: state.done > 1_000_000)
    first.stop()
    assert first.state().line() == "stopped"
    until(no_threads)
    hub.hub.pace = 0.0
    second = hub.fetching()
    second.start()
    finish(second)
    assert any("range" in request.headers for request in hub.hub.requests_for("/cdn/"))


def test_offline_nobody_is_asked(hub: Served) -> None:
    fetching = hub.fetching(offline=True)
    fetching.start()
    state = wait_for(fetching, ended)
    assert state.lacks_network and "nothing may be fetched" in state.error
    assert not hub.hub.requests


def test_what_is_here_is_not_fetched(hub: Served) -> None:
    first, second = hub.fetching(), hub.fetching(offline=True)
    hub.store.hub.offline = False
    first.start()
    finish(first)
    requests = len(hub.hub.requests)
    hub.store.hub.offline = True
    second.start()
    state = finish(second)
    assert len(hub.hub.requests) == requests
    assert [(file.file, file.stage) for file in state.files] == [
        (TARGET, "done"),
        (DRAFTER, "done"),
    ]


def test_files_that_do_not_belong_together_are_told_apart_at_the_end(hub: Served) -> None:
    hub.hub.commit(REPOSITORY, {"MTP/other.gguf": hub.target})
    choice = Choice((Wanted(REPOSITORY, TARGET),), Wanted(REPOSITORY, "MTP/other.gguf"), None)
    fetching = Fetching(choice, store=lambda: hub.store)
    fetching.start()
    state = wait_for(fetching, ended)
    assert state.stage == "failed" and state.error


def test_what_nobody_thought_of_is_a_sentence(
    hub: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gemma_local.app import folders

    monkeypatch.setattr(folders, "log_path", lambda: tmp_path / "engine.log")

    def broken() -> None:
        raise RuntimeError("never")

    fetching = Fetching(hub.fetching().choice, store=broken)  # type: ignore[arg-type]
    fetching.start()
    state = wait_for(fetching, ended)
    assert state.stage == "failed" and "something unexpected" in state.error
    assert "RuntimeError" in (tmp_path / "engine.log").read_text()


def test_a_size_of_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gemma_local.app import folders

    monkeypatch.setattr(folders, "catalog_path", lambda: tmp_path / "none.toml")
    fetching = fetching_of("e2b")
    assert fetching.name == "Gemma 4 E2B" and fetching.choice.drafter is not None
    with pytest.raises(UsageError):
        fetching_of("E99")


def test_a_line_says_all() -> None:
    file = FileProgress("a.gguf", 5, 10, "fetching")
    state = FetchState("fetching", (file,), 5, 10, 2_000_000.0, 120.0)
    assert state.line() == "50%, 2.00 MB/s, 2 min left"
    assert FetchState("fetching", (file,), 5, 10).line() == "50%"
    assert FetchState("checking", (file,), 5, 10).line() == "50%, checking what is here"
    assert FetchState("paused", (file,), 5, 10).line() == "paused at 50%"
    assert FetchState("asking").line() == "asking the hub"
