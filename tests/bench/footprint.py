"""How near the predicted footprint comes to what a process really takes, part by part.

``python -m tests.bench.footprint TARGET DRAFTER --context 2048 8192 --kv f16 q8_0``

Each row is a fresh process that loads the pair as the engine does, prefills one slice, drafts and
verifies, and reads its own pages in between (``/proc/self/smaps_rollup``, so Linux only):
anonymous ones are what it allocated, the others are the model files. All of a file's mapped bytes
count as measured, those of the parts called spare included. The pages of the compute buffer that a
short prompt does not touch (the mask of a long context) are not seen by this.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import re
from dataclasses import dataclass, replace
from pathlib import Path

from gemma_local.engine.runtime import library
from gemma_local.engine.runtime.context import Context, ContextOptions
from gemma_local.engine.runtime.model import Model
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.footprint import DRAFTER_ROWS, KV_NUMBER, Footprint, Use, footprint
from gemma_local.models.rearrangement import rearranged_formats
from gemma_local.models.target import inspect_target

MIB = 1 << 20
STAGES = {
    "target": ("weights", "tokenizer", "per-layer table"),
    "caches": ("full cache", "sliding cache", "bookkeeping"),
    "drafter": ("drafter weights", "drafter tokenizer", "drafter bookkeeping"),
    "computing": (
        "output",
        "compute",
        "scratch",
        "drafter output",
        "drafter compute",
        "drafter scratch",
    ),
}
"""Stages of loading in their order, and the parts of a footprint that each one brings."""


@dataclass(frozen=True)
class Pages:
    """Bytes of this process in memory."""

    anonymous: int
    file: int

    def __sub__(self, other: Pages) -> Pages:
        return Pages(self.anonymous - other.anonymous, self.file - other.file)


def pages() -> Pages:
    """Now, with what malloc holds back given to the system first."""
    ctypes.CDLL(None).malloc_trim(0)
    text = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")

    def kibibytes(key: str) -> int:
        found = re.search(rf"^{key}:\s+(\d+) kB", text, re.MULTILINE)
        return int(found[1]) << 10 if found else 0

    resident, anonymous = kibibytes("Rss"), kibibytes("Anonymous")
    return Pages(anonymous, resident - anonymous)


def grow(target: Path, drafter: Path, use: Use) -> dict[str, Pages]:
    """Load and use a pair in this process; by how much it grew in each stage."""
    library.start(None)
    marks = [pages()]
    model = Model(target, gpu_layers=use.gpu_layers)
    marks.append(pages())
    options = ContextOptions(
        use.context, use.sequences, use.ubatch, use.rows, use.threads, use.kv_type
    )
    context = Context(model, options)
    marks.append(pages())
    other = Model(drafter, gpu_layers=use.gpu_layers)
    rows = use.sequences
    options = replace(options, ubatch=max(rows, DRAFTER_ROWS), rows=rows)
    drafting = Context(other, options, context)
    marks.append(pages())
    context.enable_nextn(masked=False)
    drafting.enable_nextn(masked=True)
    slice_ = min(use.ubatch, use.context // 2)
    context.decode([5] * slice_, list(range(slice_)), [0] * slice_, [0] * (slice_ - 1) + [1])
    drafting.activations[:1] = 0
    drafting.decode([5], [slice_], [0], [1])
    verify = list(range(slice_, slice_ + use.rows))
    context.decode([5] * use.rows, verify, [0] * use.rows, [1] * use.rows)
    marks.append(pages())
    return {
        stage: after - before
        for stage, before, after in zip(STAGES, marks[:-1], marks[1:], strict=True)
    }


def predicted(forecast: Footprint) -> dict[str, Pages]:
    """A footprint by stage."""

    def sum_of(names: tuple[str, ...], *where: str) -> int:
        return sum(p.bytes for p in forecast.parts if p.name in names and p.where in where)

    return {
        stage: Pages(sum_of(names, "memory"), sum_of(names, "mapped", "spare"))
        for stage, names in STAGES.items()
    }


def table(target: Path, drafter: Path, uses: list[Use]) -> None:
    """Print what was predicted, what was measured, and the error."""
    facts, other = inspect_target(target), inspect_drafter(drafter)
    print(f"{facts.name}, MiB predicted / measured (error)")
    for use in uses:
        print(f"context {use.context}, {use.kv_type}, slices of {use.ubatch}, {use.rows} rows")
        forecast = predicted(footprint(facts, other, use))
        # A fresh interpreter: forked memory would be shared with this process.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(grow, (target, drafter, use))
        everything = [(0, 0), (0, 0)]
        for stage in STAGES:
            pairs = [
                (forecast[stage].anonymous, found[stage].anonymous),
                (forecast[stage].file, found[stage].file),
            ]
            everything = [(a + c, b + d) for (a, b), (c, d) in zip(everything, pairs, strict=True)]
            _line(stage, pairs)
        _line("sum", everything)
        _line("all", [(sum(a for a, _ in everything), sum(b for _, b in everything))])


def _line(name: str, pairs: list[tuple[int, int]]) -> None:
    cells = []
    for kind, (guess, real) in zip(("memory", "file"), pairs, strict=False):
        error = f" ({guess / real - 1:+.1%})" if max(guess, real) > MIB and real else ""
        cells.append(f"{kind} {guess / MIB:8.1f} / {real / MIB:8.1f}{error:10}")
    print(f"  {name:10} {'   '.join(cells)}", flush=True)


def main() -> None:
    """Compare for every combination of the lengths and cache types that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.footprint", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("target", type=Path)
    parser.add_argument("drafter", type=Path)
    parser.add_argument("--context", type=int, nargs="+", default=[2048, 8192])
    parser.add_argument("--kv", choices=KV_NUMBER, nargs="+", default=["f16"])
    parser.add_argument("--ubatch", type=int, default=512)
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    library.start(None)
    formats = rearranged_formats(library.system_info())
    uses = [
        Use(
            context,
            kv_type=kv,
            ubatch=options.ubatch,
            rows=options.rows,
            threads=options.threads,
            rearranged=formats,
        )
        for context in options.context
        for kv in options.kv
    ]
    table(options.target, options.drafter, uses)


if __name__ == "__main__":
    main()
