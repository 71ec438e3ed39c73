"""What a person does in a conversation of 300 messages, until the screen shows what comes of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.app_streaming import MESSAGES, open_talk
from tests.bench.app_talk import save_talk
from tests.bench.app_terminal import FRAME_END, SIZE, AppTerminal
from tests.bench.budget import Budget

_TIMES: Final = 7
_PASTED: Final = "The quick brown fox jumps over the lazy dog, again and again.\n" * 1613
"""100 kB."""


def measure(model: Path, home: Path) -> Iterator[Budget]:
    """``model`` is any pair; ``home`` a folder for what is written."""
    talk = save_talk(home, MESSAGES)
    with AppTerminal(home, "--model", model, "--resume", talk, rate=100) as app:
        open_talk(app)
        for what, begin, undo, limit in (
            ("the terminal loses its focus", "\x1b[O", "\x1b[I", 100.0),
            ("the terminal gets its focus", "\x1b[I", "\x1b[O", 100.0),
            ("the transcript gets the focus", "\x1bOS", "\x1b", 100.0),
            ("a page up", "\x1b[5~", "\x1b[6~", None),
        ):
            costs = [_cost(app, begin) for _ in _each(app, undo)]
            yield Budget(f"{what}, until all is done", costs, "ms", limit)
        app.type("\x1b[I\x1b")
        app.settle()
        firsts, alls = [], []
        for size in ((100, 30), SIZE, (80, 24), SIZE, (160, 50), SIZE):
            first, all_ = _resizing(app, size)
            firsts.append(first)
            alls.append(all_)
        yield Budget("another size, until it is painted", firsts, "ms", 500.0)
        yield Budget("  until nothing is painted ahead either", alls, "ms")
        costs = [_cost(app, f"\x1b[200~{_PASTED}\x1b[201~") for _ in _each(app, "\x03")]
        yield Budget("a paste of 100 kB", costs, "ms", 300.0)
        costs = [_cost(app, "x") for _ in _each(app, "\x03")]
        yield Budget("a key", costs, "ms", 30.0)


def _each(app: AppTerminal, undo: str) -> Iterator[int]:
    for number in range(_TIMES):
        yield number
        app.type(undo)
        app.settle()


def _cost(app: AppTerminal, keys: str) -> float:
    """Milliseconds of processor time from these keys until the app rests again."""
    before = app.cpu
    app.type(keys)
    time.sleep(0.05)
    return (app.settle() - before) * 1000


def _resizing(app: AppTerminal, size: tuple[int, int]) -> tuple[float, float]:
    """Milliseconds of processor time until the first picture in another size, and until rest."""
    app.skip()
    before = app.cpu
    app.resize(size)
    # The status line is the last one, and a picture ends with it.
    app.wait_for(rf"\x1b\[{size[1]};1H.*?".encode() + FRAME_END)
    first = app.cpu
    return (first - before) * 1000, (app.settle() - before) * 1000
