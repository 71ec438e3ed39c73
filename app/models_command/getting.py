"""``gemma-local models get``: a model with its drafter, from the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gemma_local.app.confirmation import confirm_files
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.models_command.choice import Choice, known_choice
from gemma_local.app.models_command.got import Got, checked
from gemma_local.app.models_command.options import GetOptions
from gemma_local.app.models_command.outlook import outlook
from gemma_local.app.models_command.progress_line import DownloadLine
from gemma_local.app.questions import confirmed, is_attended
from gemma_local.app.sessions.export_json import json_text
from gemma_local.app.terminal import note, progress
from gemma_local.models.architecture import GEMMA4_DRAFTER
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.pair import find_drafter
from gemma_local.models.store.errors import NotOnHub
from gemma_local.models.store.hub import Hub, pick
from gemma_local.models.store.library import Library
from gemma_local.models.store.model_file import PROJECTOR
from gemma_local.models.store.remote_drafter import find_remote_drafter, remote_architecture
from gemma_local.models.store.split import is_later_part
from gemma_local.models.store.store import Plan, Store
from gemma_local.models.store.wanted import Snapshot, Wanted
from gemma_local.models.target import inspect_target

ASK_FROM: Final = 1_000_000_000
"""Bytes from which a person is asked before they are fetched."""

LOOKS: Final = 8
"""Files whose headers are looked into to find out which one is meant; each costs a request."""


def get(options: GetOptions, library: Library) -> ExitCode:
    """Do it. Raises GemmaLocalError."""
    store = Store(Hub(offline=options.offline), library.cache, library.verified)
    choice = known_choice(options) or _on_hub(options, store)
    plan = store.plan(
        choice.wanted,
        update=options.update,
        known=choice.snapshots,
        on_bytes=_checking,
        on_trouble=note,
    )
    progress.clear()
    for remark in plan.remarks:
        note(remark)
    if plan.missing >= ASK_FROM and (sentence := _outlook(choice, plan, store)):
        note(sentence)
    if plan.missing >= ASK_FROM and is_attended() and not options.yes:
        if not confirmed(f"{_summary(plan, store)}. Go on?"):
            note("nothing was fetched")
            return ExitCode.OK
    elif plan.missing:
        note(_summary(plan, store))
    try:
        paths = store.carry_out(plan, DownloadLine())
    finally:
        progress.clear()
    got = checked(choice, paths)
    if got.remark:
        note(got.remark)
    if plan.missing >= ASK_FROM:
        _confirm(got)
    if options.json:
        print(json_text({k: None if v is None else str(v) for k, v in _plain(got).items()}))
    else:
        print(got.model)
    return ExitCode.OK


def _outlook(choice: Choice, plan: Plan, store: Store) -> str:
    """What the model would be like here, before gigabytes are fetched."""
    if len(choice.target) != 1:
        return ""
    remote = next((f.remote for f in plan.files if f.wanted == choice.target[0]), None)
    if remote is None:
        return ""
    progress.show("looking at the model's header ...")
    try:
        return outlook(store.hub, remote)
    finally:
        progress.clear()


def _confirm(got: Got) -> None:
    """Have llama.cpp say what it will allocate; the answer is kept for doctor."""
    progress.show("asking llama.cpp for the memory that it will need ...")
    try:
        drafter = inspect_drafter(got.drafter) if got.drafter is not None else None
        found = confirm_files(inspect_target(got.model), drafter)
    except GemmaLocalError:
        # A forecast less; the files are good.
        return
    finally:
        progress.clear()
    if found is not None:
        note(found.sentence())


def _on_hub(options: GetOptions, store: Store) -> Choice:
    """A choice among the files of a repository, for what the catalogue does not know."""
    repository, _, file = options.what.partition(":")
    if file:
        here = _here(Wanted(repository, file, options.revision), options, store)
        if here is not None:
            return here
    snapshot = store.hub.look_up(repository, options.revision, note)
    name = file or _only_model(snapshot, store.hub)
    target = pick(snapshot, Wanted(repository, name, options.revision))
    wanted = list(Wanted(repository, name, options.revision).parts)
    drafter = projector = None
    if (
        options.drafter
        and (found := find_remote_drafter(store.hub, snapshot, target, note)) is not None
    ):
        drafter = Wanted(repository, found.file, options.revision)
    if options.projector:
        projector = Wanted(repository, _projector(store.hub, snapshot), options.revision)
    return Choice(tuple(wanted), drafter, projector, (snapshot,))


def _here(wanted: Wanted, options: GetOptions, store: Store) -> Choice | None:
    """The choice without asking the hub, if the model is here with all that was asked for."""
    if options.update or options.projector:
        return None
    paths = [store.locate(part, _checking) for part in wanted.parts]
    progress.clear()
    if paths[0] is None or None in paths:
        return None
    beside = None
    if options.drafter and (target := inspect_target(paths[0])).is_gemma4:
        if (found := find_drafter(target)) is not None:
            snapshot = next(p for p in paths[0].parents if p.parent.name == "snapshots")
            name = found.path.relative_to(snapshot).as_posix()
            beside = Wanted(wanted.repository, name, snapshot.name)
        elif not store.hub.offline:
            return None
    return Choice(tuple(wanted.parts), beside, None)


def _only_model(snapshot: Snapshot, hub: Hub) -> str:
    """The one model of a repository, next to drafters and projectors, if there is only one."""
    names = sorted(
        name
        for name in snapshot.files
        if name.lower().endswith(".gguf") and not is_later_part(name)
    )
    if 1 < len(names) <= LOOKS:
        kinds = {name: remote_architecture(hub, snapshot.files[name], note) for name in names}
        names = [name for name in names if kinds[name] not in (GEMMA4_DRAFTER, PROJECTOR)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise NotOnHub(
            f"{snapshot.repository} has no GGUF file of a model; look for a repository whose name "
            "ends in -GGUF"
        )
    more = f", and {len(names) - 20} more" if len(names) > 20 else ""
    raise UsageError(
        f"{snapshot.repository} has {len(names)} models; say which: models get "
        f"{snapshot.repository}:FILE, where FILE is one of {', '.join(names[:20])}{more}"
    )


def _projector(hub: Hub, snapshot: Snapshot) -> str:
    """The smallest projector of a repository, told by its header."""
    candidates = [f for f in snapshot.files.values() if f.file.lower().endswith(".gguf")]
    # By their names first, which saves requests; a header decides.
    candidates.sort(key=lambda f: ("mmproj" not in f.file.lower(), f.bytes))
    for file in candidates[:LOOKS]:
        if remote_architecture(hub, file, note) == PROJECTOR:
            return file.file
    raise NotOnHub(f"{snapshot.repository} has no projector; leave --projector out")


def _summary(plan: Plan, store: Store) -> str:
    files = [file for file in plan.files if file.remote is not None]
    named = ", ".join(
        f"{file.wanted.file} ({human_bytes(file.missing)}{' more' if file.present else ''})"
        for file in files
    )
    repositories = " and ".join(dict.fromkeys(file.wanted.repository for file in files))
    return f"{human_bytes(plan.missing)} from {repositories} into {store.cache.folder}: {named}"


def _plain(got: Got) -> dict[str, Path | None]:
    return {"model": got.model, "drafter": got.drafter, "projector": got.projector}


def _checking(_: int) -> None:
    progress.show("comparing checksums of what is here ...")
