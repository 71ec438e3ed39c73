"""Helpers for tests that decode with a real pair inside this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gemma_local.engine.messages import Delta, Done, Event, Failed, Generate, Load, Sampling
from gemma_local.engine.pair import Pair
from gemma_local.engine.scheduler import Scheduler
from gemma_local.models.prompt import Prompt, Text
from tests.ggufs import Pair as Files

GREEDY = Sampling(temperature=0.0)
PROMPT: Prompt = (Text("say it"),)


@dataclass
class Reply:
    """All that a request led to."""

    text: str = ""
    tokens: tuple[int, ...] = ()
    drafted: tuple[bool, ...] = ()
    done: Done | None = None
    failed: Failed | None = None
    events: list[Event] = field(default_factory=list)

    @property
    def end(self) -> Done:
        assert self.done is not None, self.failed
        return self.done


class Runner:
    """A loaded pair and its scheduler, driven by hand."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.events: list[Event] = []
        self.scheduler = Scheduler(pair, self.events.append)

    def run(self, *requests: Generate) -> list[Reply]:
        """Run requests together to their end; replies in the order of the requests."""
        self.events.clear()
        for request in requests:
            self.scheduler.submit(request)
        while not self.scheduler.is_idle:
            self.scheduler.turn()
        return [self.reply(request.id) for request in requests]

    def reply(self, request: str) -> Reply:
        reply = Reply()
        for event in self.events:
            if getattr(event, "id", None) != request:
                continue
            reply.events.append(event)
            match event:
                case Delta():
                    reply.text += event.text
                    reply.tokens += event.tokens
                    reply.drafted += event.drafted
                case Done():
                    reply.done = event
                case Failed():
                    reply.failed = event
        return reply


@contextmanager
def running(files: Files, **load: object) -> Iterator[Runner]:
    """Load a pair in this process. One thread: many would fight over the machine's CPUs."""
    options = {"context": 512, "threads": 1, "draft_max": 8, **load}
    drafter = str(files.drafter) if options.pop("with_drafter", True) else None
    pair = Pair.load(Load(str(files.target), drafter, **options), lambda _event: None)  # type: ignore[arg-type]
    try:
        yield Runner(pair)
    finally:
        pair.close()


def ask(
    name: str = "a", *, draft: int | None = None, sampling: Sampling = GREEDY, **more: object
) -> Generate:
    """A request with the standard prompt, for speed alone unless it says ``exact``."""
    prompt = more.pop("prompt", PROMPT)
    return Generate(name, prompt, sampling, draft=draft, **{"exact": False, **more})  # type: ignore[arg-type]
