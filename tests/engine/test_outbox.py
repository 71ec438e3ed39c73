"""Events leave in order; while nobody reads they are merged, not piled up."""

from __future__ import annotations

import io
import os

from gemma_local.engine.messages import Delta, Done, Event, Failed, Prefill, Stats, Tally, decode
from gemma_local.engine.outbox import Outbox


def delta(request: str, token: int) -> Delta:
    return Delta(request, (token,), (token % 2 == 0,), (f"<{token}>",))


def test_events_arrive_in_order() -> None:
    stream = io.BytesIO()
    outbox = Outbox(stream)
    events: list[Event] = [Prefill("a", 1, 2, 0), delta("a", 1), Done("a", "stop", Tally(), (1,))]
    for event in events:
        outbox.put(event)
    outbox.close()
    assert [decode(line) for line in stream.getvalue().splitlines()] == events


def test_a_full_pipe_holds_nobody_up_and_loses_nothing() -> None:
    reading, writing = os.pipe()
    outbox = Outbox(os.fdopen(writing, "wb"))
    count = 30_000  # far more than a pipe holds
    for token in range(count):
        outbox.put(delta("ab"[token % 2], token))
        outbox.put(Stats("a", Tally(emitted_tokens=token)))
    assert len(outbox._pending) <= 4
    outbox.put(Failed("a", "enough"))
    tokens: dict[str, list[int]] = {"a": [], "b": []}
    last_stats = -1
    with os.fdopen(reading, "rb") as stream:
        for line in stream:
            match decode(line):
                case Delta() as event:
                    assert event.text == "".join(f"<{token}>" for token in event.tokens)
                    assert event.drafted == tuple(token % 2 == 0 for token in event.tokens)
                    tokens[event.id] += event.tokens
                case Stats() as event:
                    assert event.tally.emitted_tokens > last_stats
                    last_stats = event.tally.emitted_tokens
                case Failed():
                    break
    assert tokens == {"a": [*range(0, count, 2)], "b": [*range(1, count, 2)]}
    assert last_stats == count - 1


def test_a_reader_that_left_ends_the_writer() -> None:
    reading, writing = os.pipe()
    outbox = Outbox(os.fdopen(writing, "wb"))
    os.close(reading)
    outbox.put(delta("a", 1))
    outbox.close()
    assert not outbox._thread.is_alive()
