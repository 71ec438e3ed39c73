"""The download on a screen, with a hub that misbehaves, by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.app.fetching import Fetching, FetchState
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.screens.download import DownloadScreen
from gemma_local.models.store.progress import FileProgress
from tests.app.served import Served, served
from tests.app.tui.screens.host import Host, keys, seen, text_of, until
from tests.ggufs import Pair
from tests.hub import Cut, Flip, Status


@pytest.fixture
def hub(story: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    with served(story, tmp_path, monkeypatch) as found:
        yield found


def kept(folder: Path) -> int:
    """Bytes of what was fetched."""
    return sum(path.stat().st_size for path in folder.rglob("blobs/*"))


async def test_it_pauses_goes_on_and_ends_with_the_model(hub: Served) -> None:
    hub.hub.pace = 0.02
    fetching = hub.fetching()
    host = Host(DownloadScreen(fetching))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "tiny-Q4.gguf" in text_of(pilot, "#files"))
        await until(pilot, lambda: fetching.state().done > 1_000_000)
        hub.hub.pace = 0.5
        assert "mtp-tiny.gguf" in text_of(pilot, "#files")
        await until(pilot, lambda: "/s" in text_of(pilot, "#all"))
        assert "left" in text_of(pilot, "#all")
        assert all(len(line) == 80 for line in seen(pilot).split("\n"))
        await pilot.press("p")
        assert fetching.state().stage == "paused"
        assert text_of(pilot, "#heading") == "Paused: Gemma 4 tiny"
        assert "Go on" in keys(host) and "Pause" not in keys(host)
        paused = fetching.state().done
        hub.hub.pace = 0.0
        await pilot.press("p")
        await until(pilot, lambda: bool(host.results))
    got = fetching.state().got
    assert got is not None and host.results == [got.model]
    assert got.model.read_bytes() == hub.target and paused > 1_000_000


async def test_to_stop_is_asked_about_and_what_has_come_stays(hub: Served, tmp_path: Path) -> None:
    hub.hub.pace = 0.02
    fetching = hub.fetching()
    host = Host(DownloadScreen(fetching))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: fetching.state().done > 1_000_000)
        # So that it does not end by itself while it is asked about.
        hub.hub.pace = 0.5
        await pilot.press("escape")
        assert "that have come stay" in text_of(pilot, "#remark")
        assert keys(host) == "Stop, Go on"
        await pilot.press("escape")
        assert "that have come stay" not in text_of(pilot, "#remark")
        assert fetching.state().is_running and not host.results
        await pilot.press("escape", "y")
        await until(pilot, lambda: bool(host.results))
    assert host.results == [None] and fetching.state().stage == "stopped"
    assert kept(tmp_path) > 1_000_000


async def test_a_failure_says_why_and_is_tried_again(hub: Served) -> None:
    hub.hub.cdn_trouble.extend([Cut(600_000)] + [Status(503)] * 8)
    fetching = hub.fetching()
    host = Host(DownloadScreen(fetching))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: text_of(pilot, "#heading").startswith("Could not fetch"))
        assert "could not deliver" in text_of(pilot, "#remark")
        assert "models export" in text_of(pilot, "#notes")
        assert "Try again" in keys(host) and "Pause" not in keys(host)
        hub.hub.cdn_trouble.clear()
        await pilot.press("r")
        await until(pilot, lambda: bool(host.results))
    assert host.results[0].read_bytes() == hub.target


async def test_a_wrong_checksum_is_no_model(hub: Served) -> None:
    hub.hub.cdn_trouble.extend([Flip(9)] * 4)
    host = Host(DownloadScreen(hub.fetching()))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "wrong checksum" in text_of(pilot, "#remark"))
        # A stick is of no use against that.
        assert "models export" not in text_of(pilot, "#notes")
        # Nothing is interrupted, so nothing is asked.
        await pilot.press("escape")
    assert host.results == [None]


async def test_it_goes_on_while_something_else_is_shown(hub: Served) -> None:
    hub.hub.pace = 0.02
    fetching = hub.fetching()
    host = Host(DownloadScreen(fetching, may_leave=True))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: fetching.state().done > 0)
        assert "Carry on meanwhile" in keys(host)
        await pilot.press("g")
        assert host.results == [None] and fetching.state().is_running
        assert "%" in fetching.state().line()
        hub.hub.pace = 0.0
        # It can be looked at again, which does not begin it anew.
        again = Host(DownloadScreen(fetching))
        async with again.run_test(size=(160, 50)) as other:
            await until(other, lambda: bool(again.results))
    assert again.results[0].read_bytes() == hub.target
    assert len(hub.hub.requests_for("/api/")) == 1


async def test_without_something_to_start_with_there_is_no_key_for_it(hub: Served) -> None:
    hub.hub.pace = 0.02
    fetching = hub.fetching()
    host = Host(DownloadScreen(fetching, glyphs=ASCII))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: fetching.state().done > 0)
        await until(pilot, lambda: "=" in text_of(pilot, "#all") or "#" in text_of(pilot, "#all"))
        assert "meanwhile" not in keys(host)
        await pilot.press("g")
        assert not host.results
        assert seen(pilot).isascii()
        fetching.stop()


async def test_a_narrow_and_a_wide_terminal(hub: Served) -> None:
    hub.hub.pace = 0.02
    fetching = hub.fetching()
    host = Host(DownloadScreen(fetching))
    async with host.run_test(size=(40, 12)) as pilot:
        await until(pilot, lambda: "tiny" in text_of(pilot, "#files"))
        await pilot.resize_terminal(200, 60)
        await until(pilot, lambda: max(map(len, text_of(pilot, "#files").split("\n"))) == 94)
        fetching.stop()


class Standing(Fetching):
    """A download of which nothing comes."""

    def __init__(self, *names: str) -> None:
        self.name, self.what = "Gemma 4 26B-A4B", "26B-A4B"
        files = tuple(FileProgress(name, 3 << 30, 16 << 30, "fetching") for name in names)
        self._standing = FetchState("fetching", files, 6 << 30, 32 << 30)

    def state(self) -> FetchState:
        return self._standing


@pytest.mark.parametrize(
    ("name", "is_whole", "has_bar"),
    [
        ("gemma-4-E4B-it-Q4_0.gguf", True, True),
        # Gemma 4's longest, of the catalogue.
        ("gemma-4-26B-A4B-it-UD-Q4_K_XL.gguf", True, True),
        ("a-name-that-somebody-has-made-up-for-it.gguf", True, False),
        ("a-name-that-somebody-has-made-up-for-it-and-made-longer.gguf", False, False),
    ],
)
async def test_names_are_worth_more_than_bars(name: str, is_whole: bool, has_bar: bool) -> None:
    host = Host(DownloadScreen(Standing(f"folder/{name}", "mtp.gguf"), glyphs=ASCII))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "3.22 GB of 17.18 GB" in text_of(pilot, "#files"))
        first, second = text_of(pilot, "#files").split("\n")
        assert (name in first) is is_whole
        assert ("....  19%" in first) is has_bar
        assert len(first) == len(second) == 74
        assert first.endswith("  19%")
