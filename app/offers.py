"""What could run on this machine: every published size, and every file that lies here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gemma_local.app.known_speeds import known_bandwidth, past_runs
from gemma_local.app.model_choice import installed_library, rounded
from gemma_local.app.own_catalog import own_catalog
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.candidate import Candidate, candidate_of_files
from gemma_local.engine.plan.choice import SizePlan, plan_one
from gemma_local.engine.plan.settings import Wishes
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.target import inspect_target

if TYPE_CHECKING:
    from gemma_local.models.catalog import Catalog
    from gemma_local.models.store.library import Library
    from gemma_local.models.store.model_file import ModelFile


@dataclass(frozen=True, slots=True)
class Offer:
    """A model with its drafter: on this disk, or to be fetched first."""

    name: str
    """Of a size its label, of a file the library's name for it."""
    label: str
    """The size ("E4B"); "" for what is no Gemma 4."""
    quantisation: str
    bytes: int
    """Of both files."""
    path: Path | None
    """Of the target; None: it must be fetched."""
    where: str
    """The folder, the repository or the program that has it."""
    has_drafter: bool
    planned: SizePlan | None
    """How it would run; None where its header tells too little, or nothing that can be used."""
    problem: str = ""
    """The sentence about a file that cannot be used."""

    @property
    def fits(self) -> bool:
        """Whether it can be loaded, as far as that is known."""
        return not self.problem and (self.planned is None or self.planned.fitting is not None)

    @property
    def missing(self) -> int:
        """Bytes of memory that are too few."""
        missing = self.planned.missing if self.planned is not None else None
        return missing.total if missing is not None else 0

    @property
    def fit_words(self) -> str:
        """Whether it fits, in a few words."""
        if self.problem:
            return "unusable"
        if self.planned is None:
            return "unknown"
        fitting = self.planned.fitting
        if fitting is None:
            return f"{human_bytes(self.missing)} short"
        if fitting.device is not None and not fitting.full:
            return "partly on GPU"
        context = fitting.settings.context // 1024
        return "fits" if self.planned.fit == "fits" else f"{context}k context"

    @property
    def speed_words(self) -> str:
        """Tokens a second, as a range; "" where it cannot be told."""
        if self.planned is None or self.planned.forecast is None:
            return ""
        speed = self.planned.forecast.decode
        return f"{rounded(speed.low)} to {rounded(speed.high)}"

    @property
    def refusal(self) -> str:
        """Why it cannot be run, and what to do; "" if it can."""
        if self.problem:
            return self.problem
        if self.fits:
            return ""
        return (
            f"{self.name} needs {human_bytes(self.missing)} of memory more than is free: close "
            "other programs, or take a smaller one"
        )


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be a model, and what to call it and its place."""

    path: Path
    name: str
    where: str


def offers(
    machine: Machine,
    say: Callable[[str], None] = lambda _: None,
    others: Sequence[Found] = (),
) -> tuple[Offer, ...]:
    """All of them: the sizes from the smallest on, then files by name. What is on the disk as the
    very file that a size stands for is offered once, as that file. ``others`` are files that no
    folder of models holds.

    Headers of files that were never looked at take half a second each; ``say`` hears what is done.
    Raises GemmaLocalError where the library or the catalogue cannot be read.
    """
    say("looking for models on this disk")
    planner, catalog, library = _Planner(machine), own_catalog(), installed_library()
    local = list(_local(planner, catalog, library, say, others))
    say("planning how each size would run")
    here = {offer.path.name for offer in local if offer.path is not None}
    published = _published(planner, catalog, here)
    return (*published, *sorted(local, key=lambda offer: offer.name.casefold()))


class _Planner:
    """Plans with what is known of this machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._bandwidth = known_bandwidth(machine, Wishes())
        self._past = past_runs(machine, self._bandwidth)

    def plan(self, candidate: Candidate) -> SizePlan:
        return plan_one(self._machine, candidate, bandwidth=self._bandwidth, correction=self._past)


def _published(planner: _Planner, catalog: Catalog, here: set[str]) -> Iterator[Offer]:
    from gemma_local.engine.plan.published import candidate_of_catalog

    for size in catalog.sizes:
        target = size.default
        if Path(target.file).name in here:
            continue
        candidate = candidate_of_catalog(size, target)
        yield Offer(
            name=size.label,
            label=size.label,
            quantisation=target.quantisation,
            bytes=candidate.bytes,
            path=None,
            where=target.repository,
            has_drafter=candidate.drafter is not None,
            planned=planner.plan(candidate),
        )


def _local(
    planner: _Planner,
    catalog: Catalog,
    library: Library,
    say: Callable[[str], None],
    others: Sequence[Found],
) -> Iterator[Offer]:
    from gemma_local.models.store.scan import scan

    entries = library.models()
    known = {entry.path.resolve() for entry in entries}
    scanned = (Found(file.path, file.name, file.program) for file in scan(Path.home(), os.environ))
    found = []
    for file in (*scanned, *others):
        place = file.path.resolve()
        if place not in known and place.exists():
            known.add(place)
            found.append(library.look_at(file.path, file.name, file.where))
    models = [entry for entry in (*entries, *found) if entry.header.kind in ("model", "unusable")]
    for number, entry in enumerate(models, start=1):
        say(f"looking at {entry.name} ({number} of {len(models)})")
        yield _offer(planner, catalog, library, entry, entries)


def _offer(
    planner: _Planner,
    catalog: Catalog,
    library: Library,
    entry: ModelFile,
    entries: Sequence[ModelFile],
) -> Offer:
    header = entry.header
    usable = header.kind == "model"
    drafter = library.drafter_for(entry, entries) if usable else None
    candidate = _candidate(catalog, entry, drafter) if usable else None
    return Offer(
        name=entry.name,
        label=header.size_label if entry.is_gemma4 else "",
        quantisation=header.quantisation,
        bytes=header.bytes + (drafter.stat().st_size if drafter is not None else 0),
        path=entry.path,
        where=entry.where,
        has_drafter=drafter is not None,
        planned=planner.plan(candidate) if candidate is not None else None,
        problem=header.problem,
    )


def _candidate(catalog: Catalog, entry: ModelFile, drafter: Path | None) -> Candidate | None:
    """As the catalogue knows its size, without reading its header again; by its header if it is no
    published Gemma 4. None if that tells nothing."""
    from gemma_local.engine.plan.published import candidate_of_library

    if (candidate := candidate_of_library(catalog, entry)) is not None:
        return candidate if drafter is not None else replace(candidate, drafter=None)
    with suppress(GemmaLocalError):
        target = inspect_target(entry.path)
        if target.anatomy.kv_layers:
            return candidate_of_files(target, inspect_drafter(drafter) if drafter else None)
    return None
