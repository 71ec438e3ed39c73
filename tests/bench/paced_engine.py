"""An engine's process that computes nothing: it says the same text over and over, at a given pace.

Its events are those of the real one, as often as the real one sends them. Started in place of
``gemma_local.engine.host`` by ``tests.bench.app_child``, with the pace in the environment.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Final

from gemma_local.engine.events import CacheUse
from gemma_local.engine.messages import (
    Cancel,
    Command,
    Count,
    Counted,
    Delta,
    Done,
    Generate,
    Load,
    Loading,
    Prefill,
    Read,
    Ready,
    Save,
    Saved,
    Shutdown,
    Stats,
    Tally,
    decode,
)
from gemma_local.engine.outbox import Outbox
from gemma_local.engine.scheduler import DELTA_SECONDS, STATS_SECONDS
from tests.bench.app_child import RATE
from tests.bench.transcript import ANSWER

_PIECES: Final = [ANSWER[at : at + 4] for at in range(0, len(ANSWER), 4)]
_LONGEST: Final = 1 << 16
"""Tokens of an answer whose request does not say how many."""


class PacedEngine:
    """Answers commands as the engine does."""

    def __init__(self, outbox: Outbox, rate: float) -> None:
        self._outbox = outbox
        self._rate = rate
        self._cancelled: set[str] = set()

    def carry_out(self, command: Command) -> None:
        match command:
            case Load():
                self._outbox.put(Loading("target", 1.0))
                self._outbox.put(_ready(command))
            case Count():
                # Four bytes a token; it is not looked at what they are.
                lengths = (len(repr(prompt)) // 4 for prompt in command.prompts)
                self._outbox.put(Counted(command.id, tuple(lengths)))
            case Generate():
                threading.Thread(target=self._say, args=(command,), daemon=True).start()
            case Read():
                self._outbox.put(Done(command.id, "read", Tally(prompt_tokens=100), ()))
            case Save():
                self._outbox.put(Saved(command.id, 0, 0, CacheUse()))
            case Cancel():
                self._cancelled.add(command.id)

    def _say(self, request: Generate) -> None:
        id_, most = request.id, request.max_tokens or _LONGEST
        self._outbox.put(Prefill(id_, 100, 100, 80))
        start = sent_stats = time.perf_counter()
        said = 0
        while said < most and id_ not in self._cancelled:
            time.sleep(DELTA_SECONDS)
            now = time.perf_counter()
            due = min(most, int((now - start) * self._rate))
            if due > said:
                tokens = range(said, due)
                self._outbox.put(
                    Delta(
                        id_,
                        # Ordinary tokens.
                        tuple(1000 + at % 1000 for at in tokens),
                        # One of the target, two of the drafter.
                        tuple(at % 3 > 0 for at in tokens),
                        tuple(_PIECES[at % len(_PIECES)] for at in tokens),
                    )
                )
                said = due
            if now - sent_stats >= STATS_SECONDS:
                sent_stats = now
                self._outbox.put(Stats(id_, _tally(said, now - start)))
        reason = "cancelled" if id_ in self._cancelled else "length"
        tally = _tally(said, time.perf_counter() - start)
        self._outbox.put(Done(id_, reason, tally, tuple(range(1000, 1000 + said))))


def _tally(said: int, seconds: float) -> Tally:
    passes = max(1, said // 3)
    return Tally(
        prompt_tokens=100,
        reused_tokens=80,
        prefilled_tokens=20,
        emitted_tokens=said,
        prefill_seconds=0.1,
        decode_seconds=seconds,
        draft_seconds=seconds / 10,
        verify_seconds=seconds * 0.8,
        llama_seconds=seconds * 0.9,
        passes=passes,
        decoded_tokens=max(0, said - 1),
        drafted=3 * passes,
        accepted=2 * passes,
        drafted_by_position=(passes, passes, passes),
        accepted_by_position=(passes, passes // 2, passes // 2),
    )


def _ready(load: Load) -> Ready:
    return Ready(
        target=load.target,
        drafter=load.drafter,
        architecture="gemma4",
        name="a model that only pretends",
        context=1 << 17,
        sequences=1,
        threads=2,
        draft_max=4,
        exact_draft_max=4,
        ubatch=512,
        kv_type="f16",
        vocabulary=262144,
        backend="none",
        load_seconds=0.1,
        tokenizer="none",
    )


def main() -> int:
    outbox = Outbox(os.fdopen(os.dup(1), "wb"))
    engine = PacedEngine(outbox, float(os.environ[RATE]))
    for line in sys.stdin.buffer:
        command = decode(line)
        if isinstance(command, Shutdown):
            break
        engine.carry_out(command)  # type: ignore[arg-type]
    outbox.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
