"""What doctor finds out. Each question may fail by itself; the others are still answered."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, TypeVar

import psutil

from gemma_local.app import folders
from gemma_local.app.agent.run.sandbox import Offer, offered
from gemma_local.app.confirmation import Confirmation, confirm
from gemma_local.app.doctor.troubles import Trouble, troubles_of
from gemma_local.app.model_choice import installed_library, survey
from gemma_local.app.settings import Settings
from gemma_local.app.settings_file import load_settings
from gemma_local.app.terminal import progress
from gemma_local.engine.hardware.bandwidth import Bandwidth, bandwidth, remembered
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.choice import Plan, threads_of
from gemma_local.engine.plan.history import History, Run, machine_key
from gemma_local.engine.plan.settings import Wishes
from gemma_local.models.store.model_file import ModelFile

Found = TypeVar("Found")

_LOOK: Final = 0.2
"""Seconds."""
_BUSY: Final = 30.0
"""Per cent of the processor that others may take."""


@dataclass(frozen=True, slots=True)
class Examination:
    """All of it; None and empty where it could not be found out. ``confirmation`` is of
    the installed model that would run. ``runs`` are those of this machine, the oldest first.
    ``sandbox`` is what confines the commands that a model runs."""

    versions: dict[str, str]
    machine: Machine
    bandwidth: Bandwidth | None
    models: tuple[ModelFile, ...]
    plan: Plan | None
    confirmation: Confirmation | None
    runs: tuple[Run, ...]
    sandbox: Offer
    troubles: tuple[Trouble, ...]

    @property
    def is_broken(self) -> bool:
        """Whether no model can run before something is mended."""
        return any(trouble.is_broken for trouble in self.troubles)

    def as_json(self) -> dict[str, Any]:
        """Plain values, for ``--json``."""
        return {
            "versions": self.versions,
            "machine": self.machine.as_json(),
            "bandwidth": asdict(self.bandwidth) if self.bandwidth is not None else None,
            "models": [
                {
                    "name": model.name,
                    "path": str(model.path),
                    **{name: getattr(model.header, name) for name in type(model.header).__slots__},
                }
                for model in self.models
            ],
            "plan": self.plan.as_json() if self.plan is not None else None,
            "confirmation": asdict(self.confirmation) if self.confirmation is not None else None,
            "runs": [asdict(run) for run in self.runs],
            "sandbox": {"means": self.sandbox.means, "gaps": self.sandbox.gaps},
            "troubles": [asdict(trouble) for trouble in self.troubles],
            "ok": not self.is_broken,
        }


def examine() -> Examination:
    """Look at this machine; never raises for what it finds."""
    failed: list[str] = []

    def attempt(subject: str, find: Callable[[], Found], otherwise: Found) -> Found:
        try:
            return find()
        except Exception as error:  # noqa: BLE001 - one question must not cost the others
            failed.append(f"{subject}: {' '.join(str(error).split()) or type(error).__name__}")
            return otherwise

    progress.show("looking at the machine")
    library = attempt("the models that are here", installed_library, None)
    machine = detect(store=library.folder if library is not None else None)
    progress.show("measuring the memory's speed")
    measured = attempt("the memory's speed", lambda: memory_speed(machine), None)
    progress.show("planning")
    models: Sequence[ModelFile] = ()
    if library is not None:
        models = attempt("the models that are here", library.models, [])
    planned = attempt("the plan", lambda: survey(machine, Wishes()), None)
    here = planned.installed if planned is not None else None
    confirmed = attempt("llama.cpp's own plan", lambda: confirm(here), None)
    key = machine_key(machine)
    nothing: list[Run] = []
    attempt("the settings", load_settings, Settings())
    runs = attempt("earlier runs", lambda: History(folders.history_path()).runs(), nothing)
    sandbox = attempt("what confines commands", offered, Offer())
    progress.clear()
    return Examination(
        versions=_versions(),
        machine=machine,
        bandwidth=measured,
        models=tuple(models),
        plan=planned,
        confirmation=confirmed,
        runs=tuple(run for run in runs if run.machine == key),
        sandbox=sandbox,
        troubles=troubles_of(machine, planned, models, failed),
    )


def memory_speed(machine: Machine) -> Bandwidth | None:
    """Measured once, and only while little else computes: it would be wrong for good. None if it
    is not known then."""
    threads, path = threads_of(machine, Wishes()), folders.bandwidth_path()
    known = remembered(machine, threads, path)
    if known is not None or psutil.cpu_percent(interval=_LOOK) > _BUSY:
        return known
    return bandwidth(machine, threads, path)


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("gemma-local", "llama-cpp-python"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
