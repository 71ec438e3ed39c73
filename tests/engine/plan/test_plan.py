"""The plan: what fits, what is chosen, and that every wish is honoured or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gemma_local.engine.commands import LOOKUP_MAX, USUAL_LOOKUP
from gemma_local.engine.hardware.machine import Accelerator, Machine
from gemma_local.engine.plan.choice import Plan, SizePlan, plan, plan_one, require
from gemma_local.engine.plan.errors import DoesNotFit, WishRefused
from gemma_local.engine.plan.room import room_of
from gemma_local.engine.plan.search import COMFORTABLE, WANTED
from gemma_local.engine.plan.settings import Wishes
from tests.engine.plan.machines import GIB, apple, candidate, candidates, card, machine

QUICK = settings(
    max_examples=40, deadline=None, phases=[p for p in Phase if p is not Phase.explain]
)
KINDS = st.sampled_from(["CUDA", "Vulkan", "ROCm"])
GIBS = st.floats(0.5, 128, allow_nan=False)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Machines of all sizes, without a card, with one, with several, and Apple's."""
    if draw(st.booleans()):
        gib = draw(st.sampled_from([8, 16, 24, 36, 64, 128]))
        return apple(gib, gib * draw(st.floats(0.1, 0.95)))
    total = draw(GIBS)
    cards = draw(st.lists(st.floats(0.25, 96), max_size=3))
    kind = draw(KINDS)
    return machine(
        cores=draw(st.integers(1, 64)),
        available=round(total * draw(st.floats(0.02, 1)) * GIB),
        total=round(total * GIB),
        accelerators=tuple(
            card(gib, kind, number=i, used=gib * draw(st.floats(0, 0.9)))
            for i, gib in enumerate(cards)
        ),
    )


@st.composite
def wishes(draw: st.DrawFn) -> Wishes:
    """Some of everything that can be wished for."""
    return Wishes(
        context=draw(st.none() | st.integers(512, 262144)),
        draft=draw(st.none() | st.integers(0, 16)),
        gpu_layers=draw(st.none() | st.integers(0, 80)),
        threads=draw(st.none() | st.integers(1, 64)),
        sequences=draw(st.none() | st.integers(1, 8)),
        kv_type=draw(st.sampled_from([None, "f16", "bf16", "q8_0"])),
    )


def takes_no_more_than_there_is(size: SizePlan, where: Machine) -> None:
    fitting = size.fitting
    if fitting is None:
        assert size.missing is not None
        assert size.missing.total > 0
        return
    room, taken = room_of(where), fitting.footprint
    host = taken.host
    available = where.memory.available
    assert available is not None
    if fitting.device is not None:
        assert taken.device <= fitting.device.room
        if fitting.device.is_integrated:
            host += taken.device
    else:
        assert taken.device == 0
    assert host <= room.host
    assert available - host >= min(1.5 * GIB, available // 2)
    assert size.settings is not None
    assert fitting.footprint.of("checkpoints") == size.settings.cache_bytes


@QUICK
@given(machines(), wishes())
def test_no_plan_takes_more_than_there_is_and_wishes_are_honoured_or_refused(
    where: Machine, wished: Wishes
) -> None:
    refusals: list[str] = []
    for one in candidates():
        try:
            size = plan_one(where, one, wished)
        except WishRefused as refusal:
            refusals.append(str(refusal))
            continue
        takes_no_more_than_there_is(size, where)
        found = size.settings
        if found is None:
            continue
        assert wished.context in (None, found.context)
        assert wished.draft in (None, found.draft)
        assert wished.threads in (None, found.threads)
        assert wished.sequences in (None, found.sequences)
        assert wished.kv_type in (None, found.kv_type)
        if wished.gpu_layers is not None:
            assert found.gpu_layers == min(wished.gpu_layers, one.layers + 1)
    assert all(any(map(str.isdigit, refusal)) for refusal in refusals)


def rank(found: Plan) -> int:
    return found.chosen.candidate.rank if found.chosen is not None else 0


@QUICK
@given(machines(), st.floats(1, 4), st.floats(1, 4))
def test_more_memory_never_gives_a_smaller_model(
    where: Machine, more: float, more_there: float
) -> None:
    def larger(device: Accelerator) -> Accelerator:
        sizes = (device.total or 0, device.free or 0, device.usable or 0)
        total, free, usable = (round(size * more_there) for size in sizes)
        return replace(device, total=total, free=free, usable=usable)

    memory = where.memory
    grown = replace(
        where,
        memory=replace(
            memory,
            total=round((memory.total or 0) * more),
            available=round((memory.available or 0) * more),
        ),
        accelerators=tuple(map(larger, where.accelerators)),
    )
    before, after = plan(where, candidates()), plan(grown, candidates())
    assert rank(after) >= rank(before)


@given(st.floats(0.1, 3))
@settings(max_examples=20, deadline=None)
def test_drafting_with_a_part_of_the_layers_on_a_card_is_off_unless_wished_for(
    short: float,
) -> None:
    whole = plan_one(machine(accelerators=(card(24),)), candidate("12B"), Wishes())
    assert whole.fitting is not None
    there = whole.fitting.footprint.device / GIB
    where = machine(accelerators=(card(there - short),))
    size = plan_one(where, candidate("12B"), Wishes(context=WANTED, kv_type="f16"))
    assert size.fitting is not None
    if not size.fitting.full:
        assert size.settings is not None
        assert (size.settings.draft, size.settings.draft_max) == (0, 0)
        assert "off" in dict(size.reasons)["draft"]
        wished = plan_one(where, candidate("12B"), Wishes(draft=2))
        assert wished.fitting is not None
        if not wished.fitting.full:
            assert any("25873" in caution for caution in wished.cautions)


def test_a_cache_is_quantised_only_where_nothing_else_brings_all_layers_to_the_card() -> None:
    def kv(gib: float) -> tuple[str, bool, int]:
        size = plan_one(machine(accelerators=(card(gib),)), candidate("31B"), Wishes())
        assert size.fitting is not None
        found = size.fitting.settings
        return found.kv_type, size.fitting.full, found.context

    seen = [kv(gib / 4) for gib in range(70, 120)]
    assert ("f16", True, WANTED) in seen
    quantised = [index for index, (kind, _, _) in enumerate(seen) if kind == "q8_0"]
    assert quantised
    assert all(seen[index][1] for index in quantised)
    # A little less room: not all layers fit. A little more: they do without.
    assert not seen[quantised[0] - 1][1]
    assert seen[quantised[-1] + 1][:2] == ("f16", True)


def test_less_context_is_said_and_a_little_more_memory_gives_it_back() -> None:
    tight = plan_one(machine(available=round(4.45 * GIB), total=6 * GIB), candidate("E4B"))
    roomy = plan_one(machine(available=8 * GIB, total=8 * GIB), candidate("E4B"))
    assert (tight.fit, roomy.fit) == ("less context", "fits")
    assert tight.settings is not None
    assert roomy.settings is not None
    assert tight.settings.context < roomy.settings.context == WANTED
    assert "all that fits" in dict(tight.reasons)["context"]


def test_what_does_not_fit_says_how_much_is_missing() -> None:
    where = machine(available=6 * GIB, total=8 * GIB)
    size = plan_one(where, candidate("12B"))
    assert size.fit == "no"
    assert size.missing is not None
    with pytest.raises(DoesNotFit, match=r"12B does not fit.*too little.*--ctx") as refusal:
        require(size, room_of(where))
    # With just that much more it would.
    enough = replace(where.memory, available=6 * GIB + size.missing.total)
    assert plan_one(replace(where, memory=enough), candidate("12B")).fitting is not None
    short = replace(where.memory, available=6 * GIB + size.missing.total - 1)
    assert plan_one(replace(where, memory=short), candidate("12B")).fitting is None
    assert "GB" in str(refusal.value)


@pytest.mark.parametrize(
    ("wished", "words"),
    [
        (Wishes(gpu_layers=20), "sees none here"),
        (Wishes(threads=9), "may use 8 CPUs"),
    ],
)
def test_what_is_not_there_is_refused(wished: Wishes, words: str) -> None:
    with pytest.raises(WishRefused, match=words):
        plan_one(machine(), candidate("E2B"), wished)


def test_drafts_without_a_drafter_are_refused() -> None:
    bare = replace(candidate("E2B"), drafter=None)
    with pytest.raises(WishRefused, match="no drafter"):
        plan_one(machine(), bare, Wishes(draft=3))
    size = plan_one(machine(), bare)
    assert size.settings is not None
    assert size.settings.draft == 0


def test_a_drafter_is_on_the_device_of_the_last_layers() -> None:
    two = machine(accelerators=(card(12), card(24, number=1)))
    size = plan_one(two, candidate("31B"))
    assert size.settings is not None
    # It fits on the larger one alone.
    assert (size.settings.device, size.settings.drafter_device) == (1, 1)
    twins = machine(accelerators=(card(16), card(16, number=1)))
    spread = plan_one(twins, candidate("31B"))
    assert spread.fitting is not None
    assert spread.fitting.full
    assert (spread.fitting.settings.device, spread.fitting.settings.drafter_device) == (None, 1)
    single = plan_one(machine(accelerators=(card(24),)), candidate("31B"))
    assert single.settings is not None
    assert single.settings.device is None


def test_integrated_graphics_are_not_counted_beside_a_card() -> None:
    shared = Accelerator("Vulkan", "Vulkan0", "Graphics", None, True, 16 * GIB, GIB, 9 * GIB)
    where = machine(accelerators=(shared, card(24, "Vulkan", number=1)))
    size = plan_one(where, candidate("12B"))
    assert size.fitting is not None
    assert size.fitting.device is not None
    assert not size.fitting.device.is_integrated
    # llama.cpp does not count them either.
    assert size.fitting.settings.device is None


def test_on_shared_memory_a_model_is_counted_once_and_never_too_little() -> None:
    size = plan_one(apple(16, 11), candidate("12B"))
    assert size.fitting is not None
    room = room_of(apple(16, 11))
    assert size.fitting.footprint.total <= room.host
    assert room.devices[0].room <= 11 * GIB - 2 * GIB


def test_the_best_that_is_fast_enough_is_chosen() -> None:
    def label(where: Machine) -> str | None:
        found = plan(where, candidates()).chosen
        return found.candidate.label if found else None

    assert label(machine(cores=2, available=22 * GIB, total=24 * GIB)) == "E2B"
    assert label(machine(cores=8, available=12 * GIB, total=16 * GIB)) == "E4B"
    assert label(machine(accelerators=(card(12),), available=3 * GIB, total=8 * GIB)) == "12B"
    assert label(machine(accelerators=(card(24),))) == "31B"
    assert label(machine(accelerators=(card(17),), available=3 * GIB)) == "26B-A4B"


def test_a_size_that_crawls_is_offered_and_not_chosen() -> None:
    found = plan(machine(cores=2), candidates())
    large = next(size for size in found.sizes if size.candidate.label == "26B-A4B")
    assert large.fit == "fits"
    assert not large.is_eligible
    assert "too slow" in found.why


def test_where_nothing_fits_nothing_is_chosen() -> None:
    found = plan(machine(available=GIB, total=2 * GIB), candidates())
    assert found.chosen is None
    assert "no size fits" in found.why


def test_unknown_memory_still_gives_a_plan() -> None:
    found = plan(machine(available=None, total=None), candidates())
    assert found.chosen is not None


def test_what_is_here_is_chosen_among_what_is_here() -> None:
    here = [
        replace(one, path=Path(f"{one.label}.gguf"))
        for one in candidates()
        if one.label in ("E2B", "12B")
    ]
    found = plan(machine(), [*here, *candidates()])
    assert found.installed is not None
    assert found.installed.candidate.label == "E2B"
    assert len(found.sizes) == 5
    paths = {size.candidate.label: size.candidate.path for size in found.sizes}
    assert paths["12B"] is not None
    assert paths["E4B"] is None


def test_a_comfortable_context_is_kept_for_what_is_chosen() -> None:
    for available in range(2, 30):
        found = plan(machine(available=available * GIB), candidates())
        if found.chosen is not None and found.chosen.is_eligible:
            assert found.chosen.settings is not None
            assert found.chosen.settings.context >= COMFORTABLE


def test_long_drafts_from_the_text_are_for_where_memory_is_left() -> None:
    def longest(gib: float, **wished: int) -> int:
        where = machine(cores=4, available=round(gib * GIB), total=round(gib * GIB))
        found = plan_one(where, candidate("E2B"), Wishes(**wished))  # type: ignore[arg-type]
        assert found.fitting is not None
        takes_no_more_than_there_is(found, where)
        return found.fitting.settings.lookup_max

    assert longest(32.0) == LOOKUP_MAX
    assert longest(3.5) == USUAL_LOOKUP
    # All sequences of a pass would have as many rows.
    assert longest(32.0, sequences=2) == USUAL_LOOKUP
