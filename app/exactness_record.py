"""What ``gemma-local verify`` found, kept so that "exact" is said only where it was shown.

One JSON file: ``{"version": 1, "combinations": {KEY: {...}}}``. The key covers all that decides the
bits of the logits: the files, llama.cpp, the processor, the threads, the layers on a GPU, the mode.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gemma_local.app.file_replacing import replace_file
from gemma_local.engine.commands import BLOCK
from gemma_local.engine.messages import Done, Load, Ready, Sampling

MINIMUM_ROWS: Final = 500
"""Rows that must have been compared at a draft length before equality counts as shown: where
something differs at all, it has been one row in some hundreds."""

_VERSION: Final = 1
_SAMPLE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Combination:
    """Everything that the bits of the logits depend on."""

    target: str
    drafter: str
    llama: str
    backend: str
    threads: int
    gpu_layers: int
    kv_type: str
    exact_mode: bool

    @classmethod
    def of(cls, ready: Ready, load: Load, *, exact_mode: bool) -> Combination:
        """The combination of a loaded pair and a mode. Reads a little of both files."""
        return cls(
            target=fingerprint(Path(ready.target)),
            drafter=fingerprint(Path(ready.drafter)) if ready.drafter else "",
            llama=_llama_version(),
            backend=ready.backend,
            threads=ready.threads,
            gpu_layers=load.gpu_layers,
            kv_type=ready.kv_type,
            exact_mode=exact_mode,
        )

    @property
    def key(self) -> str:
        """A short name for the record."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Finding:
    """What comparing showed at one draft length."""

    draft: int
    rows: int
    differing_rows: int
    equal_texts: bool

    @property
    def is_proof(self) -> bool:
        """Nothing differed, and enough was looked at."""
        return self.rows >= MINIMUM_ROWS and self.differing_rows == 0 and self.equal_texts


class ExactnessRecord:
    """The findings on this machine. A record that cannot be read counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def proven_lengths(self, combination: Combination) -> frozenset[int]:
        """Draft lengths at which the combination passed. One failure takes all of them back."""
        entry = self._read().get(combination.key, {})
        try:
            findings = [Finding(**found) for found in entry["findings"]]
        except (KeyError, TypeError):
            return frozenset()
        if any(found.differing_rows or not found.equal_texts for found in findings):
            return frozenset()
        return frozenset(found.draft for found in findings if found.is_proof)

    def keep(self, combination: Combination, findings: list[Finding]) -> None:
        """Replace what was known about a combination. Raises OSError."""
        combinations = self._read()
        combinations[combination.key] = {
            **asdict(combination),
            "findings": [asdict(found) for found in findings],
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        content = json.dumps({"version": _VERSION, "combinations": combinations}, indent=1)
        # A full disk must not cost the old record.
        replace_file(self._path, content.encode())

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            combinations = content["combinations"] if content["version"] == _VERSION else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return combinations if isinstance(combinations, dict) else {}


def deserves_label(
    record: ExactnessRecord, ready: Ready, load: Load, sampling: Sampling, done: Done
) -> bool:
    """Whether an answer may be called exact: exact mode, no lenience, and a passed comparison of
    this combination in passes of every shape that the answer's can have had. Passes are filled up
    to blocks, so all lengths of as many blocks have the same."""
    if not done.exact or sampling.lenience > 0:
        return False
    try:
        combination = Combination.of(ready, load, exact_mode=True)
    except OSError:
        # The files are gone, or on a disk that is.
        return False
    proven = record.proven_lengths(combination)
    longest = len(done.tally.drafted_by_position)
    shapes = {length // BLOCK for length in proven}
    return all(blocks in shapes for blocks in range(longest // BLOCK + 1))


def fingerprint(path: Path) -> str:
    """Tells model files apart without reading gigabytes: their size, beginning and end."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        digest.update(size.to_bytes(8, "little"))
        file.seek(0)
        digest.update(file.read(_SAMPLE))
        file.seek(max(0, size - _SAMPLE))
        digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


def _llama_version() -> str:
    # Here: it costs a noticeable part of the start, and only exact mode needs it.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("llama-cpp-python")
    except PackageNotFoundError:
        return ""
