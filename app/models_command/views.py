"""Models as tables and as plain values."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gemma_local.app.terminal import printable, table
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.model_file import ModelFile
from gemma_local.models.target import TargetFacts


def models_table(entries: Sequence[ModelFile], drafters: Mapping[str, Path | None]) -> str:
    """A line for each model; ``drafters`` by name. Under it, what is wrong with unusable files."""
    rows = [
        (
            entry.name,
            _size(entry),
            entry.header.quantisation or "-",
            human_bytes(entry.header.bytes),
            entry.header.kind if entry.header.kind != "model" else _drafter(entry, drafters),
        )
        for entry in entries
    ]
    lines = table(("model", "size", "format", "bytes", "drafter"), rows).split("\n")
    width = max(map(len, lines))
    wheres = ["where", *(entry.where for entry in entries)]
    shown = [f"{line:{width}}  {where}" for line, where in zip(lines, wheres, strict=True)]
    shown += [f"{e.name}: {e.header.problem}" for e in entries if e.header.problem]
    return printable("\n".join(shown), sys.stdout)


def _size(entry: ModelFile) -> str:
    guest = entry.header.architecture if entry.header.kind == "model" else ""
    return entry.header.size_label or guest or "-"


def _drafter(entry: ModelFile, drafters: Mapping[str, Path | None]) -> str:
    if not entry.is_gemma4:
        return "-"
    return "yes" if drafters.get(entry.name) is not None else "missing"


def info_lines(
    entry: ModelFile, target: TargetFacts | None, drafter: Path | None, checksum: str | None
) -> str:
    """All about one model, a line for each fact."""
    header = entry.header
    facts: list[tuple[str, str]] = [
        ("name", entry.name),
        ("title", header.title),
        ("kind", header.kind),
        ("problem", header.problem),
        ("architecture", header.architecture),
        ("size", header.size_label),
        ("format", header.quantisation),
        ("bytes", f"{human_bytes(header.bytes)} ({header.bytes})"),
    ]
    if target is not None:
        facts += [
            ("parameters", f"{target.parameter_count / 1e9:.2f} billion"),
            ("context", f"{target.context_length} tokens"),
        ]
    if entry.is_gemma4:
        facts.append(("drafter", str(drafter) if drafter else "none; see models get"))
    facts += [("origin", f"{entry.origin}: {entry.where}")]
    facts += [("file", str(path)) for path in entry.paths]
    facts.append(("checksum", checksum or "not compared yet; see models verify"))
    lines = [f"{name:13}{value}" for name, value in facts if value]
    return printable("\n".join(lines), sys.stdout)


def plain(entry: ModelFile, drafter: Path | None = None) -> dict[str, object]:
    """A model for programs."""
    header = entry.header
    return {
        "name": entry.name,
        "kind": header.kind,
        "title": header.title,
        "architecture": header.architecture,
        "size": header.size_label,
        "format": header.quantisation,
        "bytes": header.bytes,
        "origin": entry.origin,
        "where": entry.where,
        "path": str(entry.path),
        "parts": [str(path) for path in entry.paths],
        "drafter": None if drafter is None else str(drafter),
        "problem": header.problem or None,
    }
