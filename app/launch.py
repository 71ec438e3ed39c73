"""From options to a running engine: which files, whether they fit, and how they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gemma_local.app import early_engine, folders
from gemma_local.app.errors import NoModel, UnfitBuild, UsageError
from gemma_local.app.known_speeds import known_bandwidth, past_runs
from gemma_local.app.options import PairOptions
from gemma_local.app.terminal import note, progress
from gemma_local.engine.client import Engine, EngineDied, EngineFailed
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.hardware.probes import SystemProbes
from gemma_local.engine.messages import Load, Loading, Ready
from gemma_local.engine.plan.candidate import candidate_of_files
from gemma_local.engine.plan.choice import SizePlan, plan_one, require
from gemma_local.engine.plan.history import machine_key
from gemma_local.engine.plan.room import room_of
from gemma_local.engine.plan.search import Fitting
from gemma_local.engine.plan.settings import Wishes
from gemma_local.engine.threads import usable_cpus
from gemma_local.models import pocket
from gemma_local.models.drafter import DrafterFacts, inspect_drafter
from gemma_local.models.errors import BadModelFile
from gemma_local.models.given_path import given_path
from gemma_local.models.pair import check_pair, find_drafter
from gemma_local.models.target import TargetFacts, inspect_target

if TYPE_CHECKING:
    from gemma_local.engine.plan.parallel import Work
    from gemma_local.models.footprint import KvType
    from gemma_local.models.store.library import Library

OnLoading = Callable[[Loading], None]


@dataclass(frozen=True, slots=True)
class Launch:
    """A pair that was checked and can be loaded."""

    target: TargetFacts
    load: Load
    remark: str = ""
    """Something that the person should know before it is used."""
    planned: SizePlan | None = None
    machine: Machine | None = None
    """Where, and how fast it is expected to be; None where that cannot be told."""
    why_so_many: str = ""
    """What speaks for this number of sequences, where work for several was planned."""

    def with_states(self) -> Launch:
        """The same, keeping the states of named sessions on disk."""
        return replace(self, load=replace(self.load, state_folder=str(folders.state_path())))

    def open(self, on_loading: OnLoading | None = None) -> Engine:
        """Start the engine and load the pair; ``on_loading`` hears how far it is.

        Raises:
            BadModelFile: llama.cpp does not take the files, or they need more than there is.
            EngineDied: the process ended while loading.
        """
        if self.remark:
            note(self.remark)
        engine = early_engine.take()
        try:
            engine.start(self.load, on_loading or show_loading)
        except EngineDied:
            raise
        except EngineFailed as error:
            raise BadModelFile(str(error)) from error
        finally:
            progress.clear()
        return engine

    @contextmanager
    def running(self, on_loading: OnLoading | None = None) -> Iterator[tuple[Engine, Ready]]:
        """The engine with the pair loaded, for the length of a block; raises as ``open`` does."""
        engine = self.open(on_loading)
        try:
            assert engine.ready is not None
            yield engine, engine.ready
        except KeyboardInterrupt:
            # No time for good manners.
            engine.close(timeout=0.0)
            raise
        finally:
            progress.clear()
            engine.close()


def prepare(
    options: PairOptions,
    *,
    longest_draft: int | None,
    usual_draft: int | None = None,
    sequences: int | None = None,
    work: Work | None = None,
) -> Launch:
    """Choose and check the files, and plan how they are loaded.

    ``longest_draft`` is the longest draft that will be asked for, None for the plan's choice, 0
    for none: then a drafter is checked if one was named, but not loaded. ``usual_draft`` is the one
    that most requests will ask for, if that is not the longest. ``sequences`` is how many requests
    are to run at once, None: one, or as many as get ``work`` done soonest.

    Raises:
        NoModel, BadModelFile, BadPair, UsageError, WishRefused, UnfitBuild: with what to do.
    """
    cpus = usable_cpus()
    if options.threads > cpus:
        raise UsageError(
            f"--threads: give a number up to {cpus}, the CPUs that this process may use; more "
            f"threads than CPUs make every token slower, and {options.threads} is more"
        )
    wishes = Wishes(
        context=options.ctx or None,
        draft=longest_draft if usual_draft is None else usual_draft,
        draft_max=longest_draft,
        gpu_layers=None if options.gpu_layers < 0 else options.gpu_layers,
        threads=options.threads or None,
        sequences=sequences,
        kv_type=cast("KvType | None", options.kv_type),
    )
    with early_engine.needed():
        return _prepared(options, wishes, longest_draft, work)


def _prepared(
    options: PairOptions, wishes: Wishes, longest_draft: int | None, work: Work | None
) -> Launch:
    engine = early_engine.begin()
    probes = SystemProbes(engine.devices) if engine is not None else SystemProbes()
    # The engine names llama.cpp's devices and imports what it needs, while headers are read here.
    with ThreadPoolExecutor(1) as pool:
        machine = pool.submit(detect, probes)
        path, library = _choose_target(options, machine, wishes)
        target = inspect_target(path)
        fixed = pocket.DRAFT if longest_draft is None and pocket.is_pocket(target.name) else None
        if fixed is not None:
            wishes = replace(wishes, draft=fixed)
        drafter = _choose_drafter(options, target, library)
    if machine.result().build.is_unfit:
        raise UnfitBuild(machine.result().build)
    pace_file = str(folders.pace_path(machine_key(machine.result())))
    planned, why = _planned(machine.result(), target, drafter, wishes, work)
    is_missed = longest_draft != 0 and drafter is None and options.drafter == "auto"
    remark = _missing_drafter(target, longest_draft) if is_missed else ""
    if planned is None:
        load = _unplanned(options, target, drafter, longest_draft)
        load = replace(load, sequences=wishes.sequences or 1, pace_file=pace_file)
        return Launch(target, load, remark)
    fitting = require(planned, room_of(machine.result()))
    if fitting.off_because and longest_draft != 0:
        remark = (
            f"it answers without drafting: {fitting.off_because}; --draft N drafts all the same"
        )
    # Everything that llama.cpp can offload, as long as nobody wants less.
    is_open = wishes.gpu_layers is None and (fitting.device is None) == (
        not machine.result().accelerators
    )
    load = _load(target, drafter, fitting, all_layers=is_open and fitting.full)
    load = replace(load, pace_file=pace_file, draft_fixed=fixed)
    return Launch(target, load, remark, planned, machine.result(), why)


def _choose_target(
    options: PairOptions, machine: Future[Machine], wishes: Wishes
) -> tuple[Path, Library | None]:
    """The target's path, and the library that it is from unless it was named."""
    name = options.model
    label = None
    if name:
        from gemma_local.app.model_choice import size_named

        path = given_path(name)
        if name.casefold() == pocket.SHORT_NAME and not path.exists():
            return _pocket_target(), None
        label = None if path.exists() else size_named(name)
        if label is None:
            return path, None
    from gemma_local.app.model_choice import choose_model, installed_library

    # Which drafts it will make says nothing about which model to take.
    wishes = replace(wishes, draft=None, draft_max=None)
    return choose_model(machine.result(), wishes, label), installed_library()


def _pocket_target() -> Path:
    if (found := pocket.pair()) is None:
        raise NoModel(
            "this copy of gemma-local was built without the small guide; gemma-local models get "
            "fetches a real model"
        )
    return found[0]


def _planned(
    machine: Machine,
    target: TargetFacts,
    drafter: DrafterFacts | None,
    wishes: Wishes,
    work: Work | None,
) -> tuple[SizePlan | None, str]:
    """How the pair runs on this machine, None where its header tells too little; and why with so
    many sequences."""
    if not target.anatomy.kv_layers:
        return None, ""
    if drafter is None:
        wishes = replace(wishes, draft=None, draft_max=None)
    candidate = candidate_of_files(target, drafter)
    bandwidth = known_bandwidth(machine, wishes)
    past = past_runs(machine, bandwidth)
    if work is None:
        return plan_one(machine, candidate, wishes, bandwidth=bandwidth, correction=past), ""
    from gemma_local.engine.plan.parallel import plan_parallel

    work = replace(work, context=min(work.context, candidate.context_limit))
    found = plan_parallel(machine, candidate, wishes, work, bandwidth=bandwidth, correction=past)
    return found.planned, found.why


def _load(
    target: TargetFacts, drafter: DrafterFacts | None, fitting: Fitting, *, all_layers: bool
) -> Load:
    settings = fitting.settings
    load = Load(
        # Absolute, because reports quote them and an engine may be restarted much later.
        target=str(target.path.absolute()),
        context=settings.context,
        sequences=settings.sequences,
        threads=settings.threads,
        gpu_layers=-1 if all_layers else settings.gpu_layers,
        cache_bytes=settings.cache_bytes,
        kv_type=settings.kv_type,
        device=settings.device,
        drafter_device=settings.drafter_device,
        lookup_max=settings.lookup_max,
    )
    if drafter is None or not settings.draft_max:
        return load
    return replace(
        load,
        drafter=str(drafter.path.absolute()),
        draft_max=settings.draft_max,
        draft_start=settings.draft,
    )


def _unplanned(
    options: PairOptions,
    target: TargetFacts,
    drafter: DrafterFacts | None,
    longest_draft: int | None,
) -> Load:
    """As the engine would have it."""
    is_used = drafter is not None and longest_draft != 0
    load = Load(
        target=str(target.path.absolute()),
        drafter=str(drafter.path.absolute()) if drafter is not None and is_used else None,
        context=options.ctx,
        threads=options.threads,
        gpu_layers=options.gpu_layers,
        kv_type=options.kv_type or "f16",
    )
    return load if longest_draft is None else replace(load, draft_max=longest_draft)


def _choose_drafter(
    options: PairOptions, target: TargetFacts, library: Library | None
) -> DrafterFacts | None:
    if options.drafter == "none":
        return None
    if options.drafter == "auto":
        found = find_drafter(target)
        if found is not None or library is None:
            return found
        entries = library.models()
        model = next((entry for entry in entries if entry.path == target.path), None)
        elsewhere = library.drafter_for(model, entries) if model is not None else None
        return inspect_drafter(elsewhere) if elsewhere is not None else None
    drafter = inspect_drafter(given_path(options.drafter))
    check_pair(target, drafter)
    return drafter


def _missing_drafter(target: TargetFacts, longest_draft: int | None) -> str:
    name = target.path.name
    if target.is_gemma4:
        return (
            f"no drafter for {name} lies beside it, so it answers without drafting; put its "
            "mtp-*.gguf file into the same folder to make it faster"
        )
    # For another model that goes without saying, unless drafting was asked for.
    return (
        f"{name} is no Gemma 4 and has no drafter, so nothing is drafted" if longest_draft else ""
    )


def show_loading(event: Loading) -> None:
    """Show on the progress line how far loading is."""
    progress.show(f"loading the {event.stage}: {event.fraction:.0%}")
