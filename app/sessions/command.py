"""``gemma-local sessions``: find, show, export and delete what was said."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from gemma_local.app import folders
from gemma_local.app.counted import counted
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.questions import confirmed, is_attended
from gemma_local.app.sessions import repair as repairing
from gemma_local.app.sessions import rows
from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.errors import SessionsUnavailable
from gemma_local.app.sessions.export_json import as_json, json_text, read_json
from gemma_local.app.sessions.exporting import exported, format_of, write_export
from gemma_local.app.sessions.listing import hits_table, sessions_table
from gemma_local.app.sessions.options import (
    BranchOptions,
    ExportOptions,
    ImportOptions,
    ListOptions,
    RemoveOptions,
    RenameOptions,
    RepairOptions,
    SearchOptions,
    SessionsOptions,
    ShowOptions,
)
from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.sessions.titles import one_line
from gemma_local.app.sessions.transcript import write_transcript
from gemma_local.app.terminal import note, printable
from gemma_local.models.given_path import given_path


def run(options: SessionsOptions) -> ExitCode:
    """Do what is asked. Raises GemmaLocalError."""
    if isinstance(options, RepairOptions):
        return _repair(options)
    with SessionStore.open() as store:
        match options:
            case ListOptions():
                _list(store, options)
            case ShowOptions():
                _show(store, options)
            case SearchOptions():
                _search(store, options)
            case ExportOptions():
                _export(store, options)
            case ImportOptions():
                _import(store, options)
            case RemoveOptions():
                return _remove(store, options)
            case RenameOptions():
                info = store.find(options.session)
                print(f"{info.id}  {store.rename(info.id, ' '.join(options.title))}")
            case BranchOptions():
                info = store.find(options.session)
                with store.branch(info.id, options.at or None) as branch:
                    print(f"{branch.id}  {branch.info.title}")
    return ExitCode.OK


def remove_states(session: str) -> None:
    """Delete what is kept on disk of a session besides: what the engine has read, which could be
    read back to text, and what files held before the model changed them."""
    from gemma_local.engine import saved_states

    saved_states.remove(folders.state_path(), session)
    if session.isalnum():
        shutil.rmtree(folders.checkpoints_path() / session, ignore_errors=True)


def _list(store: SessionStore, options: ListOptions) -> None:
    sessions = store.list(None if options.all else Path.cwd(), options.limit or None)
    if options.json:
        print(json_text({"sessions": [_plain(info) for info in sessions]}))
    elif sessions:
        print(sessions_table(sessions, rows.now()))
    elif options.all:
        note("there are no sessions yet; every chat becomes one with its first message")
    else:
        note("no session was started in this folder; --all lists those of every folder")


def _show(store: SessionStore, options: ShowOptions) -> None:
    info, entries = _found(store, options.session)
    if options.json:
        print(as_json(info, entries))
    else:
        write_transcript(info, entries, rows.now(), thoughts=options.thoughts)


def _search(store: SessionStore, options: SearchOptions) -> None:
    folder = Path.cwd() if options.here else None
    hits = store.search(" ".join(options.words), folder, options.limit)
    if options.json:
        found = [
            {
                "session": hit.session.id,
                "title": hit.session.title,
                "number": hit.number or None,
                "role": hit.role or None,
                "snippet": hit.snippet,
            }
            for hit in hits
        ]
        print(json_text({"hits": found}))
    elif hits:
        print(hits_table(hits))
    else:
        note(f"no message has {one_line(' '.join(options.words))!r}; fewer words find more")


def _export(store: SessionStore, options: ExportOptions) -> None:
    info, entries = _found(store, options.session)
    out = None if options.out is None else given_path(options.out)
    text = exported(info, entries, options.format or format_of(out))
    if out is None:
        sys.stdout.write(printable(text, sys.stdout))
        return
    try:
        write_export(out, text, overwrite=options.force)
    except FileExistsError as error:
        raise UsageError(f"{out} exists; give --force to overwrite it") from error


def _import(store: SessionStore, options: ImportOptions) -> None:
    try:
        if options.file == "-":
            text = sys.stdin.buffer.read().decode("utf-8")
        else:
            text = given_path(options.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{options.file} cannot be read as text ({error}); give another"
        ) from error
    info = store.adopt(*read_json(text))
    print(f"{info.id}  {info.title}")


def _remove(store: SessionStore, options: RemoveOptions) -> ExitCode:
    if options.all:
        chosen = list(store.list())
        if options.older_than is not None:
            chosen = [i for i in chosen if i.updated < rows.now() - options.older_than]
    else:
        chosen = list({info.id: info for info in map(store.find, options.sessions)}.values())
    if not chosen:
        note("there is no such session; nothing was deleted")
        return ExitCode.OK
    if not options.yes and not _agreed(chosen):
        note("nothing was deleted")
        return ExitCode.OK
    in_use = [info for info in chosen if store.is_open(info.id)]
    free = [info.id for info in chosen if info not in in_use]
    store.delete(*free)
    for id_ in free:
        try:
            remove_states(id_)
        except OSError as error:
            raise SessionsUnavailable(
                f"session {id_} was deleted, but not what the model had read of it ({error}); "
                f"delete the folder {folders.state_path()}"
            ) from error
    if free:
        note(f"deleted {counted(len(free), 'session')}")
    if in_use:
        names = ", ".join(info.id for info in in_use)
        note(f"kept {names}: open in another gemma-local; close it there first")
        return ExitCode.FAILED
    return ExitCode.OK


def _agreed(chosen: Sequence[SessionInfo]) -> bool:
    """Ask the person, who must be there."""
    sessions = counted(len(chosen), "session")
    if not is_attended():
        raise UsageError(
            f"{sessions} would be deleted, and nobody can be asked; give --yes to do it"
        )
    print(sessions_table(chosen, rows.now()), file=sys.stderr)
    return confirmed(f"delete {sessions} for good?")


def _repair(options: RepairOptions) -> ExitCode:
    path = folders.sessions_path()
    if not path.exists():
        note("there are no sessions yet, so there is nothing to repair")
        return ExitCode.OK
    if repairing.is_sound(path):
        note(f"{path} is sound; the index of its search was made anew")
        return ExitCode.OK
    if not options.yes:
        if not is_attended():
            raise UsageError(f"{path} is damaged, and nobody can be asked; give --yes to repair it")
        if not confirmed(f"{path} is damaged. Save what can be read, and keep it beside?"):
            note("nothing was changed")
            return ExitCode.OK
    done = repairing.repair(path, rows.now())
    note(f"saved {done.entries} messages of {done.sessions} sessions")
    note(f"the damaged file is now {done.kept}")
    return ExitCode.OK


def _found(store: SessionStore, name: str) -> tuple[SessionInfo, Sequence[Entry]]:
    info = store.find(name)
    return info, store.entries(info.id)


def _plain(info: SessionInfo) -> dict[str, object]:
    return {
        "id": info.id,
        "title": info.title,
        "folder": str(info.folder),
        "model": info.model,
        "created": info.created.isoformat(),
        "updated": info.updated.isoformat(),
        "messages": info.messages,
        "parent": info.parent,
        "branch_point": info.branch_point,
    }
