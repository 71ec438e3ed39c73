"""``gemma-local models``: what there is, what is added, deleted and checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.models_command.options import (
    AddOptions,
    ExportOptions,
    GetOptions,
    ImportOptions,
    InfoOptions,
    ListOptions,
    ModelsOptions,
    RemoveOptions,
    ScanOptions,
    VerifyOptions,
)
from gemma_local.app.models_command.progress_line import CountLine
from gemma_local.app.models_command.views import info_lines, models_table, plain
from gemma_local.app.questions import confirmed, is_attended
from gemma_local.app.sessions.export_json import json_text
from gemma_local.app.terminal import note, progress, table
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.given_path import given_path
from gemma_local.models.store.errors import NoSuchModel
from gemma_local.models.store.library import Library
from gemma_local.models.store.model_file import ModelFile
from gemma_local.models.store.scan import Found, scan
from gemma_local.models.target import inspect_target


def run(options: ModelsOptions) -> ExitCode:
    """Do what is asked. Raises GemmaLocalError."""
    library = Library()
    try:
        match options:
            case ListOptions():
                return _list(options, library)
            case InfoOptions():
                return _info(options, library)
            case GetOptions():
                # Here, as the next: no other command needs them.
                from gemma_local.app.models_command.getting import get

                return get(options, library)
            case AddOptions():
                return _add(options, library)
            case RemoveOptions():
                return _remove(options, library)
            case VerifyOptions():
                return _verify(options, library)
            case ExportOptions() | ImportOptions():
                from gemma_local.app.models_command import moving

                return moving.run(options, library)
            case ScanOptions():
                return _scan(options, library)
    except NoSuchModel as error:
        raise UsageError(str(error)) from error
    finally:
        progress.clear()


def _list(options: ListOptions, library: Library) -> ExitCode:
    entries = library.models()
    drafters = library.drafters(entries, entries)
    unfinished = sum(map(_size, library.cache.unfinished()))
    if options.json:
        models = [plain(entry, drafters[entry.name]) for entry in entries]
        print(json_text({"models": models, "unfinished_bytes": unfinished}))
        return ExitCode.OK
    if entries:
        print(models_table(entries, drafters))
    else:
        note(
            "there are no models yet. `gemma-local models get E2B` downloads one, `models add "
            "FILE` takes one in that is here, and `models scan` looks for those of other programs."
        )
    if unfinished:
        note(
            f"{human_bytes(unfinished)} of unfinished downloads are kept: `models get` goes on "
            "with them, `models rm --unfinished` deletes them"
        )
    return ExitCode.OK


def _info(options: InfoOptions, library: Library) -> ExitCode:
    entry = library.find(options.model)
    drafter = library.drafter_for(entry, library.models())
    if options.json:
        print(json_text(plain(entry, drafter)))
        return ExitCode.OK
    target = inspect_target(entry.path) if entry.header.kind == "model" else None
    checksum = library.verified.get(entry.path)
    print(info_lines(entry, target, drafter, str(checksum) if checksum else None))
    return ExitCode.OK


def _add(options: AddOptions, library: Library) -> ExitCode:
    added = []
    for file in options.files:
        path = given_path(file)
        counter = CountLine(f"copying {path.name}", _size(path))
        added.append(library.add(path, copy=options.copy, on_bytes=counter))
    progress.clear()
    _show_added(added, as_json=options.json)
    return ExitCode.OK


def _show_added(added: Sequence[ModelFile], *, as_json: bool) -> None:
    if as_json:
        print(json_text({"models": [plain(entry) for entry in added]}))
        return
    for entry in added:
        print(entry.name)


def _remove(options: RemoveOptions, library: Library) -> ExitCode:
    chosen = list({entry.path: entry for entry in map(library.find, options.models)}.values())
    deleted = [entry for entry in chosen if entry.origin != "added"]
    unfinished = library.cache.unfinished() if options.unfinished else []
    if (deleted or unfinished) and not options.yes:
        sizes = [*(entry.header.bytes for entry in deleted), *map(_size, unfinished)]
        size = human_bytes(sum(sizes))
        what = ["unfinished downloads"] if unfinished else []
        names = ", ".join([*(entry.name for entry in deleted), *what])
        if not is_attended():
            raise UsageError(f"{names} would be deleted, and nobody can be asked; give --yes")
        shared = any(entry.origin == "hub" for entry in deleted)
        others = ", which other programs may use, too" if shared else ""
        if not confirmed(f"delete {names} ({size}{others}) from the disk?"):
            note("nothing was deleted")
            return ExitCode.OK
    for entry in chosen:
        freed = library.remove(entry)
        if entry.origin == "added":
            note(f"forgot {entry.name}; the file {entry.path} stays where it is")
        else:
            note(f"deleted {entry.name}, which frees {human_bytes(freed)}")
    if options.unfinished:
        note(f"deleted {human_bytes(sum(map(_size, unfinished)))} of unfinished downloads")
        for path in unfinished:
            path.unlink(missing_ok=True)
    return ExitCode.OK


def _verify(options: VerifyOptions, library: Library) -> ExitCode:
    from gemma_local.app.models_command.choice import known_checksums
    from gemma_local.models.store.verify import verify

    entries = [library.find(name) for name in options.models] or [
        entry for entry in library.models() if entry.header.kind != "unusable"
    ]
    known = known_checksums()
    results = []
    for entry in entries:
        counter = CountLine(f"reading {entry.name}", entry.header.bytes)
        for result in verify(entry, library.verified, known, counter):
            results.append((entry, result))
            progress.clear()
            if not options.json:
                said = {
                    "good": f"is whole (as {result.against} has it)",
                    "changed": f"WAS CHANGED: {result.checksum[:12]}… in place of "
                    f"{result.expected[:12]}… ({result.against}); get or copy it anew",
                    "recorded": f"has no checksum to compare with; noted {result.checksum[:12]}…",
                }
                print(f"{result.path.name} {said[result.verdict]}")
    if options.json:
        found = [
            {
                "name": entry.name,
                "path": str(result.path),
                "verdict": result.verdict,
                "checksum": result.checksum,
                "expected": result.expected or None,
                "against": result.against or None,
            }
            for entry, result in results
        ]
        print(json_text({"files": found}))
    elif not results:
        note("there is no model to verify")
    bad = any(result.verdict == "changed" for _, result in results)
    return ExitCode.FAILED if bad else ExitCode.OK


def _scan(options: ScanOptions, library: Library) -> ExitCode:
    known = {entry.path.resolve() for entry in library.models()}
    found = [f for f in scan(Path.home(), os.environ) if f.path.resolve() not in known]
    added, problems = _add_found(found, library) if options.add else ([], [])
    if options.json:
        rows = [{"name": f.name, "program": f.program, "path": str(f.path)} for f in found]
        print(json_text({"found": rows, "added": [plain(entry) for entry in added]}))
        return ExitCode.OK
    if not found:
        note("LM Studio, Ollama and llama.cpp have no GGUF file here that is not listed already")
    elif options.add:
        for problem in problems:
            note(problem)
        _show_added(added, as_json=False)
    else:
        rows_ = [(f.name, f.program, human_bytes(_size(f.path))) for f in found]
        print(table(("file", "program", "bytes"), rows_))
        note("`gemma-local models scan --add` adds them; they stay where they are")
    return ExitCode.OK


def _add_found(found: Sequence[Found], library: Library) -> tuple[list[ModelFile], list[str]]:
    added, problems = [], []
    for file in found:
        try:
            added.append(library.add(file.path, name=file.name))
        except GemmaLocalError as error:
            problems.append(f"{file.name} of {file.program} was left out: {error}")
    return added, problems


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
