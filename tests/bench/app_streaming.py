"""An answer that streams in: from the engine's pipe to the terminal, with all that is in between.

The engine only pretends, so that nothing but the app is measured: decoding of events, the reply's
parts, the session on disk, the transcript, and what the terminal is sent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import quantiles
from typing import Final

from tests.bench.app_talk import save_talk
from tests.bench.app_terminal import FRAME_END, AppTerminal
from tests.bench.budget import Budget

MESSAGES: Final = 300
_LETTERS: Final = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
"""None of them is ever said: where one is written, a key has come to the screen."""
_KEYS: Final = 64


def measure(model: Path, home: Path, *, seconds: float = 60.0) -> Iterator[Budget]:
    """``model`` is any pair; ``home`` a folder for what is written."""
    talk = save_talk(home, MESSAGES)
    for rate, length, limits in (
        (20, seconds / 2, (None, None)),
        (100, seconds, (0.35, 30.0)),
        (500, seconds / 4, (None, None)),
    ):
        noted = home / f"collections-{rate}"
        with AppTerminal(
            home, "--model", model, "--resume", talk, rate=rate, collections=noted
        ) as app:
            open_talk(app)
            app.type("go on\r")
            app.wait_for("go on.*?tokens/s")
            what = f"{rate} tokens/s for {length:.0f} s, part of a core"
            yield Budget(what, [app.share(length)], "", limits[0])
            echoes, alone = zip(*_echoes(app), strict=True)
            yield Budget("  a key until it is seen: 95 in 100", [_p95(alone)], "ms", limits[1])
            yield Budget("    half of them", alone, "ms")
            yield Budget("    95 in 100 with the wait for a processor", [_p95(echoes)], "ms")
            yield from _looks_for_garbage(noted)
            start = time.monotonic()
            app.type("\x1b")
            app.wait_for("stopped")
            yield Budget("  esc until it is stopped", [(time.monotonic() - start) * 1000], "ms")


def _looks_for_garbage(noted: Path) -> Iterator[Budget]:
    lines = [line.split() for line in noted.read_text().splitlines()]
    longest = max((float(took) for _, took in lines), default=0.0)
    full = sum(generation == "2" for generation, _ in lines)
    yield Budget(f"  the longest look for garbage ({full} at everything)", [longest], "ms")


def open_talk(app: AppTerminal) -> None:
    """Wait until the conversation is on the screen and the app at rest."""
    app.wait_for(b"of 131,072.*?" + FRAME_END)
    app.settle()


def _p95(figures: Sequence[float]) -> float:
    return quantiles(figures, n=20)[-1]


def _echoes(app: AppTerminal) -> Iterator[tuple[float, float]]:
    """Milliseconds from a key to its letter on the screen, one key after the other; then without
    those for which the app was ready and other processes had the processor."""
    for letter in islice(cycle(_LETTERS), _KEYS):
        app.skip()
        start, waited = time.monotonic(), app.waited
        app.type(letter)
        app.wait_for(letter)
        took, waited = time.monotonic() - start, app.waited - waited
        yield took * 1000, (took - waited) * 1000
        # Unevenly, so that keys come at all times between two updates.
        time.sleep(0.05 + start % 0.05)
        if letter == _LETTERS[-1]:
            app.type("\x03")
            time.sleep(0.2)
