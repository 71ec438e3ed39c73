"""Processes that write sessions until they are killed or their disk is full."""

from __future__ import annotations

import itertools
import multiprocessing
import random
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from gemma_local.app.sessions.errors import SessionsUnavailable
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message, Spoken, ToolCall


def converse(path: Path, told: Connection, seed: int) -> None:
    """Append and stream for ever; tell what was done as soon as it is done.

    ("session", id), ("kept", number, text) when an entry has been written to its end, and
    ("shown", (begun, ended), word) when an answer has been handed over with one more word, in
    seconds of this process's clock.
    """
    chance = random.Random(seed)
    with SessionStore.open(path) as store:
        session = store.create(Path("/work"), "gemma", "vocabulary")
        told.send(("session", session.id))
        for turn in range(1_000_000):
            asked = f"question {turn} " + "é" * chance.randrange(500)
            told.send(("kept", session.append(Message("user", asked)).number, asked))
            stream, answer = session.stream(), ""
            for word in range(chance.choice((1, 5, 400))):
                more = f"{turn}.{word} "
                answer += more
                tokens = Spoken(tuple(range(len(answer) // 3)))
                begun = time.monotonic()
                stream.write(Message("assistant", answer, spoken=tokens))
                told.send(("shown", (begun, time.monotonic()), more))
                time.sleep(chance.uniform(0, 0.01))
            calls = (ToolCall("read", {"path": f"{turn}.py"}),)
            entry = stream.finish(Message("assistant", answer, calls=calls), finish="stop")
            told.send(("kept", entry.number, answer))


def fill_disk(path: Path, told: Connection, limit: int) -> None:
    """Append until no file may grow any more; then once more, when it may again.

    Tells each text that was kept, the sentence of the error, and the last text.
    """
    # Not at the top: Windows has no such limits.
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with SessionStore.open(path) as store, store.create(Path("/work"), "gemma", "") as session:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        for number in itertools.count():
            text = f"message {number} " * 500
            try:
                session.append(Message("user", text))
            except SessionsUnavailable as error:
                told.send(("error", str(error)))
                break
            told.send(("kept", text))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        session.append(Message("user", "there is room again"))
        told.send(("kept", "there is room again"))


def start(target: Any, *arguments: Any) -> tuple[Any, Connection]:
    """A process of its own that runs ``target(path, pipe, ...)``; and the pipe's end to read."""
    # One process that has all modules, and forks: a new interpreter each time would take longer
    # than the tests.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    told, tell = context.Pipe(duplex=False)
    path, *rest = arguments
    process = context.Process(target=target, args=(path, tell, *rest), daemon=True)
    process.start()
    tell.close()
    return process, told


def all_told(told: Connection) -> list[tuple[Any, ...]]:
    """What a process told until its end."""
    found = []
    with suppress(EOFError, OSError):
        while True:
            found.append(told.recv())
    return found
