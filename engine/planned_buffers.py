"""The buffers that llama.cpp plans for a pair, without loading it. A program: see `measure`.

``python -m gemma_local.engine.planned_buffers QUESTION`` prints the answer to a question of
`measure.question_of`, both JSON.

``no_alloc`` makes llama.cpp read the headers, build the graphs and plan every buffer, but allocate
none. It tells the sizes in its log, in MiB with two decimals. Weights are 0 there in this mode:
`models.footprint` has them from the header. llama.cpp's own ``--fit`` measures targets in the same
way, but no Gemma 4 drafter, because it does not tell it the target's context.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gemma_local.engine.measure import REFUSED, Buffers, Measured
from gemma_local.engine.runtime import library
from gemma_local.engine.runtime.context import Context, ContextOptions
from gemma_local.engine.runtime.library import C
from gemma_local.engine.runtime.model import Model
from gemma_local.engine.runtime.vocabulary import Vocabulary
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.errors import BadModelFile, GemmaLocalError
from gemma_local.models.footprint import DRAFTER_ROWS
from gemma_local.models.pair import check_pair
from gemma_local.models.target import inspect_target

_MIB: Final = 1 << 20
_COMPUTE: Final = re.compile(r"(\S+) compute buffer size =\s+([\d.]+) MiB")
_CACHE: Final = re.compile(r"llama_kv_cache: size =\s+([\d.]+) MiB \(\s*(\d+) cells")


class _WeightlessModel(Model):
    """A model of which llama.cpp knows everything but the weights."""

    def __init__(self, path: Path, gpu_layers: int) -> None:
        params = C.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        params.no_alloc = True
        # With the memory map on, llama.cpp asserts that it may allocate.
        params.load_mode = 0
        pointer = C.llama_model_load_from_file(os.fsencode(path), params)
        if not pointer:
            raise BadModelFile(
                f"llama.cpp cannot read {path}: {library.log.last_problem() or 'no reason given'}"
            )
        self.path = path
        self.pointer = pointer
        self.vocabulary = Vocabulary(C.llama_model_get_vocab(pointer))


def plan_buffers(question: Mapping[str, Any]) -> Measured:
    """Have llama.cpp plan the buffers in this process; files that do not fit may abort it.

    Raises:
        BadModelFile, BadPair, DecodeFailed: as for loading.
    """
    heard = io.StringIO()
    library.start(heard)
    target_facts = inspect_target(question["target"])
    target_path, drafter_path = target_facts.path, question["drafter"]
    if drafter_path is not None:
        check_pair(target_facts, inspect_drafter(drafter_path))
    options = ContextOptions(
        context=question["context"],
        sequences=question["sequences"],
        ubatch=question["ubatch"],
        rows=question["rows"],
        threads=1,
        kv_type=question["kv_type"],
    )
    layers = question["gpu_layers"]
    model = _WeightlessModel(target_path, layers)
    _take(heard)
    context = Context(model, options)
    target = _heard(_take(heard), shares_cache=False)
    drafter = None
    if drafter_path is not None:
        rows = options.sequences
        options = dataclasses.replace(options, ubatch=max(rows, DRAFTER_ROWS), rows=rows)
        other = _WeightlessModel(Path(drafter_path), layers)
        _take(heard)
        drafting = Context(other, options, context)
        drafter = _heard(_take(heard), shares_cache=True)
        drafting.close()
        other.close()
    context.close()
    model.close()
    return Measured(target, drafter)


def _take(heard: io.StringIO) -> str:
    text = heard.getvalue()
    heard.seek(0)
    heard.truncate()
    return text


def _heard(log: str, *, shares_cache: bool) -> Buffers:
    host = device = 0
    for name, mebibytes in _COMPUTE.findall(log):
        size = round(float(mebibytes) * _MIB)
        # Memory that a GPU's driver keeps for handing over, CUDA_Host and the like, is the host's.
        if name == "CPU" or name.endswith("_Host"):
            host += size
        else:
            device += size
    caches = () if shares_cache else _CACHE.findall(log)
    return Buffers(
        host, device, tuple((int(cells), round(float(size) * _MIB)) for size, cells in caches)
    )


def main() -> int:
    """Answer one question; under `REFUSED` with a sentence if that is not possible."""
    try:
        answer = dataclasses.asdict(plan_buffers(json.loads(sys.argv[1])))
    except GemmaLocalError as error:
        answer = {REFUSED: str(error)}
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
