"""What was measured before: it corrects the next forecast.

A file of JSON, one run a line, so that several programs may append and a torn line costs one run.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.candidate import Candidate
from gemma_local.engine.plan.forecast import Correction

_KEPT: Final = 400
"""Runs that are kept; twice as many are cut down to that."""
_RECENT: Final = 9
"""Runs of a kind that count: the machine may have changed."""
_LONGEST: Final = 1 << 20
_BOUNDS: Final = (0.1, 10.0)
"""A correction beyond these means that something else was wrong."""
_SMALLER: Final = 8
"""How many times smaller a model may be whose runs say something about another."""


@dataclass(frozen=True, slots=True)
class Run:
    """One answer or bench. Speeds are tokens a second, None: not measured; ``forecast_*`` are those
    before any correction. ``at`` is seconds since 1970, ``peak_bytes`` of the engine's process."""

    at: float
    machine: str
    label: str
    is_mixture: bool
    quantisation: str
    context: int
    gpu_layers: int
    threads: int
    draft: int
    forecast_plain: float
    forecast_drafted: float | None
    forecast_prefill: float
    has_bandwidth: bool
    """Whether the forecasts knew the memory's bandwidth."""
    plain: float | None = None
    drafted: float | None = None
    prefill: float | None = None
    load_seconds: float | None = None
    peak_bytes: int | None = None
    bytes: int = 0
    """Of the files."""


class History:
    """The runs in a file. One that cannot be read counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, run: Run) -> None:
        """Add a run. Raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(asdict(run)) + "\n"
        with self._path.open("a+b") as file:
            # The end of a line that a crash or a full disk cut off.
            if file.tell() and not self._ends_a_line(file):
                line = "\n" + line
            file.write(line.encode())
            length = file.tell()
        if length > _LONGEST // 2 and len(runs := self.runs()) > 2 * _KEPT:
            shorter = self._path.with_suffix(".new")
            shorter.write_text("".join(json.dumps(asdict(r)) + "\n" for r in runs[-_KEPT:]))
            shorter.replace(self._path)

    @staticmethod
    def _ends_a_line(file: Any) -> bool:
        file.seek(-1, 2)
        return bool(file.read(1) == b"\n")

    def runs(self) -> list[Run]:
        """All runs that can be read, the oldest first."""
        try:
            with self._path.open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - _LONGEST))
                lines = file.read().splitlines()
        except OSError:
            return []
        return [run for line in lines if (run := _run(line)) is not None]


def _run(line: bytes) -> Run | None:
    try:
        plain = json.loads(line)
        # Older runs do not have the size.
        plain = {"bytes": 0, **plain}
        run = Run(**{item.name: plain[item.name] for item in fields(Run)})
        numbers = (run.forecast_plain, run.forecast_prefill, run.at, run.threads, run.bytes)
        speeds = (run.forecast_drafted, run.plain, run.drafted, run.prefill)
        is_sound = all(isinstance(n, (int, float)) for n in numbers) and all(
            isinstance(n, (int, float)) for n in speeds if n is not None
        )
        return run if is_sound else None
    except (ValueError, KeyError, TypeError):
        return None


def machine_key(machine: Machine) -> str:
    """Stands for what speed depends on: processor, cores, accelerators."""
    parts = [
        machine.cpu.name or machine.cpu.architecture,
        str(machine.cpu.usable_cores),
        *(f"{a.kind} {a.name}" for a in machine.accelerators),
    ]
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]


def corrections(
    runs: Sequence[Run], machine: Machine, *, has_bandwidth: bool
) -> Callable[[Candidate], Correction]:
    """What ``runs`` of this machine say: those of the same size; without any, those of the same
    class, dense or mixture of experts; without any, all, so that what was measured is not judged
    more strictly than what was not. Only runs count whose forecasts were made in the same way, with
    the bandwidth known or not, and of other sizes none that are much smaller: what keeps a model of
    megabytes from being as fast as the memory has nothing to do with one of gigabytes."""
    key = machine_key(machine)
    here = [run for run in runs if run.machine == key and run.has_bandwidth is has_bandwidth]

    def of(candidate: Candidate) -> Correction:
        same = [run for run in here if run.label == candidate.label]
        near = [run for run in here if run.bytes * _SMALLER >= candidate.bytes]
        alike = [run for run in near if run.is_mixture == bool(candidate.experts)]
        found = (same or alike or near)[-_RECENT:]
        if not found:
            return Correction()
        plain = _ratio([(run.plain, run.forecast_plain) for run in found])
        drafted = _ratio([(run.drafted, run.forecast_drafted) for run in found])
        prefill = _ratio([(run.prefill, run.forecast_prefill) for run in found])
        # Whichever was measured tells of the other too: both read the same weights.
        return Correction(
            plain=plain or drafted or 1.0,
            drafted=drafted or plain or 1.0,
            prefill=prefill or 1.0,
            runs=len(found),
        )

    return of


def _ratio(pairs: Sequence[tuple[float | None, float | None]]) -> float | None:
    ratios = [measured / expected for measured, expected in pairs if measured and expected]
    if not ratios:
        return None
    return min(max(statistics.median(ratios), _BOUNDS[0]), _BOUNDS[1])
