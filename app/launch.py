"""From options to a running engine: which files, whether they fit, and how they are loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gemma_local.app import folders
from gemma_local.app.errors import NoModel, UsageError
from gemma_local.app.options import PairOptions
from gemma_local.app.terminal import note, progress
from gemma_local.engine.client import Engine, EngineDied, EngineFailed
from gemma_local.engine.messages import Load, Loading, Ready
from gemma_local.engine.threads import usable_cpus
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.errors import BadModelFile
from gemma_local.models.pair import check_pair, find_drafter
from gemma_local.models.target import TargetFacts, inspect_target

MODEL_VARIABLE: Final = "GEMMA_LOCAL_MODEL"

OnLoading = Callable[[Loading], None]


@dataclass(frozen=True, slots=True)
class Launch:
    """A pair that was checked and can be loaded."""

    target: TargetFacts
    load: Load
    remark: str = ""
    """Something that the person should know before it is used."""

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
        engine = Engine(folders.log_path())
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


def prepare(options: PairOptions, *, longest_draft: int | None) -> Launch:
    """Choose and check the files.

    ``longest_draft`` is the longest draft that will be asked for, None for the engine's choice, 0
    for none: then a drafter is checked if one was named, but not loaded.

    Raises:
        NoModel, BadModelFile, BadPair, UsageError: with what to do.
    """
    cpus = usable_cpus()
    if options.threads > cpus:
        raise UsageError(
            f"--threads: give a number up to {cpus}, the CPUs that this process may use; more "
            f"threads than CPUs make every token slower, and {options.threads} is more"
        )
    name = options.model or os.environ.get(MODEL_VARIABLE)
    if not name:
        raise NoModel
    target = inspect_target(Path(name).expanduser())
    drafter = _choose_drafter(options, target)
    is_used = longest_draft != 0
    load = Load(
        # Absolute, because reports quote them and an engine may be restarted much later.
        target=str(target.path.absolute()),
        drafter=str(drafter.absolute()) if drafter is not None and is_used else None,
        context=options.ctx,
        threads=options.threads,
        gpu_layers=options.gpu_layers,
    )
    if longest_draft is not None:
        load = replace(load, draft_max=longest_draft)
    is_missed = is_used and drafter is None and options.drafter == "auto"
    return Launch(target, load, _missing_drafter(target, longest_draft) if is_missed else "")


def _choose_drafter(options: PairOptions, target: TargetFacts) -> Path | None:
    if options.drafter == "none":
        return None
    if options.drafter == "auto":
        found = find_drafter(target)
        return found.path if found is not None else None
    drafter = inspect_drafter(Path(options.drafter).expanduser())
    check_pair(target, drafter)
    return drafter.path


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
