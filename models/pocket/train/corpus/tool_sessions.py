"""Sessions in which the model uses its tools: look, read, search, change, run, report."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from gemma_local.models.pocket.train.corpus.changing import (
    rename_session,
    replace_session,
    set_session,
    write_session,
)
from gemma_local.models.pocket.train.corpus.looking import (
    list_session,
    lookup_session,
    read_session,
    search_session,
)
from gemma_local.models.pocket.train.corpus.running import fix_session, run_session, todo_session
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.corpus.tool_head import Head, make_head
from gemma_local.models.pocket.train.corpus.words import Split


def steps(sample: Sample) -> Iterator[Sample]:
    """A session up to each of its calls."""
    for index, message in enumerate(sample.messages):
        if message.calls:
            call = message.calls[0]
            yield replace(
                sample,
                messages=sample.messages[: index + 1],
                judged_by={"tool": call.name, "arguments": dict(call.arguments)},
            )


def sample(rng: random.Random, split: Split, begin: Head | None = None) -> Sample:
    """A session with tools."""
    begin = make_head(rng, split) if begin is None else begin
    kinds, weights = zip(*_KINDS, strict=True)
    return rng.choices(kinds, weights)[0](rng, split, begin)


_KINDS: Final[tuple[tuple[Callable[[random.Random, Split, Head], Sample], float], ...]] = (
    (list_session, 8),
    (read_session, 14),
    (lookup_session, 10),
    (search_session, 16),
    (set_session, 14),
    (rename_session, 8),
    (replace_session, 10),
    (write_session, 10),
    (run_session, 16),
    (todo_session, 4),
    (fix_session, 5),
)
