"""What the first picture waits for: judged by what is loaded, whatever the machine."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gemma_local.app.tui import garbage

LATER = (
    "llama_cpp",
    "numpy",
    "jinja2",
    "psutil",
    "huggingface_hub",
    "httpx",
    "markdown_it",
    "pygments",
    "pathspec",
    "tomlkit",
    "sqlite3",
    "gemma_local.app.assistant",
    "gemma_local.app.conversation",
    "gemma_local.app.dialogue",
    "gemma_local.app.launch",
    "gemma_local.app.sessions.search_index",
    "gemma_local.app.sessions.store",
    "gemma_local.engine.client",
    "gemma_local.engine.hardware",
    "gemma_local.engine.plan",
    "gemma_local.models.store",
    "gemma_local.models.target",
    "gemma_local.app.tui.screens.models",
    "gemma_local.app.tui.screens.sessions",
    "gemma_local.app.tui.screens.stats",
)
"""What answers, plans, downloads and other pages need."""

PICTURE = """
import asyncio, sys
from gemma_local.app.options import AnswerOptions
from gemma_local.app.settings import Settings
from gemma_local.app.tui.app import GemmaLocalApp

class App(GemmaLocalApp):
    def _shown(self):
        print(*sorted(name for name in {later!r} if name in sys.modules))
        self.exit()

asyncio.run(App(AnswerOptions(), Settings()).run_async(headless=True, size=(80, 24)))
"""


@pytest.mark.usefixtures("unmeasured")
def test_the_first_picture_waits_for_nothing_that_only_later_ones_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PICTURE.format(later=LATER)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr


@pytest.fixture
def collector() -> Iterator[None]:
    """The collector as it was."""
    before, is_frozen = gc.get_threshold(), gc.get_freeze_count() > 0
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    gc.enable()
    if is_frozen:
        gc.freeze()


@pytest.mark.usefixtures("collector")
def test_garbage_is_looked_for_among_what_came_after_the_start() -> None:
    garbage.put_off()
    assert not gc.isenabled()
    from_the_start: list[list[object]] = [[] for _ in range(100)]
    garbage.begin()
    assert gc.isenabled()
    assert gc.get_freeze_count() > len(from_the_start)
    new: list[object] = []
    new.append(new)
    assert any(one is new for one in gc.get_objects())
    assert not any(one is from_the_start for one in gc.get_objects())
