"""``gemma-local`` with an engine that only pretends, and if wanted with a download without end.

``python -m tests.bench.app_child --rate 100 [--downloading] [--collections FILE] -- ARGUMENTS``
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from gemma_local.app import cli

RATE: Final = "GEMMA_LOCAL_BENCH_RATE"
"""The variable with the tokens a second."""
_REAL: Final = "gemma_local.engine.host"
_PACED: Final = "tests.bench.paced_engine"
_BYTES: Final = 3 << 30


def pretend() -> None:
    """Start the engine that only pretends wherever the real one would be started."""

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, words: list[str], **how: Any) -> None:
            super().__init__([_PACED if word == _REAL else word for word in words], **how)

    subprocess.Popen = Popen  # type: ignore[assignment, misc]


def download() -> None:
    """Have a download go on in the background, of which a little more is there each time."""
    from gemma_local.app.fetching import FetchState
    from gemma_local.app.tui.screens.chat import ChatScreen
    from gemma_local.app.tui.starting import Starting

    class Endless:
        """As much of ``Fetching`` as is asked while it goes on in the background."""

        def state(self) -> FetchState:
            done = int(time.monotonic() * 1e6) % _BYTES
            return FetchState(
                "fetching", done=done, bytes=_BYTES, bytes_per_second=1e6, seconds_left=60.0
            )

    begin = Starting.__init__

    def begun(self: Starting, screen: ChatScreen) -> None:
        begin(self, screen)
        self._fetching = Endless()  # type: ignore[assignment]

    Starting.__init__ = begun  # type: ignore[method-assign]


def note_collections(path: Path) -> None:
    """Write down how long each look for garbage takes: its generation and milliseconds, a line."""
    began = 0.0

    def heard(phase: str, about: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.perf_counter()
            return
        took = (time.perf_counter() - began) * 1000
        with path.open("a") as file:
            file.write(f"{about['generation']} {took:.3f}\n")

    gc.callbacks.append(heard)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=0.0, help="tokens a second; 0: a real engine")
    parser.add_argument("--downloading", action="store_true")
    parser.add_argument("--collections", type=Path, help="where to note how long each takes")
    parser.add_argument("arguments", nargs="*")
    given = parser.parse_args()
    if given.rate:
        os.environ[RATE] = str(given.rate)
        pretend()
    if given.downloading:
        download()
    if given.collections is not None:
        note_collections(given.collections)
    return cli.main(given.arguments)


if __name__ == "__main__":
    sys.exit(main())
