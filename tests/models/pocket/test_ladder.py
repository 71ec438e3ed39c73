"""The weak drafters load beside the pocket target and do as their profile says."""

from __future__ import annotations

import pytest

from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.pair import check_pair
from gemma_local.models.pocket import pair
from gemma_local.models.target import inspect_target
from tests.pocket_ladder import FOLDER, ladder
from tests.pocket_ladder.measure import measure, prompts

if pair() is None or not (FOLDER / "profile.json").exists():
    pytest.skip("this build carries no pocket pair", allow_module_level=True)


def test_the_ladder_is_small_and_each_rung_fits_the_target() -> None:
    files = pair()
    assert files is not None
    rungs = ladder()
    assert 4 <= len(rungs) <= 5
    assert sum(rung.path.stat().st_size for rung in rungs) < 6_000_000
    for rung in rungs:
        check_pair(inspect_target(files[0]), inspect_drafter(rung.path))


def test_each_rung_is_better_than_the_one_before() -> None:
    acceptances = [rung.acceptance for rung in ladder()]
    assert acceptances == sorted(acceptances)
    assert acceptances[-1] > 1.5 * acceptances[0] > 0


def test_the_weakest_and_the_strongest_do_as_their_profile_says() -> None:
    """On a part of the prompts, so not to the digit."""
    files = pair()
    assert files is not None
    rungs = ladder()
    for rung in (rungs[0], rungs[-1]):
        acceptance, _, _ = measure(files[0], rung.path, prompts(share=4))
        assert acceptance == pytest.approx(rung.acceptance, abs=0.15)
