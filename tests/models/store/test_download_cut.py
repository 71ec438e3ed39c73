"""Downloads that are cut off, and go on."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.models.store.errors import (
    HubUnreachable,
)
from tests.hub import (
    Cut,
    IgnoreRange,
    Stall,
    Status,
    Trouble,
    Unsized,
    sha256,
)
from tests.models.store.conftest import REPOSITORY, Files, Getter, target_only

MIB = 1 << 20


@pytest.mark.parametrize(
    "troubles",
    [
        [Cut(after=MIB)],
        [Cut(after=0), Cut(after=MIB), Cut(after=300_000)],
        # More than the attempts that may bring nothing.
        [Cut(after=300_000)] * 8,
        [Stall(after=MIB)],
        [Status(503), Status(500), Status(429, {"Retry-After": "0"})],
        [Unsized(missing=MIB)],
        [Unsized()],
    ],
    ids=str,
)
def test_trouble_that_passes_costs_no_byte_twice(
    files: Files, getter: Getter, troubles: list[Trouble]
) -> None:
    if any(isinstance(trouble, Stall) for trouble in troubles):
        getter.patience = replace(getter.patience, stall=0.5)
    getter.server.cdn_trouble.extend(troubles)
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target
    # What was under way when the connection broke may be lost: less than two pieces.
    extra = getter.server.sent[sha256(files.target)] - len(files.target)
    assert 0 <= extra <= len(troubles) * 2 * 262_144
    assert all("trying again" in remark for remark in getter.remarks)


def test_a_server_that_asks_for_time_gets_it(files: Files, getter: Getter) -> None:
    getter.server.cdn_trouble.append(Status(429, {"Retry-After": "1"}))
    getter.server.api_trouble.append(Status(429, {"RateLimit": '"api";r=0;t=1'}))
    getter.get(target_only(files))
    assert getter.remarks[0] == "too many requests (429); trying again in 1 s"
    assert getter.remarks[1] == "target.gguf: too many requests (429); trying again in 1 s"


def test_an_answer_from_the_start_adds_what_is_missing(files: Files, getter: Getter) -> None:
    getter.server.cdn_trouble.extend([Cut(after=MIB), IgnoreRange()])
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target
    assert any("from the start" in remark for remark in getter.remarks)
    assert getter.progress[-1].done == len(files.target)


def test_a_later_start_goes_on_from_what_came(files: Files, getter: Getter) -> None:
    getter.server.cdn_trouble.extend([Cut(after=2 * MIB), *[Status(503)] * 9])
    with pytest.raises(HubUnreachable, match="what has come stays"):
        getter.get(target_only(files))
    (partial,) = getter.partials()
    there = partial.stat().st_size
    assert there > MIB and files.target.startswith(partial.read_bytes())
    getter.server.cdn_trouble.clear()
    getter.server.sent.clear()
    plan = getter.store.plan(target_only(files))
    assert plan.missing == len(files.target) - there
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target
    assert getter.server.sent[sha256(files.target)] == len(files.target) - there


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_process_leaves_what_the_next_one_needs(files: Files, getter: Getter) -> None:
    getter.server.pace = 0.02
    code = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from gemma_local.models.store.file_record import FileRecord
        from gemma_local.models.store.hub import Hub
        from gemma_local.models.store.hub_cache import HubCache
        from gemma_local.models.store.store import Store
        from gemma_local.models.store.wanted import Wanted
        endpoint, repository, folder = sys.argv[1:]
        store = Store(Hub(endpoint), HubCache(Path(folder)), FileRecord(Path(folder, "v")))
        plan = store.plan([Wanted(repository, "target.gguf")])
        store.carry_out(plan, lambda event: print("event", flush=True))
        """
    )
    words = [sys.executable, "-c", code, getter.server.endpoint, REPOSITORY,
             str(getter.cache.folder)]  # fmt: skip
    digest = sha256(files.target)
    with subprocess.Popen(words, stdout=subprocess.PIPE, env={**os.environ}) as process:
        assert process.stdout is not None
        while process.stdout.readline() and getter.server.sent[digest] < MIB:
            pass
        process.kill()
    (partial,) = getter.partials()
    there = partial.stat().st_size
    assert 0 < there < len(files.target)
    getter.server.pace = 0.0
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target
    assert getter.server.requests_for("/cdn/")[-1].headers["range"] == f"bytes={there}-"


def test_two_at_once_fetch_a_file_once(files: Files, getter: Getter) -> None:
    getter.server.pace = 0.01
    results: list[list[Path]] = []
    threads = [
        threading.Thread(target=lambda: results.append(getter.get(target_only(files))))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2 and results[0] == results[1]
    assert results[0][0].read_bytes() == files.target
    assert getter.server.sent[sha256(files.target)] == len(files.target)
