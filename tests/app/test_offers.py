"""What could run: published sizes and files of this disk, found where programs keep them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import constants

from gemma_local.app import readiness
from gemma_local.app.offers import Found, Offer, offers
from gemma_local.app.readiness import look, machine_lines, settings_words
from gemma_local.models.catalog import load_catalog
from gemma_local.models.store.errors import StoreError
from gemma_local.models.store.library import Library
from tests.app.running import Command
from tests.engine.plan.machines import GIB, card, machine, recorded_machine
from tests.ggufs import Pair
from tests.models.store import local_files as make

ROOMY = machine(available=28 * GIB)


@pytest.fixture
def home(command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of this test, with nothing in it."""
    command.home.mkdir()
    for name, value in command.environment().items():
        monkeypatch.setenv(name, value)
    for name in ("OLLAMA_MODELS", "LLAMA_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(command.home / "hf" / "hub"))
    return command.home


def by_name(found: tuple[Offer, ...]) -> dict[str, Offer]:
    return {offer.name: offer for offer in found}


def test_with_nothing_here_there_are_the_sizes(home: Path) -> None:
    said: list[str] = []
    found = offers(ROOMY, said.append)
    assert [offer.label for offer in found] == list(load_catalog().labels)
    assert all(offer.path is None and offer.has_drafter and offer.fits for offer in found)
    assert all(offer.fit_words == "fits" and " to " in offer.speed_words for offer in found)
    assert said[0] == "looking for models on this disk" and len(said) == 2
    assert not any(offer.refusal for offer in found)


def test_what_does_not_fit_says_by_how_much(home: Path) -> None:
    found = by_name(offers(machine(available=3 * GIB, total=4 * GIB)))
    large = found["31B"]
    assert not large.fits and large.fit_words.endswith("GB short") and large.speed_words == ""
    assert large.missing > 10 * GIB and "31B needs" in large.refusal
    with_card = by_name(offers(machine(available=28 * GIB, accelerators=(card(8),))))
    assert {offer.fit_words for offer in with_card.values()} >= {"fits", "partly on GPU"}


def test_files_of_the_library_and_of_other_programs(home: Path, story: Pair) -> None:
    studio = home / ".lmstudio" / "models" / "maker"
    target = make.target(studio, "from-studio.gguf")
    make.drafter(studio, "its-drafter.gguf")
    (studio / "broken.gguf").write_bytes(b"GGUF and no more")
    library = Library()
    library.add(story.target)
    found = by_name(offers(ROOMY))
    theirs = found["from-studio"]
    assert (theirs.path, theirs.where) == (target, "LM Studio")
    # The drafter beside it is found, and is no model itself.
    assert theirs.has_drafter and "its-drafter" not in found
    broken = found["broken"]
    assert broken.fit_words == "unusable" and broken.refusal == broken.problem != ""
    assert not broken.fits
    mine = found[story.target.stem]
    assert mine.has_drafter and mine.path == story.target and mine.planned is not None
    assert mine.bytes == story.target.stat().st_size + story.drafter.stat().st_size
    # Looking takes nothing in.
    assert [entry.name for entry in library.models()] == [story.target.stem]
    # What was looked at is known the next time.
    library.remove(library.find(story.target.stem))
    assert story.target.stem not in by_name(offers(ROOMY))


def test_files_of_no_folder_of_models_are_offered_once(home: Path, story: Pair) -> None:
    copy = home / ".lmstudio" / "models" / "known.gguf"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(story.target.read_bytes())
    others = (
        Found(story.target, "in use", str(story.target.parent)),
        Found(copy, "again", "elsewhere"),
        Found(home / "gone.gguf", "gone", "nowhere"),
    )
    found = by_name(offers(ROOMY, others=others))
    assert found["in use"].path == story.target and found["in use"].fits
    assert not {"again", "gone"} & set(found)


def test_a_size_that_is_here_is_offered_once(home: Path) -> None:
    size = load_catalog().size("E2B")
    make.target(home / ".lmstudio" / "models", Path(size.default.file).name)
    found = offers(ROOMY)
    assert "E2B" not in [offer.name for offer in found]
    assert sum(offer.path is not None for offer in found) == 1


def test_the_first_page_of_a_machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    found = look(said.append, ROOMY)
    assert found.suited is not None and found.suited.label == "26B-A4B"
    assert found.why.startswith("26B-A4B gives the best answers")
    assert "tokens/s" in settings_words(found.suited) and "32k" in settings_words(found.suited)
    assert found.machine[0] == "A processor, 8 cores to compute with"
    assert len(found.sizes) == 5 and found.here == () and found.troubles == ()
    assert not found.is_offline and found.lacks_network
    assert said[0] == "looking at this machine"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert look(machine=ROOMY).is_offline


def test_of_what_suits_best_what_lies_here_goes_first(home: Path) -> None:
    offered = offers(ROOMY)
    published = next(offer for offer in offered if offer.label == "26B-A4B")
    assert published.planned is not None
    here = replace(published, path=home / "mine.gguf", planned=replace(published.planned))
    assert readiness._suited(offered)[0] is published
    assert readiness._suited((*offered, here))[0] is here
    # But not where it cannot be used, or would be too slow.
    slow = replace(offered[4].planned, candidate=published.planned.candidate)  # type: ignore[type-var]
    for unfit in (replace(here, problem="It is damaged."), replace(here, planned=slow)):
        assert readiness._suited((*offered, unfit))[0] is published


def test_nothing_fits(home: Path) -> None:
    found = look(machine=machine(available=GIB // 2, total=GIB))
    assert found.suited is None and "no size fits" in found.why.lower()
    assert len(found.sizes) == 5


def test_a_real_machine_in_words() -> None:
    lines = machine_lines(recorded_machine("virtual-machine-2-cores"))
    assert len(lines) == 2 and "2 cores" in lines[0] and "available" in lines[1]
    assert "through CUDA" in machine_lines(machine(accelerators=(card(8),)))[2]


def test_what_cannot_be_found_out_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreError("the list of added models cannot be read. Repair or delete it.")

    monkeypatch.setattr(readiness, "offers", fail)
    found = look(machine=ROOMY)
    assert found.offers == () and found.suited is None
    assert any("Repair or delete it" in trouble for trouble in found.troubles)


def test_the_disk_must_have_room(home: Path) -> None:
    recorded = recorded_machine("virtual-machine-2-cores")
    assert recorded.disk is not None
    full = replace(recorded, disk=replace(recorded.disk, free=GIB))
    assert any("make room first" in trouble for trouble in look(machine=full).troubles)


def test_the_memory_is_not_measured_where_there_is_nothing_to_choose(
    home: Path, story: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    said: list[str] = []
    found = look(said.append, briefly=True)
    assert found.only_builtin and not found.troubles
    assert "measuring the memory's speed" not in said
    # With a file there is something to choose, so that its speed is to be known.
    Library().add(story.target)
    assert not look(said.append, briefly=True).only_builtin
    assert said.count("measuring the memory's speed") == 1
    said.clear()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(readiness, "has_network", lambda: True)
    assert not look(said.append, briefly=True).only_builtin
    assert "measuring the memory's speed" in said
