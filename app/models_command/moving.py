"""``gemma-local models export`` and ``import``: models on a medium."""

from __future__ import annotations

from pathlib import Path

from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.models_command.options import ExportOptions, ImportOptions
from gemma_local.app.models_command.progress_line import CountLine
from gemma_local.app.models_command.views import plain
from gemma_local.app.sessions.export_json import json_text
from gemma_local.app.terminal import note, progress
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.given_path import given_path
from gemma_local.models.store.library import Library
from gemma_local.models.store.transfer import export_models, import_models, read_export


def run(options: ExportOptions | ImportOptions, library: Library) -> ExitCode:
    """Do what is asked. Raises GemmaLocalError."""
    if isinstance(options, ExportOptions):
        return _export(options, library)
    return _import(options, library)


def _export(options: ExportOptions, library: Library) -> ExitCode:
    entries = library.models()
    sources: dict[Path, str] = {}
    for name in options.models:
        entry = library.find(name)
        sources |= dict.fromkeys(entry.paths, entry.name)
        drafter = library.drafter_for(entry, entries) if options.drafter else None
        if drafter is not None:
            sources[drafter] = entry.name
    folder = given_path(options.folder)
    size = sum(path.stat().st_size for path in sources)
    counter = CountLine(f"copying to {folder}", size)
    done = export_models([(name, path) for path, name in sources.items()], folder, counter)
    progress.clear()
    if options.json:
        files = [{"file": f.file, "bytes": f.bytes, "sha256": f.sha256} for f in done]
        print(json_text({"folder": str(folder), "files": files}))
    else:
        for file in done:
            print(f"{file.file} ({human_bytes(file.bytes)})")
        note(f"on the other machine: gemma-local models import {folder}")
    return ExitCode.OK


def _import(options: ImportOptions, library: Library) -> ExitCode:
    folder = given_path(options.folder)
    counter = CountLine(f"copying from {folder}", sum(f.bytes for f in read_export(folder)))
    paths = {path.resolve() for path in
             import_models(folder, library.files, library.verified, counter)}  # fmt: skip
    progress.clear()
    entries = library.models()
    new = [entry for entry in entries if entry.path.resolve() in paths]
    if options.json:
        found = [plain(entry, library.drafter_for(entry, entries)) for entry in new]
        print(json_text({"models": found}))
    else:
        for entry in new:
            print(entry.name)
    return ExitCode.OK
