"""Which model to run where no file was named: the plan's choice of those that are here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gemma_local.app.errors import NoModel
from gemma_local.app.known_speeds import known_bandwidth, past_runs
from gemma_local.app.own_catalog import own_catalog
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.candidate import Candidate, candidate_of_files
from gemma_local.engine.plan.choice import Plan, SizePlan, plan, require
from gemma_local.engine.plan.room import room_of
from gemma_local.engine.plan.settings import Wishes
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.pocket import SHORT_NAME, pair
from gemma_local.models.target import inspect_target

if TYPE_CHECKING:
    from gemma_local.models.store.library import Library
    from gemma_local.models.store.model_file import ModelFile

FILE_HINT = "Or give a GGUF file with --model FILE, or in GEMMA_LOCAL_MODEL."
_AROUND = re.compile(r"^gemma[-_ :]?4[-_ :]|[-_](?:it|qat)$", re.IGNORECASE)


def size_named(name: str) -> str | None:
    """The label of the size that a name such as "e4b" or "gemma-4-E4B-it" means; None for anything
    that may be a file."""
    if re.search(r"[/\\]|\.gguf$", name, re.IGNORECASE) or Path(name).exists():
        return None
    bare = _AROUND.sub("", _AROUND.sub("", name)).casefold()
    for label in own_catalog().labels:
        if bare in (label.casefold(), label.casefold().partition("-")[0]):
            return label
    return None


def survey(machine: Machine, wishes: Wishes) -> Plan:
    """The plan for all published sizes, with the files that are here.

    Raises StoreError if the library's own list cannot be read.
    """
    from gemma_local.engine.plan.published import candidate_of_library, published
    from gemma_local.models.store.library import Library

    catalog, library = own_catalog(), Library()
    models = library.models()
    here = [
        candidate
        for model in models
        if (candidate := candidate_of_library(catalog, model)) is not None
    ]
    if not here:
        here = list(_others(library, models))
    bandwidth = known_bandwidth(machine, wishes)
    return plan(
        machine,
        [*here, *published(catalog)],
        wishes,
        bandwidth=bandwidth,
        correction=past_runs(machine, bandwidth),
    )


def _others(library: Library, models: Sequence[ModelFile]) -> Iterator[Candidate]:
    """Models that are no published Gemma 4, if there is nothing else; their headers are read."""
    for model in models:
        if model.header.kind != "model":
            continue
        with suppress(GemmaLocalError):
            target = inspect_target(model.path)
            drafter = library.drafter_for(model, models)
            # Without this nobody can tell what it takes.
            if target.anatomy.kv_layers:
                yield candidate_of_files(target, inspect_drafter(drafter) if drafter else None)


def choose_model(machine: Machine, wishes: Wishes, label: str | None = None) -> Path:
    """The file to run: the best one of a size, or of all sizes that are here.

    Raises:
        NoModel: there is none; how to get it, and what it would be like.
        DoesNotFit: there are some, and no memory for them.
    """
    found = survey(machine, wishes)
    if label is not None:
        size = next(size for size in found.sizes if size.candidate.label == label)
        if size.candidate.path is None:
            raise NoModel(f"{_offer(size, 'is not on this machine')}\n{FILE_HINT}")
        require(size, room_of(machine))
        return size.candidate.path
    if found.installed is not None and found.installed.candidate.path is not None:
        return found.installed.candidate.path
    here = [size for size in found.sizes if size.candidate.path is not None]
    if here:
        require(min(here, key=lambda size: size.missing.total if size.missing else 0),
                room_of(machine))  # fmt: skip
    if found.chosen is None:
        smallest = min(found.sizes, key=lambda size: size.candidate.bytes)
        raise NoModel(
            f"there is no model yet, and {found.why}: even {_misses(smallest)}. Close other "
            f"programs first; gemma-local doctor shows what fits.\n{FILE_HINT}{_at_once()}"
        )
    first = _offer(found.chosen, "suits this machine")
    raise NoModel(f"there is no model yet. {first}\n{FILE_HINT}{_at_once()}")


def _at_once() -> str:
    """What works without a download."""
    if pair() is None:
        return "\nTo see a small model at work first, run `make demo` in the source folder."
    return (
        f"\nTo start at once, with the small guide that comes with gemma-local: "
        f"gemma-local --model {SHORT_NAME}"
    )


def speed_words(size: SizePlan) -> str:
    """What a size is like, such as "about 12 tokens/s (7 to 21)"."""
    assert size.forecast is not None
    speed = size.forecast.decode
    low, middle, high = (rounded(n) for n in (speed.low, speed.expected, speed.high))
    return f"about {middle} tokens/s ({low} to {high})"


def rounded(speed: float) -> str:
    """A speed in no more digits than are known."""
    return f"{speed:.1f}" if speed < 10 else f"{float(f'{speed:.2g}'):.0f}"


def _offer(size: SizePlan, state: str) -> str:
    candidate = size.candidate
    pair = " with its drafter" if candidate.drafter is not None else ""
    get = f"gemma-local models get {candidate.label.lower()}"
    if size.fitting is None:
        return f"{candidate.label} {state}, and {_misses(size)}; {get} would download it"
    return (
        f"{candidate.label} {state}: `{get}` downloads it{pair}, {human_bytes(candidate.bytes)}; "
        f"it would run at {speed_words(size)} here"
    )


def _misses(size: SizePlan) -> str:
    assert size.missing is not None
    return f"{size.candidate.label} needs {human_bytes(size.missing.total)} more than is free"


def installed_library() -> Library:
    """The library of this person."""
    from gemma_local.models.store.library import Library

    return Library()
