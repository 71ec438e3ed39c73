"""What plain decoding would have yielded where several sequences shared the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.engine.messages import Sampling
from gemma_local.engine.meter import Meter
from tests.engine.pace.test_decoding import CHEAP, DEAR, teach
from tests.engine.running import Reply, ask, running
from tests.ggufs import Drafter, build, script

STORY = script(["Once", *(f" word{i}" for i in range(150)), "."])
_DECODED = (20, 60)
"""Tokens of two answers behind the first one of each, which the prompt's last row gives."""


def plain_speed(reply: Reply) -> float:
    pace = reply.end.tally.pace
    assert pace is not None and pace.plain_speed is not None
    return pace.plain_speed


def both(
    folder: Path, patch: pytest.MonkeyPatch, costs: dict[int, float], wrong_every: int
) -> list[Reply]:
    """Two answers, decoded side by side until the shorter one ends."""
    files = build("dense", STORY, folder, drafter=Drafter(wrong_every=wrong_every))
    with running(files, sequences=2) as runner:
        teach(runner.pair.decoder.pace, costs, patch)
        return runner.run(
            *(
                ask(f"r{n}", sampling=Sampling(seed=n), max_tokens=1 + decoded)
                for n, decoded in enumerate(_DECODED)
            )
        )


def test_each_is_compared_with_plain_decoding_in_the_same_company(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = both(ggufs, monkeypatch, DEAR, 3)
    # A pass takes a second for each row. The first answer had one pass to itself, while the prompt
    # of the second was read; the second one had the rest to itself once the first had ended.
    shared = _DECODED[0] - 1
    assert plain_speed(short) == pytest.approx(_DECODED[0] / (1 + 2 * shared), rel=0.05)
    alone = _DECODED[1] - shared
    assert plain_speed(long) == pytest.approx(_DECODED[1] / (2 * shared + alone), rel=0.05)


def test_what_drafts_bring_at_once_plain_decoding_would_bring_one_by_one(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = both(ggufs, monkeypatch, CHEAP, 100)
    assert long.end.tally.accepted > 30
    # A plain pass takes about a second, whether it has one row or two.
    for reply in (short, long):
        assert plain_speed(reply) == pytest.approx(1.0, rel=0.05)


def test_what_one_waits_for_the_others_is_waited_for_without_drafts_too() -> None:
    meter = Meter()
    # The step that ends the turn may bring nothing.
    meter.count_plain(0, 0.5, waited=0.0)
    assert meter.plain_speed is None
    meter.count_plain(4, 0.5, waited=0.0)
    assert meter.plain_speed == pytest.approx(2.0)
    meter.count_plain(2, 0.5, waited=3.0)
    assert meter.plain_speed == pytest.approx(1.0)
    # What is not known says nothing.
    meter.count_plain(50, None, waited=3.0)
    assert meter.plain_speed == pytest.approx(1.0)
