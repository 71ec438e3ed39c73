"""Pipes, read in both ways: the second is that of Windows, and works everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import IO

import pytest

from gemma_local.app.workspace.pipe import Pipe, ThreadPipe, WaitingPipe

READERS = [ThreadPipe] if sys.platform == "win32" else [ThreadPipe, WaitingPipe]


@pytest.fixture(params=READERS)
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[Pipe, int]]:
    make: Callable[[IO[bytes]], Pipe] = request.param
    reading, writing = os.pipe()
    pipe = make(os.fdopen(reading, "rb", buffering=0))
    yield pipe, writing
    pipe.close()


def taken(pipe: Pipe) -> bytes:
    while (data := pipe.read(5)) is None:
        pass
    return data


def test_what_comes_and_the_end(ends: tuple[Pipe, int]) -> None:
    pipe, writing = ends
    assert pipe.read(0.01) is None
    os.write(writing, b"one")
    assert taken(pipe) == b"one"
    assert pipe.read(0.01) is None
    os.write(writing, b"two")
    os.close(writing)
    assert taken(pipe) == b"two"
    assert taken(pipe) == b""


def test_much_is_not_lost(ends: tuple[Pipe, int]) -> None:
    pipe, writing = ends
    found = b""
    for count in range(1, 51):
        os.write(writing, b"x" * 30_000)
        while len(found) < count * 30_000:
            found += taken(pipe)
    os.close(writing)
    while data := taken(pipe):
        found += data
    assert len(found) == 50 * 30_000


def test_closing_does_not_wait_for_the_other_end(ends: tuple[Pipe, int]) -> None:
    pipe, writing = ends
    # Else it would hang here.
    pipe.close()
    os.close(writing)
