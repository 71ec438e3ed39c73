"""A guest whose memory is a recurrent state: nothing in it can be undone, and nothing has to be."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gemma_local.engine.host import Host
from gemma_local.engine.messages import Load
from gemma_local.engine.outbox import Outbox
from gemma_local.engine.pair import Pair
from gemma_local.engine.runtime.context import Aborted
from gemma_local.models.prompt import Ids
from tests.engine.running import Runner, ask
from tests.ggufs import build, script
from tests.ggufs import mamba as recurrent

PROMPT = tuple(60 + i % 40 for i in range(100))


@pytest.fixture(scope="module")
def mamba(ggufs: Path) -> Path:
    return recurrent.mamba(ggufs / "recurrent")


def test_no_pass_of_it_is_broken_off(mamba: Path, ggufs: Path) -> None:
    host = Host(Outbox(io.BytesIO()))
    for target, can_be in ((mamba, False), (build("dense", script(["a"]), ggufs).target, True)):
        host._load(Load(str(target), context=512, threads=1))
        assert (host._abort is not None) == can_be
    host._close()


def test_what_a_failed_pass_left_is_not_built_upon(mamba: Path) -> None:
    pair = Pair.load(Load(str(mamba), context=512, threads=1), lambda _event: None)
    try:
        runner = Runner(pair)
        [first] = runner.run(ask(prompt=(Ids(PROMPT),), max_tokens=20, ignore_end=True))
        longer = (Ids((*PROMPT, *first.tokens, 70, 71)),)
        [expected] = runner.run(ask(prompt=longer, max_tokens=20, ignore_end=True))
        runner.scheduler.submit(ask("b", prompt=(Ids(PROMPT),), max_tokens=20, ignore_end=True))
        runner.scheduler.turn()
        pair.abort.raise_flag()
        with pytest.raises(Aborted):
            runner.scheduler.turn()
        pair.abort.lower()
        runner.scheduler.cancel("b")
        [after] = runner.run(ask(prompt=longer, max_tokens=20, ignore_end=True))
        assert after.tokens == expected.tokens
    finally:
        pair.close()
