"""How fast the model is with the screens open, compared with no screen at all.

Both arms are ``gemma-local`` with the same pair and the same options: one prints JSON, the other
paints an answer that streams in. They take turns, because the machine's speed changes with time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gemma_local.app.sessions.store import SessionStore
from tests.bench.app_terminal import AppTerminal, environment
from tests.bench.budget import Budget

_PROMPT: Final = "Tell me how a small model can help a large one write faster."


def measure(model: Path, home: Path, *, pairs: int = 3, tokens: int = 160) -> Iterator[Budget]:
    """``model`` is a pair of a real size; ``home`` a folder for what is written."""
    options = ("--model", model, "--draft", 3, "--max-tokens", tokens, "--temperature", 0)
    alone, beside, ratios, shares = [], [], [], []
    for number in range(pairs):
        for is_app in (False, True) if number % 2 else (True, False):
            if is_app:
                speed, share = _in_the_app(home / f"app-{number}", options)
                beside.append(speed)
                shares.append(share)
            else:
                alone.append(_alone(home / f"alone-{number}", options))
        ratios.append(beside[-1] / alone[-1])
    yield Budget("decode speed with the app, of that without", ratios, "", 0.95, is_floor=True)
    yield Budget("  without", alone, "t/s")
    yield Budget("  with the app", beside, "t/s")
    yield Budget("  the app's part of a core meanwhile", shares, "")


def _alone(home: Path, options: tuple[object, ...]) -> float:
    words = [sys.executable, "-m", "gemma_local.app.cli", *map(str, options)]
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    said = subprocess.run(
        [*words, "-p", _PROMPT, "--output", "json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        cwd=work,
        env=environment(home),
    )
    return float(json.loads(said.stdout)["tokens_per_second"])


def _in_the_app(home: Path, options: tuple[object, ...]) -> tuple[float, float]:
    """Tokens a second, and the app's part of a core while they come."""
    with AppTerminal(home, *options) as app:
        app.wait_for(r"context.{1,200} of ")
        app.settle()
        app.type(_PROMPT + "\r")
        app.wait_for("tokens/s")
        start = app.cpu
        app.wait_for("cut off", seconds=300)
        cpu = app.cpu - start
    with SessionStore.open(home / "XDG_DATA_HOME" / "gemma-local" / "sessions.sqlite3") as store:
        [session] = store.list()
        report = store.entries(session.id)[-1].report
    return float(report["tokens_per_second"]), cpu / float(report["decode_seconds"])
