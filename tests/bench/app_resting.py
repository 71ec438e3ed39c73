"""What the app takes of a core while nothing happens, or nothing but a page that is open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.bench.app_streaming import MESSAGES, open_talk
from tests.bench.app_talk import save_talk
from tests.bench.app_terminal import AppTerminal
from tests.bench.budget import Budget


def measure(model: Path, home: Path, *, seconds: float = 15.0) -> Iterator[Budget]:
    """``model`` is any pair; ``home`` a folder for what is written."""
    talk = save_talk(home, MESSAGES)
    arguments = ("--model", model, "--resume", talk)
    with AppTerminal(home, *arguments, rate=100) as app:
        open_talk(app)
        yield Budget("idle, per cent of a core", [_per_cent(app, seconds)], "%", 1.0)
        for command in ("/stats", "/model", "/context", "/sessions"):
            app.type(f"{command}\r")
            app.settle()
            yield Budget(f"  with {command} open", [_per_cent(app, seconds)], "%", 3.0)
            app.type("\x1b")
            app.settle()
    with AppTerminal(home, *arguments, rate=100, is_downloading=True) as app:
        open_talk(app)
        yield Budget("  with a download beside it", [_per_cent(app, seconds)], "%", 2.0)


def _per_cent(app: AppTerminal, seconds: float) -> float:
    return app.share(seconds) * 100
